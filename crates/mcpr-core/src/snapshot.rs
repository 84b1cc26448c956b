//! What the gateway offers at one moment: one immutable value, swapped as a whole.

use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use bytes::{Bytes, BytesMut};
use mcpr_bridge::{Identity, discover_result};
use mcpr_protocol::{Era, RawJson, key};
use mcpr_registry::{Kind, ServerState, States, View};

/// How long a stateless client may keep a list: mcpr announces changes, so this only bounds what
/// a client without a stream of notices misses.
const FRESH_FOR_MS: u32 = 30_000;

/// One generation of the catalog as clients see it.
pub(crate) struct Snapshot {
    /// The count of the servers' changes up to which it goes.
    pub(crate) as_of: u64,
    /// What lists show: not the items of servers that are down.
    pub(crate) listed: View,
    /// What requests can name: the items of servers that are down too, so that a call says that
    /// the server is down, and not that the tool never was (AGG-08).
    pub(crate) known: View,
    /// Who the gateway is, with the instructions for models.
    pub(crate) identity: Identity,
    /// How each server is.
    pub(crate) states: States,
    /// What tells a changed list from an unchanged one.
    pub(crate) stamps: Stamps,
    lists: [[OnceLock<Bytes>; 2]; 4],
    discovery: OnceLock<Bytes>,
}

/// A mark for each kind of list; it differs when a client should hear of a change (AGG-10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stamps([Stamp; 3]);

/// The content of a list, and how often servers announced a change of it, equal or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stamp {
    content: u64,
    announced: u64,
}

impl Snapshot {
    /// `announced` counts the servers' own notices: tools, prompts, resources.
    pub(crate) fn new(
        as_of: u64,
        listed: View,
        known: View,
        identity: Identity,
        states: States,
        announced: [u64; 3],
    ) -> Self {
        let stamps = Stamps::of(&listed, announced);
        Self {
            as_of,
            listed,
            known,
            identity,
            states,
            stamps,
            lists: Default::default(),
            discovery: OnceLock::new(),
        }
    }

    /// The result of a list request, rendered once.
    pub(crate) fn list(&self, kind: Kind, era: Era) -> Bytes {
        let cell = &self.lists[kind as usize][usize::from(era == Era::Stateless)];
        cell.get_or_init(|| self.render(kind, era)).clone()
    }

    /// The result of `server/discover`, rendered once.
    pub(crate) fn discovery(&self) -> Bytes {
        self.discovery
            .get_or_init(|| discover_result(&self.identity).into_bytes())
            .clone()
    }

    fn render(&self, kind: Kind, era: Era) -> Bytes {
        let items = self.listed.list(kind, era);
        let states = self.states.render();
        let mut text = BytesMut::with_capacity(items.len() + states.as_bytes().len() + 160);
        text.extend_from_slice(format!("{{\"{}\":", kind.member()).as_bytes());
        text.extend_from_slice(&items);
        text.extend_from_slice(format!(",\"_meta\":{{\"{}\":", key::SERVERS).as_bytes());
        text.extend_from_slice(states.as_bytes());
        text.extend_from_slice(b"}");
        if era == Era::Stateless {
            let ttl = self.fresh_for();
            let tail = format!(",\"resultType\":\"complete\",\"ttlMs\":{ttl},\"cacheScope\":\"private\"");
            text.extend_from_slice(tail.as_bytes());
        }
        text.extend_from_slice(b"}");
        RawJson::trusted(text.freeze()).into_bytes()
    }

    /// A list that is about to grow is stale at once.
    fn fresh_for(&self) -> u32 {
        let settled = self
            .states
            .iter()
            .all(|(_, state, _)| !matches!(state, ServerState::Starting | ServerState::Stale));
        if settled { FRESH_FOR_MS } else { 0 }
    }
}

impl Stamps {
    fn of(listed: &View, announced: [u64; 3]) -> Self {
        let content = |kinds: &[Kind]| {
            let mut hash = DefaultHasher::new();
            kinds
                .iter()
                .for_each(|kind| hash.write(&listed.list(*kind, Era::Session)));
            hash.finish()
        };
        let contents = [
            content(&[Kind::Tools]),
            content(&[Kind::Prompts]),
            content(&[Kind::Resources, Kind::Templates]),
        ];
        Self(std::array::from_fn(|index| Stamp {
            content: contents[index],
            announced: announced[index],
        }))
    }

    /// The kinds of lists that differ; resources stand for templates too.
    pub(crate) fn changed_since(&self, before: &Stamps) -> impl Iterator<Item = Kind> {
        let differs = std::array::from_fn::<bool, 3, _>(|index| self.0[index] != before.0[index]);
        [Kind::Tools, Kind::Prompts, Kind::Resources]
            .into_iter()
            .zip(differs)
            .filter(|(_, differs)| *differs)
            .map(|(kind, _)| kind)
    }
}
