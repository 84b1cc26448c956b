//! How long the lists of a server hold.

use std::time::Duration;

use mcpr_protocol::Object;
use mcpr_registry::Kind;
use tokio::time::Instant;

/// How long a list holds of a server of the session era that announces changes: what a client
/// without a stream of notices misses at most.
const ANNOUNCED: Duration = Duration::from_secs(30);

/// How long a list holds, and whether callers may share it (2026-07-28, caching).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freshness {
    /// At most so long from whenever it is handed out.
    most: Duration,
    /// Not beyond this moment.
    until: Option<Instant>,
    /// Whether the answer to one caller may be given to another.
    pub public: bool,
}

/// The freshness of each kind of list; none of what the server does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fresh([Option<Freshness>; 4]);

impl Freshness {
    /// A list that may have changed since, such as one of an earlier run.
    pub const STALE: Self = Self {
        most: Duration::ZERO,
        until: None,
        public: false,
    };

    /// A list whose changes are announced; mcpr's own are such.
    pub const ANNOUNCED: Self = Self {
        most: ANNOUNCED,
        ..Self::STALE
    };

    /// What a stateless server says in one page of a list; without a word it is stale at once.
    pub(crate) fn read(page: &Object, read_at: Instant) -> Self {
        let millis = page.get("ttlMs").and_then(|ttl| ttl.as_str().parse::<f64>().ok());
        // The cast ends at the bounds of the type.
        let most = Duration::from_millis(millis.unwrap_or_default() as u64);
        Self {
            most,
            until: read_at.checked_add(most),
            public: page.text("cacheScope").as_deref() == Some("public"),
        }
    }

    /// What holds for two lists together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            most: self.most.min(other.most),
            until: [self.until, other.until].into_iter().flatten().min(),
            public: self.public && other.public,
        }
    }

    /// How long it holds from now on.
    pub fn remaining(self, now: Instant) -> Duration {
        let left = self.until.map(|until| until.saturating_duration_since(now));
        left.map_or(self.most, |left| left.min(self.most))
    }

    /// Whether the time that the server gave it is over.
    pub fn has_expired(self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl Fresh {
    /// Of lists that were read in an earlier run.
    pub(crate) const STALE: Self = Self([Some(Freshness::STALE); 4]);

    /// The freshness of one list; `None` where the server has none of that kind.
    pub fn of(&self, kind: Kind) -> Option<Freshness> {
        self.0[kind as usize]
    }

    /// What holds for the lists of two backends together.
    pub(crate) fn and(self, other: &Self) -> Self {
        let both = |index: usize| match (self.0[index], other.0[index]) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        Self(std::array::from_fn(both))
    }

    pub(crate) fn set(&mut self, kind: Kind, freshness: Option<Freshness>) {
        self.0[kind as usize] = freshness;
    }
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::RawJson;

    use super::*;

    fn read(text: &'static str, at: Instant) -> Freshness {
        Freshness::read(&Object::read(&RawJson::from_static(text)).unwrap(), at)
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_holds_for_the_rest_of_its_time() {
        let now = Instant::now();
        let list = read(r#"{"ttlMs":60000,"cacheScope":"public"}"#, now);
        let later = now + Duration::from_secs(45);
        assert_eq!(list.remaining(later), Duration::from_secs(15));
        assert!(list.public && !list.has_expired(later));
        assert!(list.has_expired(now + Duration::from_secs(60)));
        assert_eq!(list.remaining(now + Duration::from_secs(90)), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_sensible_word_a_list_is_stale_and_private() {
        let now = Instant::now();
        for text in [
            "{}",
            r#"{"ttlMs":-5}"#,
            r#"{"ttlMs":"x","cacheScope":"shared"}"#,
            r#"{"ttlMs":null}"#,
        ] {
            let list = read(text, now);
            assert_eq!(
                (list.remaining(now), list.public),
                (Duration::ZERO, false),
                "{text}"
            );
        }
        let endless = read(r#"{"ttlMs":1e300}"#, now);
        assert!(endless.remaining(now) > Duration::from_secs(1 << 40) && !endless.has_expired(now));
    }

    #[tokio::test(start_paused = true)]
    async fn together_the_least_holds() {
        let now = Instant::now();
        let long = read(r#"{"ttlMs":3600000,"cacheScope":"public"}"#, now);
        let short = read(r#"{"ttlMs":1000,"cacheScope":"public"}"#, now);
        assert_eq!(long.and(short).remaining(now), Duration::from_secs(1));
        assert!(long.and(short).public);
        let both = long.and(Freshness::ANNOUNCED);
        assert_eq!(both.remaining(now), ANNOUNCED);
        assert!(!both.public);
        assert_eq!(Freshness::STALE.and(long).remaining(now), Duration::ZERO);
    }
}
