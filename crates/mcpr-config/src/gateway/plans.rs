//! Settings of what callers see and what is remembered: exposure, projects, toolsets, history.

use std::time::Duration;

use mcpr_registry::ServerName;

use crate::fault::Fault;
use crate::keys;
use crate::tree::{Key, Node};

/// What a caller without an equipped toolset sees (SET-02).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expose {
    /// All tools in its scope.
    All,
    /// Only the built-in tools.
    Toolset,
}

/// A named set of servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its servers, in the order of the file; they need not exist.
    pub servers: Vec<ServerName>,
    /// Tags whose servers belong to it too.
    pub tags: Vec<String>,
    /// The toolset that is seen in it without another.
    pub toolset: Option<String>,
}

/// A named choice of tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolset {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its tools as `server.tool`; `*` stands for anything.
    pub tools: Vec<String>,
}

/// How much of past calls is kept (LOG-06).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct History {
    /// For how long; `None` for ever.
    pub keep: Option<Duration>,
    /// At most so many bytes; with 0 nothing is kept.
    pub max_size: usize,
    /// Whether arguments of calls are kept.
    pub arguments: Arguments,
}

/// Whether arguments of calls are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arguments {
    /// They are not.
    None,
    /// They are, without what looks like a secret.
    Redacted,
    /// They are, as they are.
    Full,
}

impl Default for History {
    fn default() -> Self {
        Self {
            keep: Some(Duration::from_secs(30 * 24 * 3600)),
            max_size: 256 << 20,
            arguments: Arguments::None,
        }
    }
}

/// Reads the named members of an object with `how`.
pub(super) fn named<T>(node: &Node, how: impl Fn(&Key, &Node) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    node.entries()?
        .iter()
        .map(|(key, value)| how(key, value))
        .collect()
}

pub(super) fn project(key: &Key, node: &Node) -> Result<Project, Fault> {
    let members = node.members(&keys::PROJECT)?;
    let servers = members.read("servers", |list| list.items()?.iter().map(server).collect())?;
    let mut tags = Vec::new();
    members.read_into(&mut tags, "tags", Node::texts)?;
    Ok(Project {
        name: key.text.clone(),
        description: members.read("description", Node::filled)?,
        servers: servers.unwrap_or_default(),
        tags,
        toolset: members.read("toolset", Node::filled)?,
    })
}

fn server(node: &Node) -> Result<ServerName, Fault> {
    node.text()?
        .parse()
        .map_err(|error| node.fault(format_args!("names no server: {error}")))
}

pub(super) fn toolset(key: &Key, node: &Node) -> Result<Toolset, Fault> {
    let members = node.members(&keys::TOOLSET)?;
    Ok(Toolset {
        name: key.text.clone(),
        description: members.read("description", Node::filled)?,
        tools: members
            .read("tools", |list| list.items()?.iter().map(tool).collect())?
            .unwrap_or_default(),
    })
}

fn tool(node: &Node) -> Result<String, Fault> {
    let name = node
        .members(&keys::TOOLSET_TOOL)?
        .read("namespacedName", Node::filled)?;
    name.ok_or_else(|| node.fault("needs a `namespacedName` such as `git.status`"))
}

pub(super) fn history(node: &Node) -> Result<History, Fault> {
    let mut history = History::default();
    let members = node.members(&keys::HISTORY)?;
    members.read_into(&mut history.keep, "keep", Node::limit)?;
    members.read_into(&mut history.max_size, "maxSize", size_or_none)?;
    members.read_into(&mut history.arguments, "arguments", |node| {
        node.choice(&keys::ARGUMENTS)
    })?;
    Ok(history)
}

fn size_or_none(node: &Node) -> Result<usize, Fault> {
    let size = node.whole(0..=0).or_else(|_| node.size());
    size.map_err(|fault| fault.hint("0 keeps nothing"))
}
