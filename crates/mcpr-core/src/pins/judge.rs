//! Compares what servers list with what is approved.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use mcpr_config::ServerEntry;
use mcpr_registry::{Deviation, Offers, PinPolicy, Pins, ServerName};

use super::{Approved, PinBook};
use crate::memory::{Note, Recollection};
use crate::plan::Filter;

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
    judged: Arc<Judged>,
}

/// How the tools of a server compare with what is approved of them.
#[derive(Debug)]
pub(crate) struct Judged {
    /// What becomes of those that differ.
    pub(crate) policy: PinPolicy,
    /// What was compared.
    pub(crate) offers: Arc<Offers>,
    /// What of it the server lists as tools.
    pub(crate) now: Pins,
    /// What differs, by the server's names. Tools that its lists keep away are left out.
    pub(crate) deviations: BTreeMap<Arc<str>, Deviation>,
}

impl Judge {
    /// Compares what a server lists; nothing where that is not wanted. What is seen of a server for the
    /// first time is taken for approved, once it is all there is.
    pub(crate) fn judge(
        &mut self,
        entry: &Arc<ServerEntry>,
        offers: &Arc<Offers>,
        is_all: bool,
    ) -> Option<Arc<Judged>> {
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
        let judged = Arc::new(Judged::new(entry, offers, &approved));
        self.tell(&entry.name, &judged, &approved);
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
    fn tell(&mut self, server: &ServerName, judged: &Judged, approved: &Approved) {
        let hash = |pins: &Pins, tool: &str| pins.get(tool).map(|pin| pin.hash.clone());
        let mut fresh = judged.deviations.iter().filter(|(tool, _)| {
            let change = (
                server.clone(),
                (*tool).clone(),
                [hash(&approved.pins, tool), hash(&judged.now, tool)],
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

impl Judged {
    fn new(entry: &ServerEntry, offers: &Arc<Offers>, approved: &Approved) -> Self {
        let now = Pins::of(offers);
        let mut deviations = approved.pins.deviations(&now);
        if let Some(filter) = Filter::of(entry) {
            deviations.retain(|tool, _| filter.keeps(tool).is_none());
        }
        Self {
            policy: entry.pins,
            offers: offers.clone(),
            now,
            deviations,
        }
    }

    /// Whether a tool is held back, and why.
    pub(crate) fn held(&self, tool: &str) -> Option<Deviation> {
        let deviation = self.deviations.get(tool).copied();
        deviation.filter(|deviation| self.policy == PinPolicy::Block && *deviation != Deviation::Removed)
    }

    /// Whether it keeps a tool out of the catalog. One that was offered before stays in it, so that no
    /// other takes its name; one that is new has no claim to a name yet.
    pub(crate) fn keeps_out(&self, tool: &str) -> bool {
        self.held(tool) == Some(Deviation::New)
    }

    /// Whether anything of it is held back.
    pub(crate) fn holds(&self) -> bool {
        self.deviations.keys().any(|tool| self.held(tool).is_some())
    }

    /// How many tools differ like this.
    pub(crate) fn count(&self, deviation: Deviation) -> u64 {
        self.deviations
            .values()
            .filter(|known| **known == deviation)
            .count() as u64
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
