//! What limits the sight of one caller: its token, its project, its toolset.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderName};
use mcpr_admin::ActiveBy;
use mcpr_auth::{Names, Principal};
use mcpr_config::Expose;
use mcpr_protocol::{Object, key};
use mcpr_registry::{Pattern, Selection};

use crate::plan::Plan;
use crate::toolsets::{Toolset, Toolsets};

/// The header that names a project, as the parameter [`PROJECT`] of the query does (PRJ-01).
static PROJECT_HEADER: HeaderName = HeaderName::from_static("x-mcpr-project");
const PROJECT: &str = "project";

/// What the names of all these headers begin with.
const OWN: &str = "x-mcpr-";

/// The header that names a toolset, as the parameter [`TOOLSET`] does.
static TOOLSET_HEADER: HeaderName = HeaderName::from_static("x-mcpr-toolset");
const TOOLSET: &str = "toolset";

/// The header that names tags of backends that a client would like (LB-02).
static PREFER: HeaderName = HeaderName::from_static("x-mcpr-prefer");
/// The most tags that are looked at, and the longest.
const MOST_TAGS: (usize, usize) = (8, 64);

/// What a request itself says about its scope.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// The project it is made in.
    pub project: Option<Arc<str>>,
    /// The toolset it is made with, without equipping it.
    pub toolset: Option<Arc<str>>,
    /// The tags of the backends that it would like to go to.
    pub prefer: Arc<[Box<str>]>,
}

/// What limits the sight of a caller. Callers of one scope share what is rendered for them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Scope {
    /// Which servers.
    pub(crate) within: Within,
    /// Which of these, and which of their tools: what the token lists.
    pub(crate) allowed: Allowed,
    /// Which tools at all: what the token is bound to.
    pub(crate) limit: Limit,
    /// Which of these.
    pub(crate) choice: Choice,
}

/// Which servers are in sight.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Within {
    /// All.
    Everything,
    /// Those of this project.
    Project(Arc<str>),
    /// None: the project is not known (PRJ-03).
    Unknown,
}

/// What a token lists as all that it reaches.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Allowed {
    servers: Option<Names>,
    tools: Option<Names>,
}

/// What a token is bound to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Limit {
    /// Nothing.
    None,
    /// This toolset.
    To(Arc<Toolset>),
    /// A toolset that is not there.
    Unknown,
}

/// Which tools are registered.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Choice {
    /// All.
    All,
    /// The built-in ones alone.
    BuiltIns,
    /// Those of this toolset.
    Only(Arc<Toolset>),
    /// Those of a toolset that is not there.
    Unknown,
}

impl Asked {
    /// What the head of a request says; a header wins over the query (PRJ-02).
    pub(crate) fn by(head: &Parts) -> Self {
        let query = head.uri.query().unwrap_or_default();
        let ours = |name: &HeaderName| name.as_str().starts_with(OWN);
        if query.is_empty() && !head.headers.keys().any(ours) {
            return Self::default();
        }
        let named = |value: &Arc<str>| !value.is_empty();
        let said = |header, parameter| {
            let header = header_of(&head.headers, header).filter(named);
            header.or_else(|| parameter_of(query, parameter).filter(named))
        };
        Self {
            project: said(&PROJECT_HEADER, PROJECT),
            toolset: said(&TOOLSET_HEADER, TOOLSET),
            prefer: header_of(&head.headers, &PREFER).map_or_else(Arc::default, |tags| tags_in(&tags)),
        }
    }

    /// The same with what the `_meta` of a caller says that needs no token: on a pipe, or embedded.
    pub(crate) fn or_meta(&self, params: Option<&Object>) -> Self {
        let said = || {
            let value = params?.object("_meta")?.get("projectId")?;
            // What is no text names no project that is there.
            let raw = || (!value.is_null()).then(|| value.as_str().to_owned());
            value.to_text().or_else(raw)
        };
        match said().filter(|_| self.project.is_none()) {
            Some(project) => Self {
                project: Some(project.into()),
                ..self.clone()
            },
            None => self.clone(),
        }
    }
}

/// The tags that a request would like: what its `_meta` says, else its header. A text names several
/// between commas; a list is one too.
pub(crate) fn likes(asked: &Asked, meta: Option<&Object>) -> Arc<[Box<str>]> {
    let Some(said) = meta.and_then(|meta| meta.get(key::PREFER)) else {
        return asked.prefer.clone();
    };
    match said.to_text() {
        Some(tags) => tags_in(&tags),
        None => some_tags(
            said.read::<Vec<String>>()
                .unwrap_or_default()
                .iter()
                .map(String::as_str),
        ),
    }
}

fn tags_in(text: &str) -> Arc<[Box<str>]> {
    some_tags(text.split(',').map(str::trim))
}

fn some_tags<'t>(tags: impl Iterator<Item = &'t str>) -> Arc<[Box<str>]> {
    let (most, longest) = MOST_TAGS;
    let sensible = tags.filter(|tag| !tag.is_empty() && tag.len() <= longest);
    sensible.take(most).map(Box::from).collect()
}

impl Allowed {
    fn of(principal: &Principal) -> Self {
        Self {
            servers: principal.servers().cloned(),
            tools: principal.tools().cloned(),
        }
    }

    /// Whether a server is among those that are listed.
    pub(crate) fn has_server(&self, server: &str) -> bool {
        let named = |names: &Names| names.iter().any(|name| **name == *server);
        self.servers.as_ref().is_none_or(named)
    }

    /// Whether a tool of that origin name is among those that are listed.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let fits = |names: &Names| names.iter().any(|pattern| Pattern::fits(pattern, name));
        self.tools.as_ref().is_none_or(fits)
    }

    /// Whether it leaves all servers.
    pub(crate) fn has_every_server(&self) -> bool {
        self.servers.is_none()
    }

    /// The tools that are listed; `None` for all.
    pub(crate) fn tools(&self) -> Option<Selection> {
        Some(Selection::new(self.tools.as_ref()?.iter()))
    }
}

