//! What a toolset comes to now: its tools, and how their definitions have changed (SET-10).

use std::collections::{BTreeMap, HashSet};

use mcpr_admin::{DefinitionState, ToolState, ToolsetDetail, ToolsetEntry, ToolsetReport, ToolsetTool};
use mcpr_config::KeptAway;
use mcpr_protocol::RawJson;
use mcpr_registry::{
    Change, Deviation, Selection, ServerState, Tool, compare, definition_hash, server_and_tool,
};
use mcpr_store::{Definition, StoreError};

use super::{Asker, Toolset};
use crate::gateway::Gateway;
use crate::pins::why_held;
use crate::plan::Standing;
use crate::scope::Scope;
use crate::sight::Sight;
use crate::snapshot::Snapshot;

/// Why a tool is not there that may well be.
pub(super) const OUT_OF_SCOPE: &str = "it is outside of what this token or project allows";

/// A tool that an entry of a toolset means, or an entry that means none.
enum Meant<'s> {
    Tool(&'s Tool),
    Nothing(&'s str),
}

/// Who is told of a toolset: an operator of all of it, others of nothing that their token and project keep
/// from them, not even by its name.
struct Audience<'a> {
    snapshot: &'a Snapshot,
    /// What can be equipped.
    sight: &'a Sight,
    scope: &'a Scope,
    operator: bool,
    /// Whether it is who wrote the entries.
    author: bool,
}

impl Gateway {
    /// A toolset in short.
    pub(crate) fn report(&self, asker: &Asker, toolset: &Toolset) -> ToolsetReport {
        let sight = self.snapshot().sight(&asker.reach(self));
        let tools = sight.reachable.select(&toolset.selection);
        let own = self.toolsets.worn(asker.principal.key());
        let wears = own.is_some_and(|worn| worn.owner == toolset.owner && worn.name == toolset.name);
        ToolsetReport {
            name: toolset.name.to_string(),
            owner: toolset.owner.to_string(),
            from_file: toolset.from_file,
            description: toolset.description.clone(),
            entries: toolset.selection.names().len() as u64,
            tools: Some(tools.tools().count() as u64),
            estimated_tokens: Some(tools.tools().map(Tool::tokens).sum()),
            equipped: wears,
            equipped_by: match asker.operator {
                true => self.toolsets.wearers(toolset),
                false => Vec::new(),
            },
        }
    }

    /// All about a toolset, for those who see as a scope says.
    pub(crate) async fn detail(
        &self,
        asker: &Asker,
        toolset: &Toolset,
        scope: &Scope,
        with_hashes: bool,
    ) -> Result<ToolsetDetail, StoreError> {
        let before = self.definitions_before(toolset).await?;
        let snapshot = self.snapshot();
        let audience = Audience {
            sight: &snapshot.sight(&scope.unchosen()),
            snapshot: &snapshot,
            scope,
            operator: asker.operator,
            author: *toolset.owner == *asker.owner(),
        };
        let names = toolset.selection.names().iter();
        let hash = |name: &str| toolset.pins.get(name).filter(|_| with_hashes).cloned();
        let entry = |name: &str| ToolsetEntry {
            namespaced_name: name.to_string(),
            definition_hash: hash(name),
        };
        Ok(ToolsetDetail {
            toolset: self.report(asker, toolset),
            entries: names
                .filter(|name| audience.hears_of(name))
                .map(|name| entry(name))
                .collect(),
            tools: audience.tools_of(toolset, &before),
        })
    }

    /// The definitions that a toolset was made with and that have changed since, by hash.
    async fn definitions_before(&self, toolset: &Toolset) -> Result<BTreeMap<String, RawJson>, StoreError> {
        let snapshot = self.snapshot();
        let changed = toolset.pins.iter().filter(|(name, hash)| {
            let now = snapshot.all.tool_by_origin(name);
            now.is_some_and(|tool| definition_hash(&tool.definition) != **hash)
        });
        let hashes: Vec<String> = changed.map(|(_, hash)| hash.clone()).collect();
        if hashes.is_empty() {
            return Ok(BTreeMap::new());
        }
        let stored = self.store.definitions(hashes).await?;
        let read = |stored: Definition| Some((stored.hash, RawJson::parse(stored.body.into()).ok()?));
        Ok(stored.into_iter().filter_map(read).collect())
    }
}

