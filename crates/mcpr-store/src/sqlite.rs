//! The store in a SQLite file.
//!
//! SQLite blocks, so one thread owns the connection and does everything in the order it was asked;
//! callers wait for its answers without holding a thread of their own.

mod backup;
mod fault;
mod file;
mod history;
mod inspect;
mod pins;
mod schema;
mod state;
mod tables;
mod tokens;
mod worker;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use mcpr_auth::{Timestamp, Token, TokenHash, TokenId};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::fault::Fault;
use self::worker::Worker;
use crate::history::Room;
use crate::{
    Assignment, CallBatch, CallQuery, CallRow, Definition, HistoryStore, SavedEquip, SavedListing, SavedPin,
    SavedPins, SavedProject, SavedToolset, SealingKeys, StateStore, Store, StoreError, Switch, Verdict,
};

pub use self::backup::backup;
pub use self::inspect::{Inspection, inspect, inspect_pages};

/// Opens the database at `path`, and makes it first if it is not there.
///
/// The file gets mode 0600; folders that have to be made get 0700. Several processes may have the
/// same file open. One on a read-only file system is opened as it is, and all changes are refused
/// ([`Store::is_read_only`]).
///
/// # Errors
///
/// [`StoreError::Database`] if the file is damaged, not mcpr's, of a newer mcpr, or not writable.
pub async fn open(path: impl AsRef<Path>) -> Result<Arc<dyn Store>, StoreError> {
    let worker = Worker::start(path.as_ref().to_owned()).await?;
    Ok(Arc::new(Sqlite(worker)))
}

#[derive(Debug)]
struct Sqlite(Worker);

#[async_trait]
impl Store for Sqlite {
    async fn insert_token(&self, token: Token, hash: TokenHash) -> Result<(), StoreError> {
        self.0.run(move |db| tokens::insert(db, &token, hash)).await
    }

    async fn tokens(&self) -> Result<Vec<(Token, TokenHash)>, StoreError> {
        self.0.run(|db| tokens::all(db)).await
    }

    async fn revoke_token(&self, which: &str, at: Timestamp) -> Result<Token, StoreError> {
        let which = which.to_owned();
        self.0.run(move |db| tokens::revoke(db, &which, at)).await
    }

    async fn rotate_token(&self, token: Token, from: TokenHash, to: TokenHash) -> Result<(), StoreError> {
        self.0.run(move |db| tokens::rotate(db, &token, from, to)).await
    }

    async fn touch_tokens(&self, used: Vec<(TokenId, Timestamp)>) -> Result<(), StoreError> {
        self.0.run(move |db| tokens::touch(db, &used)).await
    }

    async fn assignments(&self) -> Result<Vec<Assignment>, StoreError> {
        self.0.run(|db| tables::assignments(db)).await
    }

    async fn put_assignments(&self, batch: Vec<Assignment>) -> Result<(), StoreError> {
        self.0.run(move |db| tables::put_assignments(db, &batch)).await
    }

    async fn listings(&self) -> Result<Vec<SavedListing>, StoreError> {
        self.0.run(|db| tables::listings(db)).await
    }

    async fn put_listing(&self, listing: SavedListing) -> Result<(), StoreError> {
        self.0.run(move |db| tables::put_listing(db, &listing)).await
    }

    async fn delete_listing(&self, server: &str) -> Result<(), StoreError> {
        let server = server.to_owned();
        self.0.run(move |db| tables::delete_listing(db, &server)).await
    }

    async fn verdicts(&self) -> Result<Vec<Verdict>, StoreError> {
        self.0.run(|db| tables::verdicts(db)).await
    }

    async fn put_verdict(&self, verdict: Verdict) -> Result<(), StoreError> {
        self.0.run(move |db| tables::put_verdict(db, &verdict)).await
    }

    async fn prune_verdicts(&self, time: Timestamp) -> Result<(), StoreError> {
        self.0.run(move |db| tables::prune_verdicts(db, time)).await
    }

    async fn sealing_keys(&self, now: Timestamp, oldest: Timestamp) -> Result<SealingKeys, StoreError> {
        let read_only = self.is_read_only();
        let work = move |db: &mut Connection| tables::sealing_keys(db, now, oldest, read_only);
        self.0.run(work).await
    }

    fn is_read_only(&self) -> bool {
        self.0.is_read_only()
    }

    async fn changes_by_others(&self) -> Result<u64, StoreError> {
        self.0.run(|db| tables::changes_by_others(db)).await
    }

    async fn close(&self) {
        self.0.close().await;
    }
}

#[async_trait]
impl StateStore for Sqlite {
    async fn toolsets(&self) -> Result<Vec<SavedToolset>, StoreError> {
        self.0.run(|db| state::toolsets(db)).await
    }

    async fn put_toolset(
        &self,
        toolset: SavedToolset,
        definitions: Vec<Definition>,
    ) -> Result<(), StoreError> {
        let put = move |db: &mut Connection| state::put_toolset(db, &toolset, &definitions);
        self.0.run(put).await
    }

