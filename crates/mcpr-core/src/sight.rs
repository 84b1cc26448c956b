//! What callers of one scope see of a snapshot.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use foldhash::HashMap;
use mcpr_bridge::{Identity, discover_result};
use mcpr_protocol::{RawJson, key};
use mcpr_registry::{Kind, Selection, ServerName, States, View};
use mcpr_upstream::Freshness;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::builtins;
use crate::pages::Pages;
use crate::scope::{Choice, Limit, Scope, Within};
use crate::snapshot::{ServerSeen, Snapshot, Stamps};
use crate::toolsets::Toolset;

/// How many scopes are kept of one snapshot; one more lets an older one go.
const KEPT: usize = 256;

/// What callers of one scope see: what it holds is rendered once for all of them.
pub(crate) struct Sight {
    /// What lists show.
    pub(crate) listed: View,
    /// What requests can name.
    pub(crate) known: View,
    /// What could be equipped: the same without a choice of tools.
    pub(crate) reachable: View,
    /// The tools that are held back.
    pub(crate) held: View,
    /// Who the gateway is, with the instructions for models.
    pub(crate) identity: Identity,
    /// The same as results say it.
    pub(crate) server_info: RawJson,
    /// What tells a changed list from an unchanged one.
    pub(crate) stamps: Stamps,
    /// What clients get when they list.
    pub(crate) pages: Pages,
    /// Whether the built-in tools are there.
    pub(crate) builtins: bool,
    /// A server that starts and whose tools are not known yet, if there is one.
    pub(crate) unheard: Option<ServerName>,
    /// The servers in sight; `None` for all.
    members: Option<BTreeSet<ServerName>>,
    /// What lists say of the servers behind them.
    notes: RawJson,
    discovery: OnceLock<Bytes>,
}

/// The sights of one snapshot that somebody asked for.
#[derive(Default)]
pub(crate) struct Sights(Mutex<HashMap<Scope, Arc<Sight>>>);

impl Sights {
    /// The sight of a scope.
    pub(crate) fn of(&self, scope: &Scope, make: impl FnOnce() -> Sight) -> Arc<Sight> {
        if let Some(sight) = self.0.lock().get(scope) {
            return sight.clone();
        }
        // Made outside of the lock: two who come at once may both make it, and share the first.
        let made = Arc::new(make());
        let mut sights = self.0.lock();
        if sights.len() >= KEPT
            && let Some(any) = sights.keys().next().cloned()
        {
            sights.remove(&any);
        }
        sights.entry(scope.clone()).or_insert(made).clone()
    }

    /// Lets go what was made for a toolset.
    pub(crate) fn forget(&self, toolset: &Toolset) {
        self.0.lock().retain(|scope, _| !scope.uses(toolset));
    }
}

impl Sight {
    pub(crate) fn new(snapshot: &Snapshot, scope: &Scope) -> Self {
        let members = members(snapshot, scope);
        let sees = |server: &ServerName| members.as_ref().is_none_or(|members| members.contains(server));
        let within = |view: &View| match &members {
            None => view.clone(),
            Some(_) => view.only_servers(sees),
        };
        let (all_listed, all_known) = (within(&snapshot.listed), within(&snapshot.known));
        let only = scope.allowed.tools();
        let only = only.as_ref();
        let listed = narrowed(&all_listed, scope, only);
        let servers = || snapshot.servers.iter().filter(|seen| sees(&seen.name));
        let fresh = Kind::ALL.map(|kind| fresh(servers(), kind));
        let pages = Pages::new(&listed, fresh, snapshot.plan.options.limits.page_size);
        let stamps = Stamps::new(pages.generations(), announced(servers(), scope, only));
        let unheard = servers().find(|seen| seen.is_unheard() && concerns(scope, only, &seen.name));
        Self {
            known: narrowed(&all_known, scope, only),
            reachable: narrowed(&all_known, &scope.unchosen(), only),
            held: narrowed(&within(&snapshot.held), &scope.unchosen(), only),
            listed,
            identity: snapshot.identity(sees),
            server_info: snapshot.server_info.clone(),
            stamps,
            pages,
            builtins: snapshot.plan.options.builtins,
            unheard: unheard.map(|seen| seen.name.clone()),
            notes: notes(servers(), scope),
            members: members.clone(),
            discovery: OnceLock::new(),
        }
    }

    /// The result of `server/discover`, rendered once.
    pub(crate) fn discovery(&self) -> Bytes {
        self.discovery
            .get_or_init(|| discover_result(&self.identity).into_bytes())
            .clone()
    }