impl Limit {
    /// Whether a tool of that origin name can be used at all.
    fn allows(&self, name: &str) -> bool {
        match self {
            Self::None => true,
            Self::To(toolset) => toolset.selection.matches_name(name),
            Self::Unknown => false,
        }
    }
}

impl Scope {
    /// All there is, for operators.
    pub(crate) fn everything() -> Self {
        Self {
            within: Within::Everything,
            allowed: Allowed::default(),
            limit: Limit::None,
            choice: Choice::All,
        }
    }

    /// The scope of a request, and what decides which tools are registered in it.
    pub(crate) fn of(
        plan: &Plan,
        toolsets: &Toolsets,
        principal: &Principal,
        asked: &Asked,
    ) -> (Self, ActiveBy) {
        let within = within(plan, principal, asked);
        let limit = limit(toolsets, principal);
        let own = toolsets.worn(principal.key());
        let found = |name: &str| toolsets.find(principal.key(), name);
        let carried = || match &within {
            Within::Project(name) => plan.projects[&**name].toolset.as_deref(),
            _ => None,
        };
        let (choice, by) = if let Some(name) = &asked.toolset {
            (only(found(name)), ActiveBy::Request)
        } else if let Some(worn) = own {
            (only(worn.toolset.clone()), ActiveBy::Equipped)
        } else if limit != Limit::None {
            (Choice::All, ActiveBy::Token)
        } else if let Some(name) = carried() {
            (only(found(name)), ActiveBy::Project)
        } else if let Some(worn) = toolsets.default_worn() {
            (only(worn.toolset.clone()), ActiveBy::Default)
        } else if plan.options.expose == Expose::Toolset {
            (Choice::BuiltIns, ActiveBy::BuiltIns)
        } else {
            (Choice::All, ActiveBy::All)
        };
        let scope = Self {
            within,
            allowed: Allowed::of(principal),
            limit,
            choice,
        };
        (scope, by)
    }

    /// The same without any choice: what could be equipped.
    pub(crate) fn unchosen(&self) -> Self {
        Self {
            choice: Choice::All,
            ..self.clone()
        }
    }

    /// Whether all servers are in sight.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.within == Within::Everything && self.allowed.has_every_server()
    }

    /// Whether no tool of a server in sight is kept from the caller.
    pub(crate) fn has_every_tool(&self) -> bool {
        self.limit == Limit::None && self.allowed.tools.is_none()
    }

    /// Whether a tool of that origin name, of a server in sight, can be used at all.
    pub(crate) fn allows(&self, name: &str) -> bool {
        self.allowed.has_tool(name) && self.limit.allows(name)
    }

    /// Whether it holds a version of a toolset.
    pub(crate) fn uses(&self, toolset: &Toolset) -> bool {
        let limits = matches!(&self.limit, Limit::To(used) if **used == *toolset);
        limits || matches!(&self.choice, Choice::Only(used) if **used == *toolset)
    }
}

/// Whoever has no token and has equipped nothing: who sees the gateway's default.
pub(crate) fn nobody() -> Principal {
    Principal::stdio("")
}

fn within(plan: &Plan, principal: &Principal, asked: &Asked) -> Within {
    let known = |name: &str| plan.projects.contains_key(name);
    match (principal.project(), asked.project.as_deref()) {
        // The binding wins; who names another project is nowhere (PRJ-02).
        (Some(bound), Some(other)) if bound != other => Within::Unknown,
        (Some(name), _) | (None, Some(name)) if known(name) => Within::Project(name.into()),
        (None, None) => Within::Everything,
        _ => Within::Unknown,
    }
}

/// A token can be bound to a toolset of the operator's.
fn limit(toolsets: &Toolsets, principal: &Principal) -> Limit {
    match principal.toolset() {
        None => Limit::None,
        Some(name) => toolsets
            .exactly(mcpr_store::OPERATOR, name)
            .map_or(Limit::Unknown, Limit::To),
    }
}

fn only(toolset: Option<Arc<Toolset>>) -> Choice {
    toolset.map_or(Choice::Unknown, Choice::Only)
}

/// The value of a header. What cannot be read limits all the same: bytes that are no text name nothing that
/// is there, and neither do several values that differ (RFC 9110 5.3).
fn header_of(headers: &HeaderMap, name: &HeaderName) -> Option<Arc<str>> {
    headers.get(name)?;
    let mut values: Vec<_> = headers.get_all(name).iter().collect();
    values.dedup();
    let texts = values
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    let texts: Vec<String> = texts.map(|text| text.trim().to_owned()).collect();
    Some(texts.join(", ").into())
}

/// The value of a parameter in a query, decoded (RFC 3986, WHATWG URL: application/x-www-form-urlencoded).
fn parameter_of(query: &str, name: &str) -> Option<Arc<str>> {
    if query.is_empty() {
        return None;
    }
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_ref().into())
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::RawJson;

    use super::*;

    #[test]
    fn prj_03_a_project_that_is_no_text_is_none_that_is_there() {
        let named = |id: &str| {
            let params = RawJson::trusted(format!(r#"{{"_meta":{{"projectId":{id}}}}}"#));
            let params = Object::read(&params).expect("an object");
            Asked::default().or_meta(Some(&params)).project
        };

        assert_eq!(named(r#""web""#).as_deref(), Some("web"));
        assert_eq!(named("5").as_deref(), Some("5"));
        assert_eq!(named(r#"["web"]"#).as_deref(), Some(r#"["web"]"#));
        assert_eq!(named("null"), None);
    }
}
