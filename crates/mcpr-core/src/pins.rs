//! Pinned definitions: what is approved of the tools of each server.

mod judge;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mcpr_auth::Timestamp;
use mcpr_registry::{Deviation, Pin, Pins, ServerName};
use mcpr_store::{SavedPin, SavedPins};
use parking_lot::RwLock;

pub(crate) use self::judge::Judge;

/// What is approved, of all servers that were seen.
#[derive(Default)]
pub(crate) struct PinBook(RwLock<HashMap<ServerName, Arc<Approved>>>);

/// What is approved of the tools of one server; of none, where it was seen without any.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Approved {
    /// The definitions.
    pub(crate) pins: Arc<Pins>,
    /// Since when each counts.
    pub(crate) since: BTreeMap<Arc<str>, Timestamp>,
}

/// What is approved of one server at once.
#[derive(Default)]
pub(crate) struct Batch {
    /// The tools whose definitions of now are approved.
    pub(crate) approved: Vec<(Arc<str>, Pin)>,
    /// Those that are gone, and forgotten.
    pub(crate) forgotten: Vec<Arc<str>>,
}

impl PinBook {
    /// What was stored.
    pub(crate) fn new(stored: Vec<SavedPins>) -> Self {
        let book = Self::default();
        book.replace(stored);
        book
    }

    /// What is approved of a server; nothing if it was never seen.
    pub(crate) fn of(&self, server: &ServerName) -> Option<Arc<Approved>> {
        self.0.read().get(server).cloned()
    }

    /// Takes what a server shows for approved, unless it was seen before; whether it was not.
    pub(crate) fn see(&self, server: &ServerName, first: &Arc<Approved>) -> bool {
        let mut book = self.0.write();
        let is_first = !book.contains_key(server);
        book.entry(server.clone()).or_insert_with(|| first.clone());
        is_first
    }

    /// Takes these definitions for approved since `now`, and forgets others.
    pub(crate) fn approve(&self, server: &ServerName, batch: &Batch, now: Timestamp) {
        let mut book = self.0.write();
        let known = book.entry(server.clone()).or_default();
        let mut changed = (**known).clone();
        let pins = Arc::make_mut(&mut changed.pins);
        for tool in &batch.forgotten {
            pins.remove(tool);
            changed.since.remove(tool);
        }
        for (tool, pin) in &batch.approved {
            pins.put(tool.clone(), pin.clone());
            changed.since.insert(tool.clone(), now);
        }
        *known = Arc::new(changed);
    }

    /// Takes over what is stored now; whether anything differs. What was seen just now may not be
    /// stored yet, so what the store does not have stays.
    pub(crate) fn replace(&self, stored: Vec<SavedPins>) -> bool {
        let mut book = self.0.write();
        let mut differs = false;
        for saved in stored {
            let Ok(server) = saved.server.parse() else {
                continue;
            };
            let known = book.get(&server);
            if known.is_some_and(|known| known.is_stored_as(&saved)) {
                continue;
            }
            let approved = Approved::stored(saved);
            if known.is_none_or(|known| **known != approved) {
                book.insert(server, Arc::new(approved));
                differs = true;
            }
        }
        differs
    }
}

impl Approved {
    /// All of what a server shows, approved now.
    pub(crate) fn now(pins: Pins) -> Self {
        let now = Timestamp::now();
        let since = pins.iter().map(|(tool, _)| (tool.clone(), now)).collect();
        let pins = Arc::new(pins);
        Self { pins, since }
    }

    fn stored(saved: SavedPins) -> Self {
        let (mut pins, mut since) = (Pins::default(), BTreeMap::new());
        for SavedPin { tool, definition, at } in saved.tools {
            let tool: Arc<str> = tool.into();
            pins.put(tool.clone(), Pin::stored(definition));
            since.insert(tool, at);
        }
        let pins = Arc::new(pins);
        Self { pins, since }
    }

    /// Whether this is what is stored, to the letter: that is seen without reading the definitions.
    fn is_stored_as(&self, saved: &SavedPins) -> bool {
        let is_known = |pin: &SavedPin| {
            let known = self.pins.get(&pin.tool);
            known.is_some_and(|known| known.definition.as_str() == pin.definition)
                && self.since.get(&*pin.tool) == Some(&pin.at)
        };
        saved.tools.len() == self.pins.len() && saved.tools.iter().all(is_known)
    }

    /// How it is stored.
    pub(crate) fn to_stored(&self, server: &ServerName) -> SavedPins {
        let saved = |(tool, pin): (&Arc<str>, &Pin)| saved(tool, pin, self.since[tool]);
        SavedPins {
            server: server.to_string(),
            tools: self.pins.iter().map(saved).collect(),
        }
    }
}

/// Why a tool is held back.
pub(crate) fn why_held(deviation: Deviation) -> &'static str {
    match deviation {
        Deviation::New => {
            "held back: it is new since the tools of its server were approved; `mcpr-ctl pins diff` shows it"
        }
        Deviation::Changed | Deviation::Removed => {
            "held back: its definition has changed since it was approved; `mcpr-ctl pins diff` shows how"
        }
    }
}

/// How one definition is stored.
pub(crate) fn saved(tool: &str, pin: &Pin, at: Timestamp) -> SavedPin {
    SavedPin {
        tool: tool.to_owned(),
        definition: pin.definition.as_str().to_owned(),
        at,
    }
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::RawJson;

    use super::*;

    fn server() -> ServerName {
        "git".parse().unwrap()
    }

    fn shown(description: &'static str) -> Arc<Approved> {
        let mut pins = Pins::default();
        pins.put("push".into(), Pin::new(RawJson::from_static(description)));
        Arc::new(Approved::now(pins))
    }

    #[test]
    fn pins_what_a_server_shows_first_counts_until_it_is_replaced() {
        let (book, git) = (PinBook::default(), server());
        let (first, second) = (shown("1"), shown("2"));

        assert!(book.see(&git, &first) && !book.see(&git, &second));
        assert_eq!(book.of(&git), Some(first.clone()));

        assert!(!book.replace(vec![first.to_stored(&git)]), "it is the same");
        assert!(!book.replace(Vec::new()), "it may not be stored yet");
        assert!(book.replace(vec![second.to_stored(&git)]));
        assert_eq!(book.of(&git), Some(second));
    }

    #[test]
    fn pins_approving_replaces_single_definitions_and_forgets_others() {
        let (book, git) = (PinBook::default(), server());
        book.see(&git, &shown("1"));

        let batch = Batch {
            approved: vec![("pull".into(), Pin::new(RawJson::from_static("3")))],
            forgotten: vec!["push".into()],
        };
        book.approve(&git, &batch, Timestamp::from_unix(7));

        let approved = book.of(&git).unwrap();
        assert_eq!(approved.pins.get("pull").unwrap().definition.as_str(), "3");
        assert!(approved.pins.get("push").is_none() && approved.since.len() == 1);
        assert_eq!(approved.since["pull"], Timestamp::from_unix(7));
    }

    #[test]
    fn pins_a_stored_definition_that_cannot_be_read_differs_once() {
        let (book, git) = (PinBook::default(), server());
        let damaged = || {
            let mut stored = shown("1").to_stored(&git);
            stored.tools[0].definition = "{".to_owned();
            stored.tools[0].at = Timestamp::from_unix(7);
            vec![stored]
        };

        assert!(book.replace(damaged()));
        assert!(!book.replace(damaged()), "what it is read as is the same");
    }
}
