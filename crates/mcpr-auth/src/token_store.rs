//! The question asked on every request.

use tokio::sync::watch;

use crate::{Denied, Principal, Timestamp};

/// Knows which tokens are good, from memory: it is asked on every request.
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
    fn recheck_text(&self, principal: &Principal, now: Timestamp) -> Result<Option<Timestamp>, Denied>;

    /// A number that changes with every change of the table: what was verified under the same
    /// number is still true, unless it has expired.
    fn generation(&self) -> u64;

    /// Wakes its holder when the generation changes.
    fn changes(&self) -> watch::Receiver<u64>;
}