impl Audience<'_> {
    /// The tools of a toolset one by one, and what of it means none.
    fn tools_of(&self, toolset: &Toolset, before: &BTreeMap<String, RawJson>) -> Vec<ToolsetTool> {
        let told = |meant| match meant {
            Meant::Nothing(entry) => self.hears_of(entry).then(|| self.nothing(entry)),
            Meant::Tool(tool) => {
                let (state, reason) = usable(self.snapshot, self.sight, tool);
                let (definition, changes) = compared(toolset, tool, before);
                Some(ToolsetTool {
                    namespaced_name: tool.origin.to_string(),
                    exposed_name: Some(tool.exposed.to_string()),
                    state,
                    reason,
                    definition,
                    changes,
                    estimated_tokens: Some(tool.tokens()),
                })
            }
        };
        self.meant(&toolset.selection)
            .into_iter()
            .filter_map(told)
            .collect()
    }

    /// The tools that a selection means to these, in its order, each once.
    fn meant<'s>(&'s self, selection: &'s Selection) -> Vec<Meant<'s>> {
        let all_tools = &self.snapshot.all;
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for name in selection.names() {
            if !Selection::is_pattern(name) {
                // Two origins can read the same; the one in reach is meant.
                let reachable = self.sight.reachable.tool_by_origin(name);
                let any = || all_tools.tool_by_origin(name).filter(|tool| self.knows(tool));
                match reachable.or_else(any) {
                    Some(tool) if seen.insert(tool.origin.clone()) => all.push(Meant::Tool(tool)),
                    Some(_) => {}
                    None => all.push(Meant::Nothing(name)),
                }
                continue;
            }
            let one = Selection::new([name]);
            let fits = |tool: &&Tool| one.matches(&tool.origin) && self.knows(tool);
            let mut any = false;
            for tool in all_tools.tools().filter(fits) {
                any = true;
                if seen.insert(tool.origin.clone()) {
                    all.push(Meant::Tool(tool));
                }
            }
            if !any {
                all.push(Meant::Nothing(name));
            }
        }
        all
    }

    /// Whether a tool may be told of.
    fn knows(&self, tool: &Tool) -> bool {
        let (server, name) = (tool.origin.server.as_str(), tool.origin.to_string());
        self.operator || self.sight.sees(server) && self.scope.allows(&name)
    }

    /// Whether an entry may be told of: who wrote it has it already.
    fn hears_of(&self, entry: &str) -> bool {
        self.author || self.reaches(entry)
    }

    /// Whether an entry is about what is in scope, be there such a tool or not.
    fn reaches(&self, entry: &str) -> bool {
        if self.operator {
            return true;
        }
        let one = Selection::new([entry]);
        let in_sight = || {
            let mut entries = self.snapshot.plan.entries();
            entries.any(|known| self.sight.sees(known.name.as_str()) && one.concerns(&known.name))
        };
        let allowed = || match Selection::is_pattern(entry) {
            _ if self.scope.has_every_tool() => true,
            false => self.scope.allows(entry),
            // What it would fit may be narrower than it is itself.
            true => {
                let mut tools = self.snapshot.all.tools();
                tools.any(|tool| one.matches(&tool.origin) && self.knows(tool))
            }
        };
        (self.scope.is_everywhere() || in_sight()) && allowed()
    }

    /// What is told of an entry that no tool fits.
    fn nothing(&self, entry: &str) -> ToolsetTool {
        let (state, reason) = match self.reaches(entry) {
            true => absent(self.snapshot, self.sight, entry),
            false => (ToolState::OutOfScope, OUT_OF_SCOPE.to_owned()),
        };
        ToolsetTool {
            namespaced_name: entry.to_owned(),
            exposed_name: None,
            state,
            reason: Some(reason),
            definition: DefinitionState::Missing,
            changes: Vec::new(),
            estimated_tokens: None,
        }
    }
}

