//! Named sets of servers.

use serde::{Deserialize, Serialize};

/// Asks for the projects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListProjects {}

/// Projects, those of the configuration first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectList {
    /// The projects.
    pub projects: Vec<ProjectReport>,
}

/// What there is to know about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectReport {
    /// Its name.
    pub name: String,
    /// Whether it stands in a configuration file, and is changed there.
    pub from_file: bool,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The servers it names.
    pub servers: Vec<String>,
    /// The tags whose servers belong to it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The toolset that is seen in it without another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// The servers that belong to it now.
    pub members: Vec<String>,
    /// What it names and is not there: servers, its toolset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How many tools these servers have now; absent only without a running gateway, like the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
    /// What the definitions of these cost a model, in tokens, roughly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
}

/// Asks for one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowProject {
    /// Its name.
    pub name: String,
}

/// Makes a project; the output is its [`ProjectReport`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveProject {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its servers; they need not be there yet.
    #[serde(default)]
    pub servers: Vec<String>,
    /// Tags whose servers belong to it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The toolset that is seen in it without another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// Whether one that is there is replaced; without it that is a failure.
    #[serde(default)]
    pub replace: bool,
}

/// Deletes a project; the output is what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteProject {
    /// Its name.
    pub name: String,
}
