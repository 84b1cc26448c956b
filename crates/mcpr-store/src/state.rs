//! What operators and principals change while a gateway runs: toolsets, what is equipped, switches,
//! projects.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mcpr_auth::Timestamp;

use crate::StoreError;

/// The owner of what operators make.
pub const OPERATOR: &str = "operator";

/// The owner under which is kept what is remembered of toolsets of configuration files: only their
/// pins count, the rest is the file's.
pub const FILED: &str = "file";

/// Whoever has nothing equipped of his own.
pub const DEFAULT: &str = "default";

/// A named choice of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedToolset {
    /// The key of a principal, or [`OPERATOR`].
    pub owner: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its entries: `server.tool`, where `*` stands for anything.
    pub tools: Vec<String>,
    /// The hashes of the definitions that it was made with, by `server.tool`.
    pub pins: BTreeMap<String, String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub changed: Timestamp,
}

/// The definition of a tool, by its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The hash.
    pub hash: String,
    /// The definition, a JSON text.
    pub body: String,
}

/// What a principal has equipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedEquip {
    /// The key of the principal, or [`DEFAULT`].
    pub principal: String,
    /// The owner of the toolset.
    pub owner: String,
    /// Its name.
    pub toolset: String,
    /// Since when.
    pub at: Timestamp,
}

/// What an operator has turned of a server or a tool; nothing set is as good as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// The server.
    pub server: String,
    /// The tool, by its server's name; `None` is the server itself.
    pub tool: Option<String>,
    /// Whether it is on.
    pub enabled: Option<bool>,
    /// The name that clients see in place of the usual one.
    pub name: Option<String>,
    /// The description that clients see in place of the server's.
    pub description: Option<String>,
}

/// A named set of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedProject {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its servers.
    pub servers: Vec<String>,
    /// Tags whose servers belong to it too.
    pub tags: Vec<String>,
    /// The toolset that is seen in it without another.
    pub toolset: Option<String>,
    /// When it was made.
    pub created: Timestamp,
}

/// What is approved of a server's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPins {
    /// The server.
    pub server: String,
    /// The tools, by name.
    pub tools: Vec<SavedPin>,
}

/// The approved definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPin {
    /// What its server calls it; never empty.
    pub tool: String,
    /// The definition, a JSON text.
    pub definition: String,
    /// When it was approved.
    pub at: Timestamp,
}

/// Keeps what is changed while a gateway runs. Every change survives a power cut.
#[async_trait]
pub trait StateStore {
    /// All toolsets, by owner and name.
    async fn toolsets(&self) -> Result<Vec<SavedToolset>, StoreError>;

    /// Keeps a toolset in place of the one of its owner and name, and the definitions that it pins;
    /// definitions that no toolset pins any more are forgotten.
    async fn put_toolset(
        &self,
        toolset: SavedToolset,
        definitions: Vec<Definition>,
    ) -> Result<(), StoreError>;

    /// Forgets a toolset; whether there was one.
    async fn delete_toolset(&self, owner: &str, name: &str) -> Result<bool, StoreError>;

    /// The definitions with these hashes, as far as they are kept, by hash.
    async fn definitions(&self, hashes: Vec<String>) -> Result<Vec<Definition>, StoreError>;

    /// What is equipped, by principal.
    async fn equips(&self) -> Result<Vec<SavedEquip>, StoreError>;

    /// Keeps what a principal has equipped, in place of what it had before.
    async fn put_equip(&self, equip: SavedEquip) -> Result<(), StoreError>;

    /// Forgets what a principal has equipped; whether there was anything.
    async fn delete_equip(&self, principal: &str) -> Result<bool, StoreError>;

    /// All switches, by server and tool; a server's own first.
    async fn switches(&self) -> Result<Vec<Switch>, StoreError>;

    /// Keeps a switch in place of that of the same thing; one with nothing set is forgotten.
    async fn put_switch(&self, switch: Switch) -> Result<(), StoreError>;

    /// What is approved of the tools of each server that was seen, by name.
    async fn pins(&self) -> Result<Vec<SavedPins>, StoreError>;

    /// Keeps what a server showed when it was first seen; whether it was the first time. Else nothing
    /// changes.
    async fn put_first_pins(&self, first: SavedPins, at: Timestamp) -> Result<bool, StoreError>;

    /// Keeps these definitions of a server's tools in place of older ones, and forgets others.
    async fn approve_pins(
        &self,
        server: &str,
        approved: Vec<SavedPin>,
        forgotten: Vec<String>,
    ) -> Result<(), StoreError>;

    /// All projects, by name.
    async fn projects(&self) -> Result<Vec<SavedProject>, StoreError>;

    /// Keeps a project in place of that of its name.
    async fn put_project(&self, project: SavedProject) -> Result<(), StoreError>;

    /// Forgets a project; whether there was one.
    async fn delete_project(&self, name: &str) -> Result<bool, StoreError>;
}

impl Switch {
    /// Whether it says anything.
    pub(crate) fn is_set(&self) -> bool {
        self.enabled.is_some() || self.name.is_some() || self.description.is_some()
    }
}
