//! What earlier runs knew, read once at the start and written behind.

use std::collections::HashMap;
use std::sync::Arc;

use mcpr_auth::Timestamp;
use mcpr_registry::{Assignments, Kind, Offers, Row, ServerName};
use mcpr_store::{Assignment, SavedListing, SavedPins, Store, StoreError};
use mcpr_upstream::{Memory, Verdict};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The format of a stored listing; the text itself says its version too.
const LISTING_FORMAT: u32 = 1;

/// How long it is remembered of which era a server is, in seconds; it is found out again then.
const VERDICT_LIFE: i64 = 90 * 24 * 60 * 60;

/// The gateway's memory over runs.
pub(crate) struct Recollection {
    verdicts: Mutex<HashMap<String, Verdict>>,
    /// What each server listed last, so that one that is started anew is listed meanwhile.
    listings: Mutex<HashMap<ServerName, Arc<Offers>>>,
    notes: Arc<Notes>,
}

/// What is still to be written down: of each thing what was learnt of it last, so that a store that
/// is slow, or stands still, makes nothing grow (SEC-05).
#[derive(Default)]
pub(crate) struct Notes {
    pending: Mutex<Pending>,
    bell: Notify,
}

#[derive(Default)]
struct Pending {
    verdicts: HashMap<String, Option<Verdict>>,
    listings: HashMap<ServerName, Arc<Offers>>,
    assignments: HashMap<(Kind, ServerName, String), Row>,
    pins: HashMap<ServerName, SavedPins>,
}

/// Something to be written down.
pub(crate) enum Note {
    Verdict(String, Option<Verdict>),
    Listing(ServerName, Arc<Offers>),
    Assignments(Vec<Row>),
    /// What a server showed when it was first seen.
    FirstPins(ServerName, SavedPins),
}

/// What was read at the start.
pub(crate) struct Recalled {
    pub(crate) memory: Arc<Recollection>,
    pub(crate) assignments: Assignments,
    pub(crate) notes: Arc<Notes>,
}

/// Reads what the store has. What cannot be read is left out: it is only knowledge, and comes back.
pub(crate) async fn recall(store: &dyn Store) -> Result<Recalled, StoreError> {
    let notes = Arc::<Notes>::default();
    let memory = Recollection {
        verdicts: Mutex::new(recall_verdicts(store).await?),
        listings: Mutex::new(recall_listings(store).await?),
        notes: notes.clone(),
    };
    let rows = store
        .assignments()
        .await?
        .into_iter()
        .filter_map(|row| row_of(&row));
    Ok(Recalled {
        memory: Arc::new(memory),
        assignments: Assignments::from_rows(rows),
        notes,
    })
}

async fn recall_verdicts(store: &dyn Store) -> Result<HashMap<String, Verdict>, StoreError> {
    // What cannot be forgotten now is forgotten at a later start.
    let _ = store
        .prune_verdicts(Timestamp::from_unix(Timestamp::now().unix() - VERDICT_LIFE))
        .await;
    let stored = store.verdicts().await?.into_iter();
    Ok(stored
        .filter_map(|stored| Some((stored.key, Verdict::parse(&stored.body)?)))
        .collect())
}

async fn recall_listings(store: &dyn Store) -> Result<HashMap<ServerName, Arc<Offers>>, StoreError> {
    let stored = store
        .listings()
        .await?
        .into_iter()
        .filter(|listing| listing.format == LISTING_FORMAT);
    let read = |listing: SavedListing| {
        let offers = Offers::from_blob(listing.body.into()).ok()?;
        Some((listing.server.parse().ok()?, Arc::new(offers)))
    };
    Ok(stored.filter_map(read).collect())
}

fn row_of(stored: &Assignment) -> Option<Row> {
    Some(Row {
        kind: stored.kind.parse().ok()?,
        server: stored.server.parse().ok()?,
        origin: stored.origin.as_str().into(),
        exposed: stored.exposed.as_str().into(),
    })
}

fn stored_row(row: Row) -> Assignment {
    Assignment {
        kind: row.kind.to_string(),
        server: row.server.to_string(),
        origin: row.origin.to_string(),
        exposed: row.exposed.to_string(),
    }
}

impl Recollection {
    pub(crate) fn note(&self, note: Note) {
        if let Note::Listing(server, offers) = &note {
            self.listings.lock().insert(server.clone(), offers.clone());
        }
        self.notes.put(note);
    }
}

impl Notes {
    fn put(&self, note: Note) {
        self.pending.lock().put(note);
        self.bell.notify_one();
    }

