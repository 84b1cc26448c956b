//! What a request is about, and whose that is.

use http::{HeaderName, HeaderValue};
use mcpr_protocol::{Ability, Edit, Method, Object, RawJson, key};
use mcpr_registry::{ParamHeader, Route, ServerName, UriError};

use crate::client::Context;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::sight::Sight;
use crate::tasks::TASK_ID;

/// What a request is about.
#[derive(Debug)]
pub(crate) struct Target {
    /// The server that has it.
    pub(crate) server: ServerName,
    /// What the server calls it.
    pub(crate) origin: Box<str>,
    /// The member of `params` that names it there, with its value.
    pub(super) change: (&'static str, RawJson),
    /// What the log calls it: a tool by its origin name.
    pub(crate) tool: Option<Box<str>>,
    /// What the client wrote: the URI of a read, the id of a task.
    pub(super) asked: Option<String>,
    param_headers: Vec<ParamHeader>,
    /// Whether its server takes the call only as a task of 2025-11-25.
    pub(super) task_required: bool,
    /// Whether to do it twice is as good as once: a read, or a tool that says so of itself.
    pub(super) harmless: bool,
    /// The backend that alone knows what it is about.
    pub(super) home: Option<Box<str>>,
}

impl Target {
    /// Finds out whose a request is.
    ///
    /// # Errors
    ///
    /// When nobody has it, or the parameters do not say what.
    pub(crate) fn resolve(
        gateway: &Gateway,
        sight: &Sight,
        context: &Context,
        method: &Method,
        params: Option<&Object>,
    ) -> Result<Self, Fault> {
        let none = || Fault::InvalidParams(format!("`{method}` needs `params`"));
        let params = params.ok_or_else(none)?;
        match method {
            Method::ToolsCall => Self::tool(sight, params),
            Method::PromptsGet => {
                check_arguments(params)?;
                Self::prompt(sight, &name(params, "name")?)
            }
            Method::ResourcesRead => Self::resource(sight, &name(params, "uri")?),
            Method::Complete => Self::reference(sight, params),
            Method::TasksGet | Method::TasksUpdate | Method::TasksCancel => {
                Self::task(gateway, context, method, name(params, TASK_ID)?)
            }
            other => Err(Fault::MethodNotFound(other.to_string())),
        }
    }

    fn tool(sight: &Sight, params: &Object) -> Result<Self, Fault> {
        let name = name(params, "name")?;
        check_arguments(params)?;
        let tool = sight.known.tool(&name).ok_or_else(|| unseen(sight, name))?;
        Ok(Self {
            tool: Some(tool.origin.name.as_ref().into()),
            param_headers: tool.param_headers.clone(),
            task_required: tool.task_required,
            harmless: tool.read_only || tool.idempotent,
            ..Self::named(tool.origin.server.clone(), "name", &tool.origin.name)
        })
    }

    fn prompt(sight: &Sight, name: &str) -> Result<Self, Fault> {
        let prompt = sight
            .known
            .prompt(name)
            .ok_or_else(|| Fault::UnknownPrompt(name.to_owned()))?;
        Ok(Self::named(
            prompt.origin.server.clone(),
            "name",
            &prompt.origin.name,
        ))
    }

    fn resource(sight: &Sight, uri: &str) -> Result<Self, Fault> {
        let route = route(sight, uri)?;
        Ok(Self {
            asked: Some(uri.to_owned()),
            ..Self::named(route.server, "uri", &route.uri)
        })
    }

    fn task(gateway: &Gateway, context: &Context, method: &Method, id: String) -> Result<Self, Fault> {
        if !context.abilities.has(Ability::Tasks) {
            return Err(Fault::MissingCapability(key::TASKS_EXTENSION));
        }
        let Some((task, sealed)) = gateway.open_task(&context.principal, &id) else {
            return Err(Fault::UnknownTask(id));
        };
        Ok(Self {
            asked: Some(id),
            harmless: *method == Method::TasksGet,
            home: sealed.backend.map(String::into_boxed_str),
            ..Self::named(task, TASK_ID, &sealed.task)
        })
    }