/// Whether a tool that is there can be used in a sight, and why not.
fn usable(snapshot: &Snapshot, sight: &Sight, tool: &Tool) -> (ToolState, Option<String>) {
    let name = tool.origin.to_string();
    let server = &tool.origin.server;
    if snapshot.known.tool_by_origin(&name).is_none() {
        return (ToolState::Disabled, Some("an operator has turned it off".into()));
    }
    if sight.reachable.tool_by_origin(&name).is_none() {
        return (ToolState::OutOfScope, Some(OUT_OF_SCOPE.into()));
    }
    if snapshot.listed.tool_by_origin(&name).is_none() {
        let reason = snapshot
            .servers
            .iter()
            .find(|seen| seen.name == *server)
            .and_then(|seen| seen.state.clone());
        return (
            ToolState::Unavailable,
            Some(why_unavailable(server.as_str(), reason)),
        );
    }
    (ToolState::Registered, None)
}

fn why_unavailable(server: &str, state: Option<(ServerState, Option<String>)>) -> String {
    match state {
        Some((state, Some(reason))) => format!("server `{server}` is {state}: {reason}"),
        Some((state, None)) => format!("server `{server}` is {state}"),
        None => format!("server `{server}` is not there"),
    }
}

/// Why there is no tool of that name for those who see this; servers out of sight are as good as none.
pub(crate) fn absent(snapshot: &Snapshot, sight: &Sight, name: &str) -> (ToolState, String) {
    if Selection::is_pattern(name) {
        return (ToolState::Missing, "it fits no tool now".into());
    }
    let plan = &snapshot.plan;
    let seen = plan.servers.keys().filter(|server| sight.sees(server.as_str()));
    let Some((server, tool)) = server_and_tool(name, seen) else {
        return (ToolState::Missing, "no server of that name is configured".into());
    };
    let entry = &plan.servers[server];
    match plan.standing(entry) {
        Standing::SwitchedOff => {
            return (
                ToolState::Disabled,
                format!("an operator has turned server `{server}` off"),
            );
        }
        Standing::OffInFile => {
            return (
                ToolState::Disabled,
                format!("server `{server}` is disabled in the configuration"),
            );
        }
        Standing::Misconfigured(fault) => {
            return (
                ToolState::Unavailable,
                format!("server `{server}` is misconfigured: {}", fault.reason()),
            );
        }
        Standing::On(_) => {}
    }
    match entry
        .tools
        .patterns()
        .and_then(|patterns| patterns.keeps_away(tool))
    {
        Some(KeptAway::Denied(pattern)) => {
            return (
                ToolState::Disabled,
                format!("`tools.deny` of server `{server}` has `{pattern}`"),
            );
        }
        Some(KeptAway::NotAllowed) => {
            return (
                ToolState::Disabled,
                format!("`tools.allow` of server `{server}` does not have it"),
            );
        }
        None => {}
    }
    if snapshot.held.tool_by_origin(name).is_some() {
        return (ToolState::Unavailable, why_held(Deviation::Changed).into());
    }
    let judged = snapshot.judged(server);
    if judged.is_some_and(|judged| judged.keeps_out(tool)) {
        return (ToolState::Unavailable, why_held(Deviation::New).into());
    }
    let is_off = snapshot.all.tool_by_origin(name).is_some() && snapshot.known.tool_by_origin(name).is_none();
    if is_off {
        return (ToolState::Disabled, "an operator has turned it off".into());
    }
    let seen = snapshot.servers.iter().find(|seen| seen.name == *server);
    let state = seen.and_then(|seen| seen.state.clone());
    match state {
        Some((ServerState::Ok, _)) => (
            ToolState::Missing,
            format!("server `{server}` has no tool `{tool}`"),
        ),
        other => (ToolState::Unavailable, why_unavailable(server.as_str(), other)),
    }
}

/// How the definition of a tool compares with the one that the toolset was made with.
fn compared(
    toolset: &Toolset,
    tool: &Tool,
    before: &BTreeMap<String, RawJson>,
) -> (DefinitionState, Vec<String>) {
    let unchanged = (DefinitionState::Unchanged, Vec::new());
    let Some(pinned) = toolset.pins.get(&tool.origin.to_string()) else {
        return unchanged;
    };
    if definition_hash(&tool.definition) == *pinned {
        return unchanged;
    }
    match before.get(pinned).map(|before| compare(before, &tool.definition)) {
        Some(Change::Unchanged) => unchanged,
        Some(Change::Compatible(changes)) => (DefinitionState::Compatible, changes),
        Some(Change::Breaking(changes)) => (DefinitionState::Breaking, changes),
        None => {
            let unknown = "its definition differs from the one whose hash was imported";
            (DefinitionState::Breaking, vec![unknown.into()])
        }
    }
}
