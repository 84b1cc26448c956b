//! The contract of a store.

use std::fmt::Debug;

use async_trait::async_trait;
use mcpr_auth::{Timestamp, Token, TokenHash, TokenId};

use crate::{Assignment, HistoryStore, SavedListing, SealingKey, StateStore, StoreError, Verdict};

/// What outlives the process.
///
/// Every change is one transaction: it is there whole or not at all. Dropping a future that waits for
/// its answer does not take the change back. Lists come in a fixed order. Each method
/// fails with [`StoreError::Closed`] after [`Store::close`] and with [`StoreError::Database`] when
/// the file is at fault; other errors are named where they can happen.
#[async_trait]
pub trait Store: StateStore + HistoryStore + Debug + Send + Sync {
    /// Adds a token.
    ///
    /// # Errors
    ///
    /// [`StoreError::TokenExists`] if its id or its hash is there already.
    async fn insert_token(&self, token: Token, hash: TokenHash) -> Result<(), StoreError>;

    /// All tokens, the oldest first, with the hashes that [`mcpr_auth::Tokens::replace`] wants.
    async fn tokens(&self) -> Result<Vec<(Token, TokenHash)>, StoreError>;

    /// Revokes the token that `which` means and gives it as it is now. A token that was revoked
    /// before keeps its time.
    ///
    /// `which` is an id, a name, or the beginning of an id; the first of these that fits a token that is
    /// not revoked counts.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoToken`] and [`StoreError::Ambiguous`] if it does not mean exactly one.
    async fn revoke_token(&self, which: &str, at: Timestamp) -> Result<Token, StoreError>;

    /// Lets the token that `which` means expire at `at`, unless it does so before, and gives it as it
    /// is now: how the old token of a rotation ends.
    ///
    /// # Errors
    ///
    /// As [`Store::revoke_token`].
    async fn expire_token(&self, which: &str, at: Timestamp) -> Result<Token, StoreError>;

    /// Writes down when tokens were last used; unknown ids and older times change nothing.
    async fn touch_tokens(&self, used: Vec<(TokenId, Timestamp)>) -> Result<(), StoreError>;

    /// All assigned names.
    async fn assignments(&self) -> Result<Vec<Assignment>, StoreError>;

    /// Adds these assigned names, in place of older ones of the same kind, server and origin.
    async fn put_assignments(&self, batch: Vec<Assignment>) -> Result<(), StoreError>;

    /// The last good listings of all servers.
    async fn listings(&self) -> Result<Vec<SavedListing>, StoreError>;

    /// Keeps a listing in place of the server's older one.
    async fn put_listing(&self, listing: SavedListing) -> Result<(), StoreError>;

    /// Forgets a server's listing, if there is one.
    async fn delete_listing(&self, server: &str) -> Result<(), StoreError>;

    /// All verdicts.
    async fn verdicts(&self) -> Result<Vec<Verdict>, StoreError>;

    /// Keeps a verdict in place of the older one with the same key.
    async fn put_verdict(&self, verdict: Verdict) -> Result<(), StoreError>;

    /// Forgets the verdicts that were found out before `time`.
    async fn prune_verdicts(&self, time: Timestamp) -> Result<(), StoreError>;

    /// The key that seals what clients carry: drawn at the first call, the same ever after.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoRandomness`] if a first key cannot be drawn.
    async fn sealing_key(&self) -> Result<SealingKey, StoreError>;

    /// A number that changes when another process or another opened store has written to the same database:
    /// time to load again what is kept in memory. Cheap enough to ask every second.
    async fn changes_by_others(&self) -> Result<u64, StoreError>;

    /// Finishes everything that was asked for and closes the store.
    async fn close(&self);
}