    /// The `ref` of a completion: a prompt or a resource template.
    fn reference(sight: &Sight, params: &Object) -> Result<Self, Fault> {
        let wrong = || Fault::InvalidParams("`ref` must name a prompt or a resource".into());
        let reference = params.object("ref").ok_or_else(wrong)?;
        let kind = reference.text("type").ok_or_else(wrong)?;
        let (target, member) = match kind.as_str() {
            "ref/prompt" => (Self::prompt(sight, &name(&reference, "name")?)?, "name"),
            "ref/resource" => (Self::resource(sight, &name(&reference, "uri")?)?, "uri"),
            _ => return Err(wrong()),
        };
        let changed = Edit::new(&reference)
            .set(member, RawJson::string(&target.origin))
            .finish();
        Ok(Self {
            change: ("ref", RawJson::trusted(changed.into_bytes())),
            ..target
        })
    }

    fn named(server: ServerName, member: &'static str, origin: &str) -> Self {
        Self {
            server,
            origin: origin.into(),
            change: (member, RawJson::string(origin)),
            tool: None,
            asked: None,
            param_headers: Vec::new(),
            task_required: false,
            harmless: true,
            home: None,
        }
    }

    /// The name under which clients know a URI of the server. What was asked for under the
    /// server's own name is answered under it.
    pub(super) fn expose(&self, sight: &Sight, uri: &str) -> Option<String> {
        match &self.asked {
            Some(asked) if *uri == *self.origin && self.change.0 != TASK_ID => {
                (asked != uri).then(|| asked.clone())
            }
            _ => sight.known.expose_uri(&self.server, uri),
        }
    }

    /// The headers in which a stateless hop repeats arguments.
    pub(super) fn headers(&self, arguments: Option<&RawJson>) -> Vec<(HeaderName, HeaderValue)> {
        let Some(arguments) = arguments else {
            return Vec::new();
        };
        let header = |param: &ParamHeader| {
            let value = param.value_in(arguments)?;
            Some((param.field().parse().ok()?, HeaderValue::try_from(value).ok()?))
        };
        self.param_headers.iter().filter_map(header).collect()
    }
}

/// The text of a member that names something.
pub(crate) fn name(params: &Object, member: &'static str) -> Result<String, Fault> {
    params
        .text(member)
        .ok_or_else(|| Fault::InvalidParams(format!("`{member}` must be a string")))
}

/// A tool that is not visible does not exist; one that only has to be equipped, or approved, is said to
/// (AGG-07).
fn unseen(sight: &Sight, name: String) -> Fault {
    if let Some(tool) = sight.held.tool(&name) {
        return Fault::HeldBack(tool.origin.clone());
    }
    match (sight.reachable.tool(&name), &sight.unheard) {
        (Some(tool), _) => Fault::NotEquipped {
            origin: tool.origin.to_string(),
            name,
            builtins: sight.builtins,
        },
        (None, Some(server)) => Fault::NotYetKnown {
            name,
            server: server.clone(),
        },
        (None, None) => Fault::UnknownTool(name),
    }
}

/// Absent and null are as good as none (B40).
fn check_arguments(params: &Object) -> Result<(), Fault> {
    match params.get("arguments") {
        Some(arguments) if !arguments.is_object() && !arguments.is_null() => {
            Err(Fault::InvalidParams("`arguments` must be an object".into()))
        }
        _ => Ok(()),
    }
}

/// Where a resource is.
pub(crate) fn route(sight: &Sight, uri: &str) -> Result<Route, Fault> {
    sight.known.resource(uri).map_err(|error| match error {
        UriError::Unknown => Fault::UnknownResource(uri.to_owned()),
        UriError::Ambiguous(servers) => Fault::AmbiguousResource {
            uri: uri.to_owned(),
            servers,
        },
    })
}
