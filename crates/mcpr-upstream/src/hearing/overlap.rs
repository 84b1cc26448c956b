//! How one stream gives way to another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::Notification;
use serde_json::json;
use tokio::time::Instant;

use super::Hearer;
use super::stream::Stream;

/// How long the old stream is heard beside the new one: what was said on it before the server took
/// note of the new one may still be on its way.
const OVERLAP: Duration = Duration::from_millis(50);

/// How long what is heard is kept back for a server that has not taken note of the new stream yet.
const PATIENCE: Duration = Duration::from_millis(100);

/// How much is kept back.
const KEPT: usize = 256;

/// What a stream is about.
pub(super) type Names = BTreeSet<Arc<str>>;

/// A stream that the server was asked for.
pub(super) struct Open {
    pub(super) stream: Stream,
    pub(super) names: Names,
    pub(super) since: Instant,
}

/// A time in which one stream gives way to another. What is heard meanwhile is kept back and told
/// once, because the same may come on both.
pub(super) struct Overlap {
    pub(super) old: Option<Open>,
    pub(super) until: Instant,
    kept: BTreeMap<String, Kept>,
}

struct Kept {
    note: Notification,
    /// What the old stream says is no news where the new one has spoken.
    is_old: bool,
}

impl Open {
    /// Asks for one.
    pub(super) fn new(hearer: &Hearer, names: Names) -> Self {
        let listed: Vec<&str> = names.iter().map(|name| &**name).collect();
        let filter = json!({ hearer.feed.filter(): listed });
        Self {
            stream: Stream::new(&hearer.replica, filter),
            names,
            since: Instant::now(),
        }
    }
}

impl Overlap {
    /// The time before the server has taken note of the new stream.
    pub(super) fn before() -> Self {
        Self::new(None, PATIENCE)
    }

    /// The time after that, with what was kept back before.
    pub(super) fn after(before: Option<Self>, old: Open) -> Self {
        Self {
            kept: before.map(|before| before.kept).unwrap_or_default(),
            ..Self::new(Some(old), OVERLAP)
        }
    }

    fn new(old: Option<Open>, lasts: Duration) -> Self {
        Self {
            old,
            until: Instant::now() + lasts,
            kept: BTreeMap::new(),
        }
    }

    /// Keeps something back; true if that is as much as may be.
    pub(super) fn keep(&mut self, name: String, note: Notification, is_old: bool) -> bool {
        let before = self.kept.get(&name);
        if before.is_none_or(|before| before.is_old || !is_old) {
            self.kept.insert(name, Kept { note, is_old });
        }
        self.kept.len() >= KEPT
    }

    /// What was kept back.
    pub(super) fn notes(&self) -> impl Iterator<Item = &Notification> {
        self.kept.values().map(|kept| &kept.note)
    }
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::RawJson;

    use super::*;
    use crate::Feed;

    #[test]
    fn what_the_old_stream_says_late_takes_nothing_back() {
        let mut overlap = Overlap::before();
        let states = [
            ("1", true),
            ("2", true),
            ("3", false),
            ("2", true),
            ("4", false),
            ("3", true),
        ];
        for (state, is_old) in states {
            let params = RawJson::trusted(state.to_owned());
            overlap.keep(
                "t".into(),
                Notification::new(Feed::Tasks.method(), Some(params)),
                is_old,
            );
        }
        let kept = overlap.kept.remove("t").unwrap();
        assert_eq!(kept.note.params.unwrap().as_str(), "4");
    }
}