    async fn delete_toolset(&self, owner: &str, name: &str) -> Result<bool, StoreError> {
        let (owner, name) = (owner.to_owned(), name.to_owned());
        self.0
            .run(move |db| state::delete_toolset(db, &owner, &name))
            .await
    }

    async fn definitions(&self, hashes: Vec<String>) -> Result<Vec<Definition>, StoreError> {
        self.0.run(move |db| state::definitions(db, &hashes)).await
    }

    async fn equips(&self) -> Result<Vec<SavedEquip>, StoreError> {
        self.0.run(|db| state::equips(db)).await
    }

    async fn put_equip(&self, equip: SavedEquip) -> Result<(), StoreError> {
        self.0.run(move |db| state::put_equip(db, &equip)).await
    }

    async fn delete_equip(&self, principal: &str) -> Result<bool, StoreError> {
        let principal = principal.to_owned();
        self.0.run(move |db| state::delete_equip(db, &principal)).await
    }

    async fn switches(&self) -> Result<Vec<Switch>, StoreError> {
        self.0.run(|db| state::switches(db)).await
    }

    async fn put_switch(&self, switch: Switch) -> Result<(), StoreError> {
        self.0.run(move |db| state::put_switch(db, &switch)).await
    }

    async fn pins(&self) -> Result<Vec<SavedPins>, StoreError> {
        self.0.run(|db| pins::all(db)).await
    }

    async fn put_first_pins(&self, first: SavedPins, at: Timestamp) -> Result<bool, StoreError> {
        self.0.run(move |db| pins::put_first(db, &first, at)).await
    }

    async fn approve_pins(
        &self,
        server: &str,
        approved: Vec<SavedPin>,
        forgotten: Vec<String>,
    ) -> Result<(), StoreError> {
        let server = server.to_owned();
        self.0
            .run(move |db| pins::approve(db, &server, &approved, &forgotten))
            .await
    }

    async fn projects(&self) -> Result<Vec<SavedProject>, StoreError> {
        self.0.run(|db| state::projects(db)).await
    }

    async fn put_project(&self, project: SavedProject) -> Result<(), StoreError> {
        self.0.run(move |db| state::put_project(db, &project)).await
    }

    async fn delete_project(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.0.run(move |db| state::delete_project(db, &name)).await
    }
}

#[async_trait]
impl HistoryStore for Sqlite {
    async fn put_calls(&self, calls: CallBatch) -> Result<(), StoreError> {
        self.0.run(move |db| history::put(db, calls)).await
    }

    async fn calls(&self, query: CallQuery) -> Result<Vec<CallRow>, StoreError> {
        let (mut found, mut room, mut behind) = (Vec::new(), Room::of(&query), None);
        loop {
            let asked = query.clone();
            let step = move |db: &mut Connection| history::search(db, &asked, behind.as_deref(), room);
            let step = self.0.run(step).await?;
            let (mut calls, left) = step.outcome;
            found.append(&mut calls);
            room = left;
            match step.next {
                Some(next) => behind = Some(next),
                None => return Ok(found),
            }
        }
    }

    async fn call(&self, id: &str) -> Result<Option<CallRow>, StoreError> {
        let id = id.to_owned();
        self.0.run(move |db| history::one(db, &id)).await
    }

    async fn delete_calls(&self, query: CallQuery) -> Result<u64, StoreError> {
        let gone = self.forget_calls(query).await?;
        self.0.run(|db| history::clear_log(db)).await?;
        Ok(gone)
    }

    async fn prune_calls(&self, older_than_ms: Option<i64>, max_bytes: u64) -> Result<u64, StoreError> {
        let mut gone = 0;
        if older_than_ms.is_some() {
            let old = CallQuery {
                until_ms: older_than_ms,
                ..CallQuery::default()
            };
            gone += self.forget_calls(old).await?;
        }
        let step = move |db: &mut Connection| history::shrink(db, max_bytes);
        while let Some(calls) = self.0.run(step).await? {
            gone += calls;
        }
        Ok(gone)
    }
}

impl Sqlite {
    /// Forgets calls in steps, so that others have their turn at the file between two of them.
    async fn forget_calls(&self, query: CallQuery) -> Result<u64, StoreError> {
        let (mut gone, mut behind) = (0, None);
        loop {
            let asked = query.clone();
            let step = move |db: &mut Connection| history::delete(db, &asked, behind.as_deref());
            let step = self.0.run(step).await?;
            gone += step.outcome;
            match step.next {
                Some(next) => behind = Some(next),
                None => return Ok(gone),
            }
        }
    }
}

/// Makes a change as one transaction. It takes the write lock at once, so that it waits for other
/// processes instead of failing halfway.
fn change<T>(
    db: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let outcome = work(&tx)?;
    tx.commit()?;
    Ok(outcome)
}

/// Makes a change that also survives a power cut: a revoked token must not come back. Other changes
/// can be made again and are not worth waiting for the disk.
fn change_durably<T>(
    db: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    db.pragma_update(None, "synchronous", "FULL")?;
    let outcome = change(db, work);
    db.pragma_update(None, "synchronous", "NORMAL")?;
    outcome
}
