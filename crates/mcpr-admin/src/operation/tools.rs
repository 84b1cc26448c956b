//! The tools of all servers.

use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

/// Asks for the tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListTools {
    /// Only those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
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
    /// The name that clients see.
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