    /// Whether a server is in sight.
    pub(crate) fn sees(&self, server: &str) -> bool {
        let named = |members: &BTreeSet<ServerName>| members.iter().any(|name| name.as_str() == server);
        self.members.as_ref().is_none_or(named)
    }

    /// The texts of the built-in tools, one behind the other, in front of a list of tools.
    pub(crate) fn builtin_texts(&self, kind: Kind) -> &'static [u8] {
        match kind {
            Kind::Tools if self.builtins => builtins::listed(),
            _ => b"",
        }
    }

    /// The members of a list's `_meta` that say what is behind it.
    pub(crate) fn notes(&self) -> &[u8] {
        let text = self.notes.as_bytes();
        &text[1..text.len() - 1]
    }
}

/// The servers in sight; `None` for all.
fn members(snapshot: &Snapshot, scope: &Scope) -> Option<BTreeSet<ServerName>> {
    if scope.is_everywhere() {
        return None;
    }
    let mut members = match &scope.within {
        Within::Everything => snapshot.plan.entries().map(|entry| entry.name.clone()).collect(),
        Within::Project(name) => snapshot.members(name),
        Within::Unknown => BTreeSet::new(),
    };
    members.retain(|server| scope.allowed.has_server(server.as_str()));
    Some(members)
}

/// The tools of a view that a scope leaves, of those that its token lists.
fn narrowed(view: &View, scope: &Scope, only: Option<&Selection>) -> View {
    let allowed = only.map(|only| view.select(only));
    let view = allowed.as_ref().unwrap_or(view);
    let limited = match &scope.limit {
        Limit::None => None,
        Limit::To(toolset) => Some(view.select(&toolset.selection)),
        Limit::Unknown => Some(view.without_tools()),
    };
    let view = limited.as_ref().unwrap_or(view);
    match &scope.choice {
        Choice::All => view.clone(),
        Choice::Only(toolset) => view.select(&toolset.selection),
        Choice::BuiltIns | Choice::Unknown => view.without_tools(),
    }
}

/// How long the list of all servers holds: as long as each of theirs (`protocol.md` 14.10). One
/// that is about to grow is stale at once.
fn fresh<'s>(servers: impl Iterator<Item = &'s ServerSeen>, kind: Kind) -> Freshness {
    let mut all = Freshness::ANNOUNCED;
    let mut any = false;
    for seen in servers {
        if seen.is_growing() {
            return Freshness::STALE;
        }
        if let Some(fresh) = seen.fresh[kind as usize].filter(|_| !seen.down) {
            all = if any { all.and(fresh) } else { fresh };
            any = true;
        }
    }
    all
}

/// How often servers have announced changes that concern this scope (AGG-10).
fn announced<'s>(
    servers: impl Iterator<Item = &'s ServerSeen>,
    scope: &Scope,
    only: Option<&Selection>,
) -> [u64; 3] {
    servers.fold([0; 3], |[tools, prompts, resources], seen| {
        let own = seen.announced;
        let of_tools = if concerns(scope, only, &seen.name) {
            own[0]
        } else {
            0
        };
        [tools + of_tools, prompts + own[1], resources + own[2]]
    })
}

/// Whether tools of a server can be among those of a scope.
fn concerns(scope: &Scope, only: Option<&Selection>, server: &ServerName) -> bool {
    let limited = match &scope.limit {
        Limit::None => true,
        Limit::To(toolset) => toolset.selection.concerns(server),
        Limit::Unknown => false,
    };
    limited
        && only.is_none_or(|only| only.concerns(server))
        && match &scope.choice {
            Choice::All => true,
            Choice::Only(toolset) => toolset.selection.concerns(server),
            Choice::BuiltIns | Choice::Unknown => false,
        }
}

/// What a list says of what is behind it (AGG-12, PRJ-03).
fn notes<'s>(servers: impl Iterator<Item = &'s ServerSeen>, scope: &Scope) -> RawJson {
    let mut states = States::new();
    for seen in servers {
        if let Some((state, reason)) = seen.state.clone() {
            states.set(seen.name.clone(), state, reason);
        }
    }
    let mut notes = Map::new();
    notes.insert(key::SERVERS.into(), json!(states));
    let unknown = || Value::from("unknown");
    if scope.within == Within::Unknown {
        notes.insert(key::PROJECT.into(), unknown());
    }
    if scope.limit == Limit::Unknown || scope.choice == Choice::Unknown {
        notes.insert(key::TOOLSET.into(), unknown());
    }
    RawJson::render(&notes)
}
