//! The question asked on every request.

use std::sync::Arc;

use tokio::sync::watch;

use crate::{Denied, Principal, Timestamp};

/// Knows which tokens are good, from memory: it is asked on every request.
///
/// [`Tokens`](crate::Tokens) is the store of mcpr's own tokens. A program that embeds mcpr can have one of its own: the
/// texts are then whatever it takes as such, and a [`Principal`] comes from a [`Grant`](crate::Grant).
pub trait TokenStore: Send + Sync {
    /// Finds the principal that a presented text stands for, and notes that it was used.
    ///
    /// # Errors
    ///
    /// The reason for the 401, with what its sender can do.
    fn verify(&self, presented: &str, now: Timestamp) -> Result<Principal, Denied>;

    /// Tells whether a principal that was let in earlier would be let in now, with whatever text its token
    /// has by now.
    ///
    /// Only holders of a [`Grant`](crate::Grant) are asked about: who came without a token needs none.
    /// Whoever holds sessions asks after each [change](TokenStore::changes) and at [`Principal::expires`],
    /// and ends those of a principal that is denied.
    ///
    /// # Errors
    ///
    /// The reason why it would not.
    fn recheck(&self, principal: &Principal, now: Timestamp) -> Result<(), Denied>;

    /// Tells whether a principal that was let in earlier would be let in now with the text that it came
    /// with, and until when unless something changes.
    ///
    /// Whoever holds streams asks after each [change](TokenStore::changes) and when that time is over, and
    /// ends those of a principal that is denied.
    ///
    /// # Errors
    ///
    /// The reason why it would not.
    fn recheck_text(&self, principal: &Principal, now: Timestamp) -> Result<Option<Timestamp>, Denied> {
        self.recheck(principal, now)?;
        Ok(principal.expires())
    }

    /// A number that changes with every change of the table: what was verified under the same
    /// number is still true for a minute, unless it has expired.
    fn generation(&self) -> u64 {
        *self.changes().borrow()
    }

    /// The generation, as it changes. The sender lives as long as the store does.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// A store that its program keeps a hand on.
impl<S: TokenStore + ?Sized> TokenStore for Arc<S> {
    fn verify(&self, presented: &str, now: Timestamp) -> Result<Principal, Denied> {
        (**self).verify(presented, now)
    }

    fn recheck(&self, principal: &Principal, now: Timestamp) -> Result<(), Denied> {
        (**self).recheck(principal, now)
    }

    fn recheck_text(&self, principal: &Principal, now: Timestamp) -> Result<Option<Timestamp>, Denied> {
        (**self).recheck_text(principal, now)
    }

    fn generation(&self) -> u64 {
        (**self).generation()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        (**self).changes()
    }
}
