//! The tools of all servers.

use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

use crate::{Failure, Streamed};

/// Asks for the tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListTools {
    /// Only those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Only those of the servers of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only those of this toolset: the operator's of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// Whether those are told too that are offered to nobody, with the reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

/// Tools, in the order in which clients see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolList {
    /// The tools.
    pub tools: Vec<ToolReport>,
}

/// What there is to know about a tool in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReport {
    /// The name that clients see; `server.tool` while it is hidden and has none.
    pub name: String,
    /// The server it belongs to.
    pub server: String,
    /// The name its server gives it.
    pub origin: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The server says that it changes nothing (`readOnlyHint`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The server says that it may destroy something (`destructiveHint`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// The server says that doing it twice is like doing it once (`idempotentHint`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// What its definition costs a model, in tokens, roughly.
    #[serde(default)]
    pub estimated_tokens: u64,
    /// Why it is offered to nobody, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
}

/// Asks for all about one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowTool {
    /// Its exposed name, or `server.tool`.
    pub name: String,
}

/// All there is to know about a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDetail {
    /// The short form.
    pub tool: ToolReport,
    /// The definition as clients see it, byte for byte.
    pub definition: RawJson,
}

/// Calls a tool; the output is its [`Relayed`](crate::Relayed) result, `isError` or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallTool {
    /// Its exposed name, or `server.tool`.
    pub name: String,
    /// The arguments, an object, passed on byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawJson>,
}

/// What comes of a call while it is under way, when it is asked for as a stream.
///
/// On the wire it is an object with one member, such as `{"result":…}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallStep {
    /// The server says something that belongs to the call: its progress, or a log message.
    Notification(Notice),
    /// The `result` of the MCP response, `isError` or not; nothing follows.
    Result(RawJson),
    /// There is no result; nothing follows.
    Error(Failure),
}

/// A notification of MCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Such as `notifications/progress`.
    pub method: String,
    /// As the server wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<RawJson>,
}

impl Streamed for CallTool {
    type Item = CallStep;
    const PATH: &'static str = "tools/call";
    const READ_ONLY: bool = false;
    const ALWAYS: bool = false;
}
