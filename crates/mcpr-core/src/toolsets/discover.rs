//! Discovery: what there is to choose from, whatever is equipped (SET-01).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcpr_admin::{Detail, DiscoverTools, Discovered, DiscoveredTool, ErrorCode, Failure};
use mcpr_protocol::Era;
use mcpr_registry::{ServerState, Tool, nearest};

use super::signature::{description, first_sentence};
use super::{Asker, Toolset, ToolsetError};
use crate::gateway::Gateway;
use crate::sight::Sight;
use crate::snapshot::Snapshot;

/// How many tools are told at once where nothing is said.
const PAGE: u64 = 100;
/// At the most.
const MOST: u64 = 1000;
/// How many different words a query may have: each is looked for in all tools.
const WORDS: usize = 64;

impl Gateway {
    /// The tools that there are to choose from.
    pub(crate) fn discover(&self, asker: &Asker, asked: &DiscoverTools) -> Result<Discovered, ToolsetError> {
        let (snapshot, sight) = (self.snapshot(), asker.sight(self));
        check_server(&snapshot, &sight, asked.server.as_deref())?;
        let words = words(asked.query.as_deref().unwrap_or_default())?;
        let fits = |tool: &&Tool| {
            let of_server = asked
                .server
                .as_deref()
                .is_none_or(|server| tool.origin.server.as_str() == server);
            of_server && mentions(tool, &words)
        };
        let fitting: Vec<&Tool> = sight.reachable.tools().filter(fits).collect();
        let from = match &asked.cursor {
            None => 0,
            Some(cursor) => place_behind(&fitting, cursor)?,
        };
        let limit = asked.limit.unwrap_or(PAGE).clamp(1, MOST);
        let page: Vec<&Tool> = fitting[from..].iter().take(limit as usize).copied().collect();
        let more = from + page.len() < fitting.len();
        let toolsets = asker.toolsets(self);
        let detail = asked.detail.unwrap_or_default();
        Ok(Discovered {
            next_cursor: page.last().filter(|_| more).map(|last| last.origin.to_string()),
            tools: page
                .iter()
                .map(|tool| told(tool, &sight, &toolsets, detail))
                .collect(),
            total: fitting.len() as u64,
            estimated_tokens: fitting.iter().map(|tool| tool.tokens()).sum(),
            unavailable: unavailable(&snapshot, &sight),
        })
    }
}

/// A filter by a server that is not there is a mistake, not an empty list.
fn check_server(snapshot: &Snapshot, sight: &Sight, server: Option<&str>) -> Result<(), ToolsetError> {
    let Some(name) = server else { return Ok(()) };
    let visible = |seen: &&str| sight.sees(seen);
    let known: Vec<&str> = snapshot
        .servers
        .iter()
        .map(|seen| seen.name.as_str())
        .filter(visible)
        .collect();
    if known.contains(&name) {
        return Ok(());
    }
    let failure = Failure::new(ErrorCode::NotFound, format!("there is no server `{name}`"));
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", known.join(", ")),
    };
    Err(failure.hint(hint).into())
}

/// The words of a query, each once.
fn words(query: &str) -> Result<BTreeSet<String>, ToolsetError> {
    let words: BTreeSet<String> = query.split_whitespace().map(str::to_lowercase).collect();
    if words.len() > WORDS {
        let many = format!("`query` has {} different words, more than {WORDS}", words.len());
        return Err(Failure::new(ErrorCode::Invalid, many)
            .hint("ask for fewer")
            .into());
    }
    Ok(words)
}

fn mentions(tool: &Tool, words: &BTreeSet<String>) -> bool {
    if words.is_empty() {
        return true;
    }
    let does = description(tool).unwrap_or_default();
    let title = tool.title().unwrap_or_default();
    let text = format!("{} {} {title} {does}", tool.origin, tool.exposed).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn place_behind(tools: &[&Tool], cursor: &str) -> Result<usize, ToolsetError> {
    let place = tools.iter().position(|tool| tool.origin.to_string() == cursor);
    let wrong =
        || Failure::new(ErrorCode::Invalid, "`cursor` is of another list").hint("start again without one");
    Ok(place.ok_or_else(wrong)? + 1)
}

fn told(tool: &Tool, sight: &Sight, toolsets: &[Arc<Toolset>], detail: Detail) -> DiscoveredTool {
    let does = || description(tool);
    let holds = |toolset: &&Arc<Toolset>| toolset.selection.matches(&tool.origin);
    let name = tool.origin.to_string();
    DiscoveredTool {
        exposed_name: tool.exposed.to_string(),
        description: match detail {
            Detail::Names => None,
            Detail::Summary => does().map(|text| first_sentence(&text)),
            Detail::Full => does(),
        },
        estimated_tokens: tool.tokens(),
        registered: sight.listed.tool_by_origin(&name).is_some(),
        toolsets: toolsets
            .iter()
            .filter(holds)
            .map(|toolset| toolset.name.to_string())
            .collect(),
        definition: (detail == Detail::Full).then(|| tool.rendered(Era::Session).clone()),
        namespaced_name: name,
    }
}

/// The servers of which tools may be missing.
fn unavailable(snapshot: &Snapshot, sight: &Sight) -> BTreeMap<String, String> {
    let servers = snapshot
        .servers
        .iter()
        .filter(|seen| sight.sees(seen.name.as_str()));
    let told = servers.filter_map(|seen| {
        let (state, reason) = seen.state.as_ref()?;
        let reason = || {
            reason
                .as_ref()
                .map_or_else(String::new, |reason| format!(": {reason}"))
        };
        (*state != ServerState::Ok && *state != ServerState::Stale)
            .then(|| (seen.name.to_string(), format!("{state}{}", reason())))
    });
    told.collect()
}
