//! A store that a test can hold up, or let fail.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use mcpr_auth::{Timestamp, Token, TokenHash, TokenId};
use mcpr_store::{
    Assignment, CallBatch, CallQuery, CallRow, Definition, HistoryStore, SavedEquip, SavedListing, SavedPin,
    SavedPins, SavedProject, SavedToolset, SealingKeys, StateStore, Store, StoreError, Switch, Verdict,
};

/// What happens before each operation of a store, by its name; an error takes its place.
pub type Hook = Arc<dyn Fn(&'static str) -> Before + Send + Sync>;

/// What happens before one operation.
pub type Before = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// A store behind a hook.
pub struct Hooked {
    inner: Arc<dyn Store>,
    hook: Hook,
}

impl Hooked {
    /// Puts a store behind a hook.
    pub fn new(inner: Arc<dyn Store>, hook: Hook) -> Self {
        Self { inner, hook }
    }
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooked(..)")
    }
}

/// Methods that ask the hook, then the store.
macro_rules! hooked {
    ($trait:ident: $($name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        #[async_trait]
        impl $trait for Hooked {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$output, StoreError> {
                (self.hook)(stringify!($name)).await?;
                self.inner.$name($($argument),*).await
            })*
        }
    };
}

hooked! { StateStore:
    toolsets() -> Vec<SavedToolset>;
    put_toolset(toolset: SavedToolset, definitions: Vec<Definition>) -> ();
    delete_toolset(owner: &str, name: &str) -> bool;
    definitions(hashes: Vec<String>) -> Vec<Definition>;
    equips() -> Vec<SavedEquip>;
    put_equip(equip: SavedEquip) -> ();
    delete_equip(principal: &str) -> bool;
    switches() -> Vec<Switch>;
    put_switch(switch: Switch) -> ();
    pins() -> Vec<SavedPins>;
    put_first_pins(first: SavedPins, at: Timestamp) -> bool;
    approve_pins(server: &str, approved: Vec<SavedPin>, forgotten: Vec<String>) -> ();
    projects() -> Vec<SavedProject>;
    put_project(project: SavedProject) -> ();
    delete_project(name: &str) -> bool;
}

hooked! { HistoryStore:
    put_calls(calls: CallBatch) -> ();
    calls(query: CallQuery) -> Vec<CallRow>;
    call(id: &str) -> Option<CallRow>;
    delete_calls(query: CallQuery) -> u64;
    prune_calls(older_than_ms: Option<i64>, max_bytes: u64) -> u64;
}

#[async_trait]
impl Store for Hooked {
    async fn insert_token(&self, token: Token, hash: TokenHash) -> Result<(), StoreError> {
        self.inner.insert_token(token, hash).await
    }

    async fn tokens(&self) -> Result<Vec<(Token, TokenHash)>, StoreError> {
        self.inner.tokens().await
    }

    async fn revoke_token(&self, which: &str, at: Timestamp) -> Result<Token, StoreError> {
        self.inner.revoke_token(which, at).await
    }

    async fn rotate_token(&self, token: Token, from: TokenHash, to: TokenHash) -> Result<(), StoreError> {
        self.inner.rotate_token(token, from, to).await
    }

    async fn touch_tokens(&self, used: Vec<(TokenId, Timestamp)>) -> Result<(), StoreError> {
        self.inner.touch_tokens(used).await
    }

    async fn assignments(&self) -> Result<Vec<Assignment>, StoreError> {
        self.inner.assignments().await
    }

    async fn put_assignments(&self, batch: Vec<Assignment>) -> Result<(), StoreError> {
        self.inner.put_assignments(batch).await
    }

    async fn listings(&self) -> Result<Vec<SavedListing>, StoreError> {
        self.inner.listings().await
    }

    async fn put_listing(&self, listing: SavedListing) -> Result<(), StoreError> {
        self.inner.put_listing(listing).await
    }

    async fn delete_listing(&self, server: &str) -> Result<(), StoreError> {
        self.inner.delete_listing(server).await
    }

    async fn verdicts(&self) -> Result<Vec<Verdict>, StoreError> {
        self.inner.verdicts().await
    }

    async fn put_verdict(&self, verdict: Verdict) -> Result<(), StoreError> {
        self.inner.put_verdict(verdict).await
    }

    async fn prune_verdicts(&self, time: Timestamp) -> Result<(), StoreError> {
        self.inner.prune_verdicts(time).await
    }

    async fn sealing_keys(&self, now: Timestamp, oldest: Timestamp) -> Result<SealingKeys, StoreError> {
        self.inner.sealing_keys(now, oldest).await
    }

    async fn changes_by_others(&self) -> Result<u64, StoreError> {
        self.inner.changes_by_others().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
