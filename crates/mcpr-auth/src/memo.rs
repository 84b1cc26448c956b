//! Remembering one check.

use std::time::Duration;

use crate::{Denied, Principal, Secret, Timestamp, TokenStore};

/// The last successful check on one connection, so that the next request with the same token costs
/// a comparison.
///
/// What is remembered counts until the store's generation changes, the token expires, or a minute
/// has passed: the store then hears of the token's use again.
#[derive(Debug, Default)]
pub struct Memo(Option<Remembered>);

#[derive(Debug)]
struct Remembered {
    presented: Secret,
    principal: Principal,
    generation: u64,
    since: Timestamp,
    until: Timestamp,
}

impl Memo {
    /// How long a check is remembered.
    const LIFE: Duration = Duration::from_secs(60);

    /// Answers from memory, or asks the store and remembers.
    ///
    /// # Errors
    ///
    /// What [`TokenStore::verify`] says; a denial is not remembered.
    pub fn verify(
        &mut self,
        store: &dyn TokenStore,
        presented: &str,
        now: Timestamp,
    ) -> Result<Principal, Denied> {
        // Read before the check: a change in between then makes this memory old, never wrong.
        let generation = store.generation();
        if let Some(known) = self
            .0
            .as_ref()
            .filter(|known| known.answers(presented, generation, now))
        {
            return Ok(known.principal.clone());
        }
        self.0 = None;
        let principal = store.verify(presented, now)?;
        self.0 = Some(Remembered::new(presented, &principal, generation, now));
        Ok(principal)
    }
}

impl Memo {
    /// Who presented the token of the last successful check, for a caller that knows it to be presented again.
    pub fn again(&self, store: &dyn TokenStore, now: Timestamp) -> Option<Principal> {
        let known = self.0.as_ref()?;
        known
            .counts(store.generation(), now)
            .then(|| known.principal.clone())
    }
}

impl Remembered {
    fn new(presented: &str, principal: &Principal, generation: u64, now: Timestamp) -> Self {
        let until = now.after(Memo::LIFE);
        Self {
            presented: Secret::new(presented),
            principal: principal.clone(),
            generation,
            since: now,
            until: principal.expires().map_or(until, |end| end.min(until)),
        }
    }

    fn answers(&self, presented: &str, generation: u64, now: Timestamp) -> bool {
        self.counts(generation, now) && self.presented.matches(presented)
    }

    fn counts(&self, generation: u64, now: Timestamp) -> bool {
        self.generation == generation && (self.since..self.until).contains(&now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::watch;

    use super::*;
    use crate::{Minted, NewToken, TokenKind, Tokens, mint};

    /// Counts how often it is asked.
    #[derive(Default)]
    struct Counting {
        tokens: Tokens,
        asked: AtomicUsize,
    }

    impl TokenStore for Counting {
        fn verify(&self, presented: &str, now: Timestamp) -> Result<Principal, Denied> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.tokens.verify(presented, now)
        }

        fn recheck(&self, principal: &Principal, now: Timestamp) -> Result<(), Denied> {
            self.tokens.recheck(principal, now)
        }

        fn recheck_text(&self, principal: &Principal, now: Timestamp) -> Result<Option<Timestamp>, Denied> {
            self.tokens.recheck_text(principal, now)
        }

        fn generation(&self) -> u64 {
            self.tokens.generation()
        }

        fn changes(&self) -> watch::Receiver<u64> {
            self.tokens.changes()
        }
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_unix(1_800_000_000).after(Duration::from_secs(seconds))
    }

    fn store_with(expires: Option<Timestamp>) -> (Counting, Minted) {
        let new = NewToken {
            expires,
            ..NewToken::new(TokenKind::Pat, "laptop")
        };
        let minted = mint(new, at(0)).unwrap();
        let store = Counting::default();
        store.tokens.insert(&minted.token, minted.hash);
        (store, minted)
    }

    #[test]
    fn the_second_check_within_a_minute_does_not_ask_the_store() {
        let (store, minted) = store_with(None);
        let mut memo = Memo::default();

        for seconds in [0, 1, 59, 60, 61] {
            memo.verify(&store, minted.secret.reveal(), at(seconds)).unwrap();
        }

        assert_eq!(store.asked.into_inner(), 2);
    }

    #[test]
    fn sec_02_a_remembered_token_ends_when_it_is_revoked() {
        let (store, minted) = store_with(None);
        let mut memo = Memo::default();
        memo.verify(&store, minted.secret.reveal(), at(0)).unwrap();

        store.tokens.revoke(&minted.token.id, at(1));

        let denied = memo.verify(&store, minted.secret.reveal(), at(1)).unwrap_err();
        assert_eq!(
            denied,
            Denied::Revoked {
                id: minted.token.id,
                at: at(1)
            }
        );
    }

    #[test]
    fn sec_02_who_is_known_to_come_again_is_known_for_as_long_as_the_token_counts() {
        let (store, minted) = store_with(Some(at(30)));
        let mut memo = Memo::default();
        assert!(memo.again(&store, at(0)).is_none());
        memo.verify(&store, minted.secret.reveal(), at(0)).unwrap();
        assert!(memo.again(&store, at(29)).is_some());
        assert!(memo.again(&store, at(30)).is_none(), "it has expired");
        store.tokens.revoke(&minted.token.id, at(1));
        assert!(memo.again(&store, at(1)).is_none(), "it is revoked");
        assert_eq!(store.asked.into_inner(), 1);
    }

    #[test]
    fn sec_02_a_remembered_token_ends_when_it_expires() {
        let (store, minted) = store_with(Some(at(10)));
        let mut memo = Memo::default();
        memo.verify(&store, minted.secret.reveal(), at(9)).unwrap();

        let denied = memo.verify(&store, minted.secret.reveal(), at(10)).unwrap_err();

        assert_eq!(denied.reason(), "expired");
    }

    #[test]
    fn sec_02_another_token_on_the_same_connection_is_checked() {
        let (store, minted) = store_with(None);
        let mut memo = Memo::default();
        memo.verify(&store, minted.secret.reveal(), at(0)).unwrap();

        assert_eq!(
            memo.verify(&store, "mcpr_pat_x", at(0)).unwrap_err().reason(),
            "bad_checksum"
        );
        assert!(memo.verify(&store, minted.secret.reveal(), at(0)).is_ok());
        assert_eq!(store.asked.into_inner(), 3);
    }
}
