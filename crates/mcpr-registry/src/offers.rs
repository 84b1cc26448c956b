//! What one server offers.

use std::sync::Arc;

use mcpr_protocol::{Object, RawJson, key};

use crate::{Kind, Overrides, ServerName, ServerNaming};

/// Everything one server listed and said about itself, each item as the text it sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Offers {
    /// Its tools, of all pages.
    pub tools: Vec<RawJson>,
    /// Its prompts.
    pub prompts: Vec<RawJson>,
    /// Its resources.
    pub resources: Vec<RawJson>,
    /// Its resource templates.
    pub templates: Vec<RawJson>,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Its `serverInfo`.
    pub server_info: Option<RawJson>,
}

/// What a server can do, as far as mcpr acts on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// It has tools.
    pub tools: bool,
    /// It has prompts.
    pub prompts: bool,
    /// It has resources.
    pub resources: bool,
    /// It completes arguments.
    pub completions: bool,
    /// It logs to clients.
    pub logging: bool,
    /// It tells of changes of single resources.
    pub subscribe: bool,
    /// It may answer with tasks (extension of 2026-07-28).
    pub tasks: bool,
    /// Its tools may have user interfaces (MCP Apps).
    pub apps: bool,
}

/// One server's part of a catalog.
///
/// Give one for every configured server, in the order of the configuration, with
/// `Offers::default()` while nothing is known of it: that order settles which of two servers comes
/// first, and a server that is there keeps the names it once got.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The server.
    pub server: ServerName,
    /// What it says about its own names.
    pub naming: ServerNaming,
    /// What clients see of its tools in place of what it says.
    pub overrides: Arc<Overrides>,
    /// Whether it is reached over HTTP in the stateless era, where tools with an invalid
    /// `x-mcp-header` must be hidden.
    pub stateless_http: bool,
    /// What it offers.
    pub offers: Arc<Offers>,
}

impl Offers {
    /// The items of a kind.
    pub fn items(&self, kind: Kind) -> &[RawJson] {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
        }
    }

    /// The items of a kind, to be replaced.
    pub fn items_mut(&mut self, kind: Kind) -> &mut Vec<RawJson> {
        match kind {
            Kind::Tools => &mut self.tools,
            Kind::Prompts => &mut self.prompts,
            Kind::Resources => &mut self.resources,
            Kind::Templates => &mut self.templates,
        }
    }

    /// What the server calls itself toward people: the title in its `serverInfo`, else the name there.
    pub fn title(&self) -> Option<String> {
        let info = Object::read(self.server_info.as_ref()?).ok()?;
        info.text("title").or_else(|| info.text("name"))
    }

    /// Whether a resource could be read from the server.
    pub fn has_resources(&self) -> bool {
        self.capabilities.resources || !self.resources.is_empty() || !self.templates.is_empty()
    }
}

impl Capabilities {
    /// What at least one of two servers can do.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
            completions: self.completions || other.completions,
            logging: self.logging || other.logging,
            subscribe: self.subscribe || other.subscribe,
            tasks: self.tasks || other.tasks,
            apps: self.apps || other.apps,
        }
    }

    /// Reads the `capabilities` of an answer to `initialize` or `server/discover`; what is not
    /// understood counts as absent.
    pub fn read(raw: &RawJson) -> Self {
        let Ok(object) = Object::read(raw) else {
            return Self::default();
        };
        let has = |key| object.get(key).is_some_and(|value| value.is_object());
        let extensions = object.object("extensions");
        let extends = |name| extensions.as_ref().is_some_and(|all| all.get(name).is_some());
        let resources = object.object("resources");
        let subscribe = resources.and_then(|resources| resources.get("subscribe"));
        Self {
            tools: has("tools"),
            prompts: has("prompts"),
            resources: has("resources"),
            completions: has("completions"),
            logging: has("logging"),
            subscribe: subscribe.is_some_and(|value| value.as_str() == "true"),
            tasks: extends(key::TASKS_EXTENSION),
            apps: extends(key::APPS_EXTENSION),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_members_that_are_objects() {
        let read = |text| Capabilities::read(&RawJson::from_static(text));
        let some = read(r#"{"tools":{},"resources":{"subscribe":true},"prompts":null,"x":{}}"#);
        let expected = Capabilities {
            tools: true,
            resources: true,
            subscribe: true,
            ..Capabilities::default()
        };
        assert_eq!(some, expected);
        assert_eq!(read("[]"), Capabilities::default());
    }

    #[test]
    fn the_title_falls_back_to_the_name() {
        let titled = |text| {
            Offers {
                server_info: Some(RawJson::from_static(text)),
                ..Offers::default()
            }
            .title()
        };
        assert_eq!(titled(r#"{"name":"git","title":"Git"}"#).as_deref(), Some("Git"));
        assert_eq!(titled(r#"{"name":"git"}"#).as_deref(), Some("git"));
        assert_eq!(titled("{}"), None);
    }
}
