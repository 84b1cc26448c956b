//! The contract of a store.

use std::fmt::Debug;

use async_trait::async_trait;
use mcpr_auth::{Timestamp, Token, TokenHash, TokenId};

use crate::select::choose;
use crate::{Assignment, HistoryStore, SavedListing, SealingKeys, StateStore, StoreError, Verdict};

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

    /// The token that `which` means, with its hash.
    ///
    /// `which` is an id, a name, or the beginning of an id; the first of these that fits a token that is
    /// not revoked counts.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoToken`] and [`StoreError::Ambiguous`] if it does not mean exactly one.
    async fn token(&self, which: &str) -> Result<(Token, TokenHash), StoreError> {
        let (tokens, hashes): (Vec<_>, Vec<_>) = self.tokens().await?.into_iter().unzip();
        let token = choose(&tokens, which)?;
        let hash = tokens.iter().zip(hashes).find(|(known, _)| known.id == token.id);
        let (_, hash) = hash.ok_or_else(|| StoreError::NoToken(which.to_owned()))?;
        Ok((token.clone(), hash))
    }

    /// Revokes the token that [`which`](Store::token) means and gives it as it is now. A token that was
    /// revoked before keeps its time.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoToken`] and [`StoreError::Ambiguous`] if it does not mean exactly one.
    async fn revoke_token(&self, which: &str, at: Timestamp) -> Result<Token, StoreError>;

    /// Writes down that a token was [rotated](mcpr_auth::rotate): its text has the hash `to` from now on,
    /// in place of `from`.
    ///
    /// # Errors
    ///
    /// [`StoreError::TokenChanged`] if it was revoked, or rotated by somebody else, since it was read.
    async fn rotate_token(&self, token: Token, from: TokenHash, to: TokenHash) -> Result<(), StoreError>;

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

    /// The keys that seal what clients carry. One is drawn where there is none, and another where the newest was drawn
    /// before `oldest`; it is the former one then. All who share the store get the same.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoRandomness`] if a key cannot be drawn.
    async fn sealing_keys(&self, now: Timestamp, oldest: Timestamp) -> Result<SealingKeys, StoreError>;

    /// Whether nothing can be changed, because the file system is read-only.
    fn is_read_only(&self) -> bool {
        false
    }

    /// A number that changes when another process or another opened store has written to the same database:
    /// time to load again what is kept in memory. Cheap enough to ask every second.
    async fn changes_by_others(&self) -> Result<u64, StoreError>;

    /// Finishes everything that was asked for and closes the store.
    async fn close(&self);
}
