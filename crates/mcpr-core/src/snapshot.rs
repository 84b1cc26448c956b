//! What the gateway offers at one moment: one immutable value, swapped as a whole.

use std::sync::OnceLock;

use bytes::Bytes;
use mcpr_bridge::{Identity, discover_result, server_info};
use mcpr_protocol::RawJson;
use mcpr_registry::{Kind, States, View};
use mcpr_upstream::Freshness;

use crate::pages::Pages;

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
    /// The same as results say it.
    pub(crate) server_info: RawJson,
    /// How each server is.
    pub(crate) states: States,
    /// What tells a changed list from an unchanged one.
    pub(crate) stamps: Stamps,
    /// What clients get when they list.
    pub(crate) pages: Pages,
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
    /// `announced` counts the servers' own notices: tools, prompts, resources. `fresh` and
    /// `page_size` are for [`Pages`].
    pub(crate) fn new(
        as_of: u64,
        listed: View,
        known: View,
        identity: Identity,
        states: States,
        announced: [u64; 3],
        (fresh, page_size): ([Freshness; 4], Option<usize>),
    ) -> Self {
        let pages = Pages::new(&listed, fresh, page_size);
        let stamps = Stamps::of(&pages, announced);
        Self {
            as_of,
            listed,
            known,
            server_info: server_info(&identity),
            identity,
            states,
            stamps,
            pages,
            discovery: OnceLock::new(),
        }
    }

    /// The result of `server/discover`, rendered once.
    pub(crate) fn discovery(&self) -> Bytes {
        self.discovery
            .get_or_init(|| discover_result(&self.identity).into_bytes())
            .clone()
    }
}

impl Stamps {
    fn of(pages: &Pages, announced: [u64; 3]) -> Self {
        let [tools, prompts, resources, templates] = Kind::ALL.map(|kind| pages.generation(kind));
        let contents = [tools, prompts, resources ^ templates.rotate_left(1)];
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
