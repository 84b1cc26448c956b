//! A store that forgets everything at the end.

mod history;
mod state;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use async_trait::async_trait;
use mcpr_auth::{Timestamp, Token, TokenHash, TokenId};
use parking_lot::Mutex;

use self::history::Calls;
use crate::select::choose;
use crate::{
    Assignment, SavedEquip, SavedListing, SavedPin, SavedProject, SavedToolset, SealingKeys, Store,
    StoreError, Switch, Verdict,
};

/// A store in memory, for tests, for embedding, and for a gateway that shall leave nothing behind.
#[derive(Debug)]
pub struct Memory(Mutex<Option<Records>>);

#[derive(Debug, Default)]
struct Records {
    /// The oldest first.
    tokens: BTreeMap<(Timestamp, TokenId), (Token, TokenHash)>,
    /// What no other token may have: there can be very many.
    token_ids: HashSet<TokenId>,
    token_hashes: HashSet<TokenHash>,
    /// Exposed names by kind, server and origin.
    assignments: BTreeMap<[String; 3], String>,
    listings: BTreeMap<String, SavedListing>,
    verdicts: BTreeMap<String, Verdict>,
    sealing_keys: Option<SealingKeys>,
    toolsets: BTreeMap<(String, String), SavedToolset>,
    definitions: BTreeMap<String, String>,
    equips: BTreeMap<String, SavedEquip>,
    switches: BTreeMap<(String, Option<String>), Switch>,
    pins: BTreeMap<String, BTreeMap<String, SavedPin>>,
    projects: BTreeMap<String, SavedProject>,
    calls: Calls,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self(Mutex::new(Some(Records::default())))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Records) -> T) -> Result<T, StoreError> {
        self.0.lock().as_mut().map(work).ok_or(StoreError::Closed)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Store for Memory {
    async fn insert_token(&self, token: Token, hash: TokenHash) -> Result<(), StoreError> {
        self.with(|records| records.insert_token(token, hash))?
    }

    async fn tokens(&self) -> Result<Vec<(Token, TokenHash)>, StoreError> {
        self.with(|records| records.tokens.values().cloned().collect())
    }

    async fn revoke_token(&self, which: &str, at: Timestamp) -> Result<Token, StoreError> {
        self.with(|records| {
            records.change_token(which, |token| {
                token.revoked.get_or_insert(at);
            })
        })?
    }

    async fn rotate_token(&self, token: Token, from: TokenHash, to: TokenHash) -> Result<(), StoreError> {
        self.with(|records| records.rotate_token(&token, from, to))?
    }

    async fn touch_tokens(&self, used: Vec<(TokenId, Timestamp)>) -> Result<(), StoreError> {
        self.with(|records| used.iter().for_each(|(id, at)| records.touch_token(id, *at)))
    }

    async fn assignments(&self) -> Result<Vec<Assignment>, StoreError> {
        self.with(|records| records.assignments.iter().map(assignment).collect())
    }

    async fn put_assignments(&self, batch: Vec<Assignment>) -> Result<(), StoreError> {
        let batch = batch
            .into_iter()
            .map(|a| ([a.kind, a.server, a.origin], a.exposed));
        self.with(|records| records.assignments.extend(batch))
    }

    async fn listings(&self) -> Result<Vec<SavedListing>, StoreError> {
        self.with(|records| records.listings.values().cloned().collect())
    }

    async fn put_listing(&self, listing: SavedListing) -> Result<(), StoreError> {
        self.with(|records| records.listings.insert(listing.server.clone(), listing))
            .map(drop)
    }

    async fn delete_listing(&self, server: &str) -> Result<(), StoreError> {
        self.with(|records| records.listings.remove(server)).map(drop)
    }

    async fn verdicts(&self) -> Result<Vec<Verdict>, StoreError> {
        self.with(|records| records.verdicts.values().cloned().collect())
    }

    async fn put_verdict(&self, verdict: Verdict) -> Result<(), StoreError> {
        self.with(|records| records.verdicts.insert(verdict.key.clone(), verdict))
            .map(drop)
    }

    async fn prune_verdicts(&self, time: Timestamp) -> Result<(), StoreError> {
        self.with(|records| records.verdicts.retain(|_, verdict| verdict.at >= time))
    }

    async fn sealing_keys(&self, now: Timestamp, oldest: Timestamp) -> Result<SealingKeys, StoreError> {
        self.with(|records| records.sealing_keys(now, oldest))?
    }

    async fn changes_by_others(&self) -> Result<u64, StoreError> {
        self.with(|_| 0)
    }

    async fn close(&self) {
        *self.0.lock() = None;
    }
}

impl Records {
    fn insert_token(&mut self, token: Token, hash: TokenHash) -> Result<(), StoreError> {
        if self.token_ids.contains(&token.id) || self.token_hashes.contains(&hash) {
            return Err(StoreError::TokenExists(token.id));
        }
        self.token_ids.insert(token.id.clone());
        self.token_hashes.insert(hash);
        let key = (token.created, token.id.clone());
        self.tokens.insert(key, (token, hash));
        Ok(())
    }

    fn change_token(&mut self, which: &str, change: impl FnOnce(&mut Token)) -> Result<Token, StoreError> {
        let tokens: Vec<Token> = self.tokens.values().map(|(token, _)| token.clone()).collect();
        let mut token = choose(&tokens, which)?.clone();
        change(&mut token);
        if let Some((stored, _)) = self.tokens.values_mut().find(|(stored, _)| stored.id == token.id) {
            stored.clone_from(&token);
        }
        Ok(token)
    }

    fn rotate_token(&mut self, new: &Token, from: TokenHash, to: TokenHash) -> Result<(), StoreError> {
        let stored = self.tokens.values_mut().find(|(token, hash)| {
            let same = token.id == new.id && *hash == from;
            same && token.revoked.is_none()
        });
        let changed = || StoreError::TokenChanged(new.id.clone());
        let (token, hash) = stored.ok_or_else(changed)?;
        *hash = to;
        self.token_hashes.remove(&from);
        self.token_hashes.insert(to);
        token.prefix.clone_from(&new.prefix);
        token.rotated = new.rotated;
        token.retiring.clone_from(&new.retiring);
        token.spent.clone_from(&new.spent);
        Ok(())
    }

    fn touch_token(&mut self, id: &TokenId, at: Timestamp) {
        if let Some((token, _)) = self.tokens.values_mut().find(|(token, _)| token.id == *id) {
            token.last_used = token.last_used.max(Some(at));
        }
    }

    /// Forgets definitions that no toolset pins any more.
    fn forget_unpinned(&mut self) {
        let pinned: BTreeSet<&String> = self
            .toolsets
            .values()
            .flat_map(|toolset| toolset.pins.values())
            .collect();
        self.definitions.retain(|hash, _| pinned.contains(hash));
    }

    fn sealing_keys(&mut self, now: Timestamp, oldest: Timestamp) -> Result<SealingKeys, StoreError> {
        let (keys, _) = SealingKeys::current(self.sealing_keys.clone(), now, oldest)?;
        self.sealing_keys = Some(keys.clone());
        Ok(keys)
    }
}

fn assignment(([kind, server, origin], exposed): (&[String; 3], &String)) -> Assignment {
    Assignment {
        kind: kind.clone(),
        server: server.clone(),
        origin: origin.clone(),
        exposed: exposed.clone(),
    }
}