    fn take(&self) -> Option<Note> {
        self.pending.lock().take()
    }

    /// The next that waits. Cancel-safe.
    async fn next(&self) -> Note {
        loop {
            let rung = self.bell.notified();
            match self.take() {
                Some(note) => return note,
                None => rung.await,
            }
        }
    }
}

impl Pending {
    fn put(&mut self, note: Note) {
        match note {
            Note::Verdict(key, verdict) => drop(self.verdicts.insert(key, verdict)),
            Note::Listing(server, offers) => drop(self.listings.insert(server, offers)),
            Note::FirstPins(server, pins) => drop(self.pins.insert(server, pins)),
            Note::Assignments(rows) => self.assignments.extend(rows.into_iter().map(|row| {
                let key = (row.kind, row.server.clone(), row.origin.clone());
                (key, row)
            })),
        }
    }

    fn take(&mut self) -> Option<Note> {
        if let Some(key) = self.verdicts.keys().next().cloned() {
            let verdict = self.verdicts.remove(&key).flatten();
            return Some(Note::Verdict(key, verdict));
        }
        if let Some(server) = self.pins.keys().next().cloned() {
            let pins = self.pins.remove(&server)?;
            return Some(Note::FirstPins(server, pins));
        }
        if let Some(server) = self.listings.keys().next().cloned() {
            let offers = self.listings.remove(&server)?;
            return Some(Note::Listing(server, offers));
        }
        let rows: Vec<Row> = self.assignments.drain().map(|(_, row)| row).collect();
        (!rows.is_empty()).then_some(Note::Assignments(rows))
    }
}

impl Memory for Recollection {
    fn verdict(&self, key: &str) -> Option<Verdict> {
        self.verdicts.lock().get(key).copied()
    }

    fn remember(&self, key: &str, verdict: Verdict) {
        self.verdicts.lock().insert(key.to_owned(), verdict);
        self.note(Note::Verdict(key.to_owned(), Some(verdict)));
    }

    fn forget(&self, key: &str) {
        self.verdicts.lock().remove(key);
        self.note(Note::Verdict(key.to_owned(), None));
    }

    fn offers(&self, server: &ServerName) -> Option<Arc<Offers>> {
        self.listings.lock().get(server).cloned()
    }
}

/// Writes notes down; at the end of the gateway those that are left.
pub(crate) async fn write_down(store: Arc<dyn Store>, notes: Arc<Notes>, stop: CancellationToken) {
    loop {
        tokio::select! {
            note = notes.next() => write(&*store, note).await,
            () = stop.cancelled() => break,
        }
    }
    while let Some(note) = notes.take() {
        write(&*store, note).await;
    }
}

async fn write(store: &dyn Store, note: Note) {
    let written = match note {
        Note::Verdict(key, verdict) => {
            let body = verdict.map_or("", Verdict::as_str).to_owned();
            store
                .put_verdict(mcpr_store::Verdict {
                    key,
                    body,
                    at: Timestamp::now(),
                })
                .await
        }
        Note::Listing(server, offers) => store.put_listing(listing(&server, &offers)).await,
        Note::FirstPins(_, pins) => store.put_first_pins(pins, Timestamp::now()).await.map(drop),
        Note::Assignments(rows) => {
            store
                .put_assignments(rows.into_iter().map(stored_row).collect())
                .await
        }
    };
    if let Err(error) = written {
        tracing::warn!(reason = %error, "what was learnt of a server could not be stored");
    }
}

fn listing(server: &ServerName, offers: &Offers) -> SavedListing {
    SavedListing {
        server: server.to_string(),
        format: LISTING_FORMAT,
        at: Timestamp::now(),
        body: offers.to_blob().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(origin: &str, exposed: &str) -> Row {
        Row {
            kind: Kind::Tools,
            server: "s".parse().unwrap(),
            origin: origin.into(),
            exposed: exposed.into(),
        }
    }

    #[test]
    fn sec_05_of_each_thing_only_what_was_learnt_last_waits_to_be_written() {
        let notes = Notes::default();
        for round in 0..1000 {
            notes.put(Note::Listing("s".parse().unwrap(), Arc::default()));
            notes.put(Note::Verdict("key".into(), None));
            notes.put(Note::Assignments(vec![row("t", &format!("t{round}"))]));
        }

        let taken: Vec<Note> = std::iter::from_fn(|| notes.take()).collect();

        assert_eq!(taken.len(), 3);
        let last = |note: &Note| matches!(note, Note::Assignments(rows) if *rows[0].exposed == *"t999");
        assert!(taken.iter().any(last));
    }
}
