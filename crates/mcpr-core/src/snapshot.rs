//! What the gateway offers at one moment: one immutable value, swapped as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use mcpr_bridge::{Identity, server_info};
use mcpr_protocol::RawJson;
use mcpr_registry::{Compared, Kind, Listing, ServerName, ServerState, States, View, instructions};
use mcpr_upstream::Freshness;

use crate::plan::Plan;
use crate::scope::Scope;
use crate::sight::{Sight, Sights};
use crate::toolsets::Toolset;

/// One generation of the catalog. What one caller sees of it is a [`Sight`].
pub(crate) struct Snapshot {
    /// The count of changes up to which it goes.
    pub(crate) as_of: u64,
    /// The plan that it follows.
    pub(crate) plan: Arc<Plan>,
    /// All that servers have, with what operators have turned off.
    pub(crate) all: View,
    /// What requests can name: the items of servers that are down too, so that a call says that
    /// the server is down, and not that the tool never was (AGG-08).
    pub(crate) known: View,
    /// The tools that are held back until somebody approves them.
    pub(crate) held: View,
    /// What lists show: not the items of servers that are down.
    pub(crate) listed: View,
    /// The servers, in the order of the configuration.
    pub(crate) servers: Vec<ServerSeen>,
    /// How each of them is.
    pub(crate) states: States,
    /// Who the gateway is, in results.
    pub(crate) server_info: RawJson,
    instance: String,
    sights: Sights,
}

/// A server at the moment of a snapshot.
pub(crate) struct ServerSeen {
    pub(crate) name: ServerName,
    /// What it offers; nothing if it is not to be used.
    pub(crate) listing: Option<Listing>,
    /// How its tools compare with what is approved, where that is wanted.
    pub(crate) judged: Option<Arc<Compared>>,
    /// How it is; nothing if it is not to be used.
    pub(crate) state: Option<(ServerState, Option<String>)>,
    /// Whether its items are not listed.
    pub(crate) down: bool,
    /// How long its lists hold, by kind.
    pub(crate) fresh: [Option<Freshness>; 4],
    /// How often it has announced changes: tools, prompts, resources.
    pub(crate) announced: [u64; 3],
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

/// The views of one catalog, from all to what lists show.
pub(crate) struct Views {
    pub(crate) all: View,
    pub(crate) known: View,
    pub(crate) held: View,
    pub(crate) listed: View,
}

impl Snapshot {
    pub(crate) fn new(
        as_of: u64,
        plan: Arc<Plan>,
        views: Views,
        servers: Vec<ServerSeen>,
        instance: String,
    ) -> Self {
        let mut states = States::new();
        for seen in &servers {
            if let Some((state, reason)) = seen.state.clone() {
                states.set(seen.name.clone(), state, reason);
            }
        }
        let mut snapshot = Self {
            as_of,
            plan,
            all: views.all,
            known: views.known,
            held: views.held,
            listed: views.listed,
            servers,
            states,
            server_info: RawJson::from_static("{}"),
            instance,
            sights: Sights::default(),
        };
        snapshot.server_info = server_info(&snapshot.identity(|_| true));
        snapshot
    }

    /// What callers of a scope see; made by the first of them, and shared.
    pub(crate) fn sight(&self, scope: &Scope) -> Arc<Sight> {
        self.sights.of(scope, || Sight::new(self, scope))
    }

    /// Frees what was made for those who see a toolset that is not equipped any more (SET-12).
    pub(crate) fn forget(&self, toolset: &Toolset) {
        self.sights.forget(toolset);
    }

    /// Who the gateway is to those who see these servers, with the instructions for models.
    pub(crate) fn identity(&self, sees: impl Fn(&ServerName) -> bool) -> Identity {
        let seen = |seen: &&ServerSeen| !seen.down && sees(&seen.name);
        let listings: Vec<Listing> = self
            .servers
            .iter()
            .filter(seen)
            .filter_map(|seen| seen.listing.clone())
            .collect();
        let offers = |listing: &Listing| listing.offers.capabilities;
        Identity {
            name: "mcpr".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            instructions: instructions(&listings, &self.plan.options.naming),
            instance: self.instance.clone(),
            tasks: listings.iter().any(|listing| offers(listing).tasks),
            apps: listings.iter().any(|listing| offers(listing).apps),
        }
    }

    /// How the tools of a server compare with what is approved, where that is wanted.
    pub(crate) fn judged(&self, server: &ServerName) -> Option<&Arc<Compared>> {
        self.seen(server)?.judged.as_ref()
    }

    fn seen(&self, server: &ServerName) -> Option<&ServerSeen> {
        self.servers.iter().find(|seen| seen.name == *server)
    }

    /// The servers of a project, by its name.
    pub(crate) fn members(&self, project: &str) -> BTreeSet<ServerName> {
        let project = self.plan.projects.get(project);
        project
            .map(|project| self.plan.members(project))
            .unwrap_or_default()
    }
}

impl ServerSeen {
    /// Whether it starts and has never been listed.
    pub(crate) fn is_unheard(&self) -> bool {
        matches!(self.state, Some((ServerState::Starting, _)))
    }

    /// Whether its lists are about to grow.
    pub(crate) fn is_growing(&self) -> bool {
        let state = self.state.as_ref().map(|(state, _)| *state);
        matches!(state, Some(ServerState::Starting | ServerState::Stale))
    }
}

impl Stamps {
    /// `contents` by kind; templates share the mark of resources.
    pub(crate) fn new([tools, prompts, resources, templates]: [u64; 4], announced: [u64; 3]) -> Self {
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
