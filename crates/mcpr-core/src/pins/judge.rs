//! Compares what servers list with what is approved.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcpr_config::ServerEntry;
use mcpr_registry::{Compared, Deviation, Offers, PinPolicy, Pins, ServerName};

use super::{Approved, PinBook};
use crate::memory::{Note, Recollection};

/// How many changes the log tells in all, so that a server that goes on changing fills neither disk nor memory.
const MOST: usize = 10_000;

/// How many it tells one by one of what has changed at once.
const AT_ONCE: usize = 10;

/// Judges what servers list, and remembers it: most snapshots change neither side.
pub(crate) struct Judge {
    pub(crate) book: Arc<PinBook>,
    pub(crate) memory: Arc<Recollection>,
    pub(crate) known: HashMap<ServerName, Known>,
    /// What the log has said.
    pub(crate) told: HashSet<Change>,
}

/// A tool of a server, with what tells its approved definition and that of now from others.
pub(crate) type Change = (ServerName, Arc<str>, [Option<String>; 2]);

/// A judgement and what it was made of.
pub(crate) struct Known {
    entry: Arc<ServerEntry>,
    approved: Arc<Approved>,
    judged: Arc<Compared>,
}

impl Judge {
    /// Compares what a server lists; nothing where that is not wanted. What is seen of a server for the
    /// first time is taken for approved, once it is all there is.
    pub(crate) fn judge(
        &mut self,
        entry: &Arc<ServerEntry>,
        offers: &Arc<Offers>,
        is_all: bool,
    ) -> Option<Arc<Compared>> {
        if entry.pins == PinPolicy::Off {
            self.known.remove(&entry.name);
            return None;
        }
        let approved = self.approved(entry, offers, is_all)?;
        let is_same = |known: &&Known| {
            Arc::ptr_eq(&known.entry, entry)
                && Arc::ptr_eq(&known.judged.offers, offers)
                && Arc::ptr_eq(&known.approved, &approved)
        };
        if let Some(known) = self.known.get(&entry.name).filter(is_same) {
            return Some(known.judged.clone());
        }
        let is_kept_away = entry.tools.kept_away();
        let judged = Compared::new(entry.pins, offers.clone(), approved.pins.clone(), is_kept_away);
        let judged = Arc::new(judged);
        self.tell(&entry.name, &judged);
        let known = Known {
            entry: entry.clone(),
            approved,
            judged: judged.clone(),
        };
        self.known.insert(entry.name.clone(), known);
        Some(judged)
    }

    /// Drops what is remembered of servers that are not there any more.
    pub(crate) fn forget_gone(&mut self, is_there: impl Fn(&ServerName) -> bool) {
        self.known.retain(|server, _| is_there(server));
    }

    fn approved(&self, entry: &ServerEntry, offers: &Offers, is_all: bool) -> Option<Arc<Approved>> {
        let known = self.book.of(&entry.name);
        if known.is_some() || !is_all {
            return known;
        }
        let first = Arc::new(Approved::now(Pins::of(offers)));
        if self.book.see(&entry.name, &first) {
            tracing::info!(server = %entry.name, count = first.pins.len(), "the tools of the server are pinned");
            let pins = first.to_stored(&entry.name);
            self.memory.note(Note::FirstPins(entry.name.clone(), pins));
        }
        self.book.of(&entry.name)
    }

    /// Says in the log what differs, each once.
    fn tell(&mut self, server: &ServerName, judged: &Compared) {
        let hash = |pins: &Pins, tool: &str| pins.get(tool).map(|pin| pin.hash.clone());
        let mut fresh = judged.deviations.iter().filter(|(tool, _)| {
            let change = (
                server.clone(),
                (*tool).clone(),
                [hash(&judged.approved, tool), hash(&judged.now, tool)],
            );
            self.told.len() < MOST && self.told.insert(change)
        });
        for (tool, deviation) in fresh.by_ref().take(AT_ONCE) {
            let held = judged.held(tool).is_some();
            tracing::warn!(server = %server, tool = %tool, held, "{}", said(*deviation));
        }
        let more = fresh.count();
        if more > 0 {
            tracing::warn!(server = %server, count = more, "more tools are not as they were approved");
        }
    }
}

/// What a deviation is, as a sentence.
fn said(deviation: Deviation) -> &'static str {
    match deviation {
        Deviation::Changed => "the definition of a tool has changed since it was approved",
        Deviation::New => "a tool is new since those of its server were approved",
        Deviation::Removed => "a tool that was approved is not listed any more",
    }
}
