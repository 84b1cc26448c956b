//! The resources of all servers.

use serde::{Deserialize, Serialize};

/// Asks for the resources and resource templates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListResources {
    /// Only those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// Resources and templates, in the order in which clients see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceList {
    /// The resources.
    pub resources: Vec<ResourceReport>,
    /// The templates.
    pub templates: Vec<TemplateReport>,
}

/// What there is to know about a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReport {
    /// The URI that clients see.
    pub uri: String,
    /// The server it belongs to.
    pub server: String,
    /// The URI its server gives it.
    pub origin: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// What there is to know about a resource template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateReport {
    /// The URI template that clients see.
    pub uri_template: String,
    /// The server it belongs to.
    pub server: String,
    /// The URI template its server gives it.
    pub origin: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What such a resource holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of such a resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// Reads a resource; the output is the [`Relayed`](crate::Relayed) result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadResource {
    /// Its URI as clients see it, or as its server gives it.
    pub uri: String,
}
