//! What is turned on and off, renamed and explained at run time.

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{ServerReport, ToolReport};

/// Turns a server on, whatever the configuration says; the output is its [`ServerReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnableServer {
    /// Its name.
    pub name: String,
}

/// Turns a server off: its process ends, its tools disappear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisableServer {
    /// Its name.
    pub name: String,
}

/// Ends a server and starts it anew; also one that waits for its next try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartServer {
    /// Its name.
    pub name: String,
}

/// Asks for one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowServer {
    /// Its name.
    pub name: String,
}

/// All there is to know about a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerDetail {
    /// The short form.
    pub server: ServerReport,
    /// Where its entry stands: file and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it is tagged with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What an operator has turned: `enabled` or `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched: Option<String>,
    /// What it says about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it tells models of its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools, those that are turned off or not allowed too.
    pub tools: Vec<ServerTool>,
    /// The projects it belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerTool {
    /// What the server calls it.
    pub name: String,
    /// What clients call it; absent while it is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_name: Option<String>,
    /// Why it is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// What its definition costs a model, in tokens, roughly.
    pub estimated_tokens: u64,
}

/// Turns a tool on again; the output is its [`ToolSwitch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnableTool {
    /// Its exposed name, or `server.tool`.
    pub name: String,
}

/// Turns a tool off: nobody sees or calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisableTool {
    /// Its exposed name, or `server.tool`.
    pub name: String,
}

/// Gives a tool another name or description than its server does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OverrideTool {
    /// Its exposed name, or `server.tool`.
    pub name: String,
    /// The name that clients shall see; an empty one takes an override back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_name: Option<String>,
    /// The description that clients shall see; an empty one takes an override back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What operators have set of a tool at run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSwitch {
    /// `server.tool`.
    pub namespaced_name: String,
    /// Whether it is on.
    pub enabled: bool,
    /// The name that clients see; absent while it is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_name: Option<String>,
    /// The name it was given, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The description it was given, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Asks why a tool is or is not visible, and where a call would go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainTool {
    /// Any name of it.
    pub name: String,
    /// For the holder of this token: its id, or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// In this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// With this toolset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
}

/// Why a tool is or is not visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The name that was asked for.
    pub name: String,
    /// For whom.
    pub principal: String,
    /// Whether it is listed.
    pub visible: bool,
    /// Whether a call of it would be tried.
    pub callable: bool,
    /// The tool that is meant, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolReport>,
    /// What was looked at, in the order in which it decides.
    pub checks: Vec<Check>,
    /// Other names it could have been.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// Where a call goes: server, state, how it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
}

/// One thing that decides about a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at, in one word.
    pub what: CheckedOf,
    /// How it came out.
    pub verdict: Verdict,
    /// What was found, as one sentence.
    pub found: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What decides about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedOf {
    /// Whether the name means a tool.
    Name,
    /// Whether its server is configured, on and reachable.
    Server,
    /// The allow and deny lists of its server.
    Filter,
    /// Whether it was turned off.
    Switch,
    /// Whether its definition can be used.
    Definition,
    /// Whether its definition is the one that was approved.
    Pin,
    /// Whether it shares its name with others, or was renamed or shortened.
    Naming,
    /// What the token allows.
    Token,
    /// The project.
    Project,
    /// The toolset.
    Toolset,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not stand in the way.
    Pass,
    /// It is worth knowing.
    Note,
    /// It hides the tool, or fails its calls.
    Block,
}

words!(CheckedOf {
    Name = "name",
    Server = "server",
    Filter = "filter",
    Switch = "switch",
    Definition = "definition",
    Pin = "pin",
    Naming = "naming",
    Token = "token",
    Project = "project",
    Toolset = "toolset",
});

words!(Verdict { Pass = "pass", Note = "note", Block = "block" });
