//! Named choices of tools: what there is to choose from, choices, and who sees which.

use std::collections::BTreeMap;

use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Asks what tools there are to choose from, whatever is equipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DiscoverTools {
    /// Only those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Only those with all these words in their name, title or description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// How much is told of each; by default [`Detail::Summary`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// At the most so many; by default 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Where an earlier answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// How much is told of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Its names and what it costs.
    Names,
    /// And the first sentence of its description.
    #[default]
    Summary,
    /// And its whole definition.
    Full,
}

/// Tools there are to choose from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discovered {
    /// The tools, in the order of the catalog.
    pub tools: Vec<DiscoveredTool>,
    /// How many fit in all.
    pub total: u64,
    /// What the definitions of all that fit cost a model, in tokens, roughly.
    pub estimated_tokens: u64,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Servers of which tools may be missing, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unavailable: BTreeMap<String, String>,
}

/// A tool there is to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveredTool {
    /// What a toolset calls it: `server.tool`.
    pub namespaced_name: String,
    /// What clients call it once it is equipped.
    pub exposed_name: String,
    /// What it does, as far as was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its definition costs a model, in tokens, roughly.
    pub estimated_tokens: u64,
    /// Whether the caller sees it now.
    pub registered: bool,
    /// The toolsets in the caller's reach that hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toolsets: Vec<String>,
    /// Its definition as clients get it, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<RawJson>,
}

/// One entry of a toolset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "camelCase",
    expecting = "an object with `namespacedName`"
)]
pub struct ToolsetEntry {
    /// `server.tool`; `*` stands for anything.
    pub namespaced_name: String,
    /// The hash of the definition that the toolset was made with, in an exported toolset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_hash: Option<String>,
}

/// Makes a toolset of the caller's, or replaces his own of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BuildToolset {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolsetEntry>,
}

/// Makes a toolset of the operator's, which all can equip; or replaces one, if that is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SaveToolset {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolsetEntry>,
    /// Whether one that is there is replaced; without it that is a failure.
    #[serde(default)]
    pub replace: bool,
    /// Whether names are taken that no tool has now.
    #[serde(default)]
    pub force: bool,
}

/// What came of making a toolset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Built {
    /// The toolset as it is now.
    pub toolset: ToolsetReport,
    /// Whether one of that name was there before.
    pub replaced: bool,
    /// What is worth knowing, such as patterns that fit nothing yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Asks for the toolsets in the caller's reach; an operator's reach is all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListToolsets {}

/// Toolsets, by owner and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsetList {
    /// The toolsets.
    pub toolsets: Vec<ToolsetReport>,
}

/// What there is to know about a toolset in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolsetReport {
    /// Its name.
    pub name: String,
    /// Whose it is: `operator`, or the key of a principal such as `tk_7h2k9qmd`.
    pub owner: String,
    /// Whether it stands in a configuration file, and is changed there.
    pub from_file: bool,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its entries.
    pub entries: u64,
    /// How many tools they are now; absent only without a running gateway, like the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
    /// What the definitions of these cost a model, in tokens, roughly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
    /// Whether the caller has it equipped.
    pub equipped: bool,
    /// Who has it equipped; told to operators only. `default` is everybody without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equipped_by: Vec<String>,
}

/// Asks for all about one toolset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowToolset {
    /// Its name.
    pub name: String,
    /// Whose; by default the caller's own, else the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// All there is to know about a toolset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolsetDetail {
    /// The short form.
    pub toolset: ToolsetReport,
    /// Its entries as they were written.
    pub entries: Vec<ToolsetEntry>,
    /// Its tools one by one; entries that fit none stand here too.
    pub tools: Vec<ToolsetTool>,
}

/// A tool of a toolset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolsetTool {
    /// `server.tool`, or an entry that fits none.
    pub namespaced_name: String,
    /// What clients call it, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_name: Option<String>,
    /// Whether it can be used, in one word.
    pub state: ToolState,
    /// Why it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How its definition compares with the one that the toolset was made with.
    pub definition: DefinitionState,
    /// What has changed in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// What its definition costs a model, in tokens, roughly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
}

/// Whether a tool of a toolset can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// It can.
    Registered,
    /// Its server is not there now; it appears by itself when that returns.
    Unavailable,
    /// It, or its server, is turned off.
    Disabled,
    /// It is outside of what the caller's token or project allows.
    OutOfScope,
    /// No server has it.
    Missing,
}

/// How the definition of a tool compares with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionState {
    /// It is the same.
    Unchanged,
    /// Calls that were right before still are.
    Compatible,
    /// Calls that were right before may not be any more.
    Breaking,
    /// There is none now.
    Missing,
}

/// Lets a principal see exactly the tools of a toolset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquipToolset {
    /// Its name.
    pub name: String,
    /// Who; by default the caller. `default` is everybody without one of his own. For operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// What came of equipping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Equipped {
    /// The toolset.
    pub toolset: ToolsetReport,
    /// Who sees it now.
    pub principal: String,
    /// The tools that can be called from now on.
    pub tools: Vec<Signature>,
    /// Those that cannot, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// What is worth knowing beside that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How a tool is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signature {
    /// What clients call it.
    pub name: String,
    /// `server.tool`.
    pub namespaced_name: String,
    /// Its parameters in short: `repo_path: string, max?: integer`.
    pub signature: String,
    /// The first sentence of its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A tool that is not registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// `server.tool`, or an entry that fits none.
    pub namespaced_name: String,
    /// Why.
    pub reason: String,
}

/// Takes a principal's toolset away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnequipToolset {
    /// Who; by default the caller. For operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unequipped {
    /// The toolset that was equipped before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// Whose.
    pub principal: String,
}

/// Asks which toolset a principal sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActiveToolset {
    /// Who; by default the caller. For operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// Which toolset a principal sees, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Active {
    /// Who.
    pub principal: String,
    /// What decides.
    pub by: ActiveBy,
    /// The toolset, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<ToolsetDetail>,
}

/// What decides which tools a principal sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActiveBy {
    /// The request names a toolset.
    Request,
    /// It has equipped one.
    Equipped,
    /// Its token is bound to one.
    Token,
    /// Its project carries one.
    Project,
    /// The gateway's default.
    Default,
    /// There is none: all tools in its scope (`expose: "all"`).
    All,
    /// There is none: the built-in tools alone (`expose: "toolset"`).
    BuiltIns,
}

/// Deletes a toolset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteToolset {
    /// Its name.
    pub name: String,
    /// Whose; by default the caller's own, and an operator's is the operator's. For operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether it is taken from those who have it equipped; without it that is a failure.
    #[serde(default)]
    pub force: bool,
}

/// Takes the definitions that tools have now for those that a toolset was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptToolset {
    /// Its name.
    pub name: String,
    /// Whose; by default the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

words!(Detail {
    Names = "names",
    Summary = "summary",
    Full = "full",
});

words!(ToolState {
    Registered = "registered",
    Unavailable = "unavailable",
    Disabled = "disabled",
    OutOfScope = "out-of-scope",
    Missing = "missing",
});

words!(DefinitionState {
    Unchanged = "unchanged",
    Compatible = "compatible",
    Breaking = "breaking",
    Missing = "missing",
});

words!(ActiveBy {
    Request = "request",
    Equipped = "equipped",
    Token = "token",
    Project = "project",
    Default = "default",
    All = "all",
    BuiltIns = "built-ins",
});
