//! The prompts of all servers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Asks for the prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListPrompts {
    /// Only those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// Prompts, in the order in which clients see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptList {
    /// The prompts.
    pub prompts: Vec<PromptReport>,
}

/// What there is to know about a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptReport {
    /// The name that clients see.
    pub name: String,
    /// The server it belongs to.
    pub server: String,
    /// The name its server gives it.
    pub origin: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it can be given.
    pub arguments: Vec<PromptArgument>,
}

/// Something a prompt can be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the prompt needs it.
    #[serde(default)]
    pub required: bool,
}

/// Gets a prompt; the output is the [`Relayed`](crate::Relayed) result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetPrompt {
    /// Its exposed name, or `server.prompt`.
    pub name: String,
    /// What it is given; MCP knows only texts here.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}
