//! Errors that the gateway makes itself, and the one place where each becomes JSON-RPC or HTTP.

use std::time::Duration;

use http::StatusCode;
use mcpr_auth::Rate;
use mcpr_protocol::{EnvelopeError, Era, ErrorObject, Fault as MessageFault, Version, code};
use mcpr_registry::{Origin, ServerName};
use mcpr_router::{BackendFault, Retry, RouteError, RouteErrorKind};
use mcpr_store::DatabaseFault;
use mcpr_telemetry::Secrets;
use serde_json::{Map, Value, json};

use crate::quota::Full;

/// Why the gateway answers a request with an error of its own.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The bytes are no message.
    #[error("{0}")]
    Message(MessageFault),
    /// The message is one, but cannot be taken here.
    #[error("{0}")]
    InvalidRequest(String),
    /// No such method in the client's era.
    #[error("Method not found: {0}")]
    MethodNotFound(String),
    /// The parameters are not what the method takes.
    #[error("{0}")]
    InvalidParams(String),
    /// The envelope of a stateless request is not right.
    #[error("{0}")]
    Envelope(EnvelopeError),
    /// A header disagrees with the body.
    #[error("{0}")]
    HeaderMismatch(String),
    /// A version that mcpr does not speak, or not in this era.
    #[error("Unsupported protocol version: {0}")]
    UnsupportedVersion(String),
    /// The request needs a session and has none.
    #[error(
        "this request needs a session: send `initialize` first, then the `Mcp-Session-Id` it answers with"
    )]
    NoSession,
    /// The session has ended, or never was.
    #[error("Session not found: send `initialize` to begin a new one")]
    UnknownSession,
    /// AGG-07.
    #[error("Unknown tool: {0}")]
    UnknownTool(String),
    /// The same, while a server starts that may have it.
    #[error("Unknown tool: {name}")]
    NotYetKnown {
        /// As it was asked for.
        name: String,
        /// Who starts.
        server: ServerName,
    },
    /// It is there, but not in the toolset that is equipped (AGG-07, SET-08).
    #[error("Unknown tool: {name}")]
    NotEquipped {
        /// As it was asked for.
        name: String,
        /// What a toolset calls it.
        origin: String,
        /// Whether the client can equip it with the built-in tools.
        builtins: bool,
    },
    /// Its definition is not the one that was approved.
    #[error(
        "Tool `{0}` is held back: its definition has changed since it was approved; an operator can look at the change \
         (`mcpr-ctl pins diff`) and approve it (`mcpr-ctl pins approve`)"
    )]
    HeldBack(Origin),
    /// SET-06.
    #[error("operation in progress: a toolset is being equipped for this principal; try again in a moment")]
    OperationInProgress,
    /// Another process does not let go of the database.
    #[error("the database is locked by another process, and nothing was changed; try again in a moment")]
    DatabaseLocked,
    /// Anything else that is wrong with it; where it lies is in the log only.
    #[error("nothing was changed: the database {0}")]
    NotKept(DatabaseFault),
    /// The same for prompts.
    #[error("Unknown prompt: {0}")]
    UnknownPrompt(String),
    /// No server has it.
    #[error("Resource not found: {0}")]
    UnknownResource(String),
    /// Several could.
    #[error("Several servers could own `{uri}`: {}; read it as resource://SERVER/{uri}", list(.servers))]
    AmbiguousResource {
        /// What was asked for.
        uri: String,
        /// Who could own it.
        servers: Vec<ServerName>,
    },
    /// The server tells of no changes of this resource.
    #[error(
        "server `{0}` does not tell of changes of this resource (it offers no `resources.subscribe`, or not for it)"
    )]
    NoUpdates(ServerName),
    /// More subscriptions than a client may have (SEC-05).
    #[error(
        "too many subscriptions: one session or listen may have {0} (`limits.subscriptions`); end some of them first"
    )]
    Subscriptions(usize),
    /// More than one server is asked for (SEC-05).
    #[error(
        "too many subscriptions: all clients together want to hear of more of server `{0}` than the gateway asks one \
         server for; try again when some of them have ended theirs"
    )]
    SubscriptionsAt(ServerName),
    /// A limit that is not of this request (SEC-05).
    #[error("{0}")]
    Full(Full),
    /// More requests than the principal may send; `wait` from now on they may come.
    #[error("too many requests: {rate} may be sent ({said_by}); try again in {} s", seconds(*.wait))]
    RateLimited {
        /// How many may be sent.
        rate: Rate,
        /// What says so.
        said_by: &'static str,
        /// How long to wait.
        wait: Duration,
    },
    /// A server says, in these words, that it does not go on with what a call has become.
    #[error("server `{server}` does not tell how the task stands that it has made of the call: {said}")]
    TaskRefused {
        /// Who.
        server: ServerName,
        /// Why.
        said: String,
    },
    /// The server's own error, where it was asked on behalf of several clients.
    #[error("{}", .0.message)]
    Server(ErrorObject),
    /// It could not be brought to its server, or was lost there.
    #[error("{}", route_message(.0, .0.said.as_deref()))]
    Route(RouteError),
    /// HTTP-05.
    #[error(
        "server `{server}` did not answer within {limit:?} (`timeouts.call`); the request was cancelled there"
    )]
    Timeout {
        /// Who.
        server: ServerName,
        /// The limit.
        limit: Duration,
    },
    /// HTTP-05.
    #[error(
        "server `{server}` said nothing for {limit:?} (`timeouts.silence`); the request was cancelled there"
    )]
    Silence {
        /// Who.
        server: ServerName,
        /// The limit.
        limit: Duration,
    },
    /// The token may not do this.
    #[error(
        "this token lacks the scope `{0}`: make one that has it with `mcpr-ctl tokens create --name NAME --scope {0}`"
    )]
    Forbidden(&'static str),
    /// A request that only a stream can answer.
    #[error("this request is answered by a stream: the Accept header must name text/event-stream")]
    NeedsStream,
    /// A `requestState` that is not ours, not this caller's, not for this call, or of another time.
    #[error("Invalid or expired requestState: send the request again without it")]
    InvalidState,
    /// Too many calls wait for answers of their clients (SEC-05).
    #[error(
        "server `{0}` asked for input, but too many calls of this client wait for an answer already; answer those first"
    )]
    TooManySuspended(ServerName),
    /// A request that its server does not go on with for lack of an answer.
    #[error("{0}")]
    Unanswered(String),
    /// The client did not declare what the method needs (2026-07-28, extensions).
    #[error("this needs the capability `{0}`, which the request does not declare")]
    MissingCapability(&'static str),
    /// No task of that id, for this caller.
    #[error("Unknown task: {0}")]
    UnknownTask(String),
    /// A layer of the embedding program does not let it pass.
    #[error("denied: {0}")]
    Denied(String),
    /// The gateway ends before the server has answered.
    #[error(
        "the gateway stopped before server `{0}` had answered; the request was cancelled there, and whether it was \
         done is not known"
    )]
    GivenUp(ServerName),
    /// The gateway is about to end.
    #[error("the gateway is stopping; try again in a moment")]
    Stopping,
    /// HTTP-04: the details are in the log only.
    #[error("the gateway made a mistake; its log has the details under the request id")]
    Internal,
}

/// Whole seconds, at least one, as `Retry-After` has them.
pub(crate) fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0 || wait.is_zero())
}

fn list(servers: &[ServerName]) -> String {
    servers
        .iter()
        .map(ServerName::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What has happened, why, and what to do next; with what the server has said, where that may be told.
fn route_message(error: &RouteError, said: Option<&str>) -> String {
    let why: String = [error.reason.as_deref(), said]
        .into_iter()
        .flatten()
        .flat_map(|text| [": ", text])
        .collect();
    let next = match error.kind {
        RouteErrorKind::Down | RouteErrorKind::NoBackend | RouteErrorKind::Starting => {
            "; it is tried again by itself, `mcpr-ctl status` shows when"
        }
        RouteErrorKind::AuthRequired => "; check the credentials in its entry of the configuration",
        RouteErrorKind::Malformed => "; look at what it has done before you send the request again",
        RouteErrorKind::TurnedAway => {
            "; if it says that the request is too long, send less at once, else check the address in its entry of the \
             configuration"
        }
        RouteErrorKind::TooLarge => "; ask for less at once, or raise `limits.serverMessage`",
        _ => "",
    };
    format!("{error}{why}{next}")
}

impl Fault {
    /// The error object of JSON-RPC.
    pub(crate) fn error(&self, era: Era, request: u64) -> ErrorObject {
        if let Self::Server(error) = self {
            return error.clone();
        }
        let error = ErrorObject::new(self.code(era), self.to_string());
        match self.data(request) {
            Some(data) => error.with(&data),
            None => error,
        }
    }

    /// What the log tells of it: nothing that a server has said, which may repeat what it was sent
    /// (LOG-04).
    pub(crate) fn told(&self) -> Option<String> {
        match self {
            Self::Server(_) => None,
            Self::Route(error) => Some(route_message(error, None)),
            Self::TaskRefused { server, .. } => Some(format!(
                "server `{server}` does not tell how the task stands that it has made of the call"
            )),
            _ => Some(self.to_string()),
        }
    }

    /// The same without secrets in what a server said before it was lost: it may quote what it was given.
    pub(crate) fn scrubbed(&self, secrets: &Secrets) -> Self {
        let Self::Route(error) = self else {
            return self.clone();
        };
        let mut error = error.clone();
        let faults = error.backends.iter_mut().map(|fault| &mut fault.reason);
        for text in error.reason.iter_mut().chain(&mut error.said).chain(faults) {
            *text = secrets.scrub(text).into_owned();
        }
        Self::Route(error)
    }

    /// The status of HTTP. In the session era an error that answers a request is a plain answer;
    /// the stateless era has a status for some (2026-07-28, transports: responses).
    pub(crate) fn status(&self, era: Era) -> StatusCode {
        match self {
            Self::Message(_) | Self::InvalidRequest(_) | Self::NoSession => StatusCode::BAD_REQUEST,
            Self::Envelope(_)
            | Self::HeaderMismatch(_)
            | Self::MissingCapability(_)
            | Self::UnsupportedVersion(_) => StatusCode::BAD_REQUEST,
            Self::UnknownSession => StatusCode::NOT_FOUND,
            Self::NeedsStream => StatusCode::NOT_ACCEPTABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::MethodNotFound(_) if era == Era::Stateless => StatusCode::NOT_FOUND,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::OK,
        }
    }

    /// The code for the log and for the error object.
    pub(crate) fn code(&self, era: Era) -> i64 {
        match self {
            Self::Message(fault) => fault.code(),
            Self::InvalidRequest(_) | Self::NoSession | Self::UnknownSession | Self::NeedsStream => {
                code::INVALID_REQUEST
            }
            Self::MethodNotFound(_) | Self::NoUpdates(_) => code::METHOD_NOT_FOUND,
            Self::Server(error) => error.code,
            Self::UnknownResource(_) if era == Era::Session => code::RESOURCE_NOT_FOUND,
            Self::InvalidParams(_)
            | Self::Envelope(_)
            | Self::UnknownTool(_)
            | Self::NotYetKnown { .. }
            | Self::NotEquipped { .. }
            | Self::HeldBack(_)
            | Self::UnknownPrompt(_) => code::INVALID_PARAMS,
            Self::UnknownResource(_)
            | Self::AmbiguousResource { .. }
            | Self::Subscriptions(_)
            | Self::InvalidState
            | Self::UnknownTask(_) => code::INVALID_PARAMS,
            Self::HeaderMismatch(_) => code::HEADER_MISMATCH,
            Self::MissingCapability(_) => code::MISSING_CAPABILITY,
            Self::UnsupportedVersion(_) => code::UNSUPPORTED_VERSION,
            Self::Route(_)
            | Self::Timeout { .. }
            | Self::Silence { .. }
            | Self::Forbidden(_)
            | Self::Full(_)
            | Self::RateLimited { .. }
            | Self::TooManySuspended(_)
            | Self::SubscriptionsAt(_)
            | Self::Unanswered(_)
            | Self::TaskRefused { .. }
            | Self::Denied(_)
            | Self::GivenUp(_)
            | Self::Stopping
            | Self::OperationInProgress
            | Self::DatabaseLocked
            | Self::NotKept(_)
            | Self::Internal => code::INTERNAL,
        }
    }

    /// What programs find in `data` (the ERR table of the promises).
    fn data(&self, request: u64) -> Option<Value> {
        match self {
            Self::UnsupportedVersion(asked) => {
                Some(json!({ "supported": [Version::NEWEST_STATELESS.as_str()], "requested": asked }))
            }
            Self::MissingCapability(extension) => {
                Some(json!({ "requiredCapabilities": { "extensions": { *extension: {} } } }))
            }
            Self::UnknownResource(uri) => Some(json!({ "uri": uri })),
            Self::NoUpdates(server) => Some(json!({ "server": server })),
            Self::AmbiguousResource { uri, servers } => Some(json!({ "uri": uri, "servers": servers })),
            Self::NotEquipped { origin, builtins, .. } => {
                let mut data = self.reasoned("not_equipped", request);
                data["hint"] = equip_hint(origin, *builtins).into();
                Some(data)
            }
            Self::NotYetKnown { server, .. } => {
                let mut data = self.reasoned("starting", request);
                data["hint"] = format!(
                    "server `{server}` is starting, and its tools are not known yet; try again in a moment"
                )
                .into();
                Some(data)
            }
            _ => self.reason().map(|reason| self.reasoned(reason, request)),
        }
    }

    fn reasoned(&self, reason: &'static str, request: u64) -> Value {
        let mut data = Map::new();
        data.insert("reason".into(), reason.into());
        if let Some(server) = self.server() {
            data.insert("server".into(), server.as_str().into());
        }
        data.insert("retry".into(), self.retry().into());
        if let Some(after) = self.retry_after() {
            data.insert(
                "retryAfterMs".into(),
                u64::try_from(after.as_millis()).unwrap_or(u64::MAX).into(),
            );
        }
        if let Self::Route(error) = self
            && !error.backends.is_empty()
        {
            let fault = |fault: &BackendFault| json!({ "backend": &*fault.backend, "reason": fault.reason });
            data.insert("backends".into(), error.backends.iter().map(fault).collect());
        }
        data.insert("requestId".into(), request.into());
        Value::Object(data)
    }

    /// Whether it was refused because there was too much of something.
    pub(crate) fn is_of_limits(&self) -> bool {
        matches!(self.reason(), Some("busy" | "rate_limited"))
    }

    /// What programs know it by, where there is such a word.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        Some(match self {
            Self::UnknownTool(_) => "unknown_tool",
            Self::NotYetKnown { .. } => "starting",
            Self::HeldBack(_) => "held_back",
            Self::Route(error) => match error.kind {
                RouteErrorKind::Starting => "starting",
                RouteErrorKind::Busy => "busy",
                RouteErrorKind::OutcomeUnknown | RouteErrorKind::Malformed | RouteErrorKind::TooLarge => {
                    "outcome_unknown"
                }
                RouteErrorKind::TimedOut => "timeout",
                RouteErrorKind::NoBackend => "no_backend",
                _ => "server_down",
            },
            Self::Timeout { .. } => "timeout",
            Self::Silence { .. } => "silence",
            Self::Forbidden(_) => "forbidden",
            Self::Full(_) | Self::TooManySuspended(_) | Self::SubscriptionsAt(_) | Self::DatabaseLocked => {
                "busy"
            }
            Self::Denied(_) => "denied",
            Self::RateLimited { .. } => "rate_limited",
            Self::GivenUp(_) => "outcome_unknown",
            Self::Stopping => "starting",
            Self::OperationInProgress => "operation_in_progress",
            Self::Internal | Self::NotKept(_) => "internal",
            _ => return None,
        })
    }

    fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Route(error) => Some(&error.server),
            Self::Timeout { server, .. }
            | Self::Silence { server, .. }
            | Self::TooManySuspended(server)
            | Self::SubscriptionsAt(server)
            | Self::NotYetKnown { server, .. }
            | Self::GivenUp(server) => Some(server),
            Self::HeldBack(origin) => Some(&origin.server),
            _ => None,
        }
    }

    fn retry(&self) -> &'static str {
        match self {
            Self::Route(error) => match error.retry() {
                Retry::Safe => "safe",
                Retry::Unsafe => "unsafe",
                Retry::No => "no",
            },
            Self::Timeout { .. } | Self::Silence { .. } | Self::GivenUp(_) | Self::Internal => "unsafe",
            Self::Full(_)
            | Self::SubscriptionsAt(_)
            | Self::RateLimited { .. }
            | Self::Stopping
            | Self::NotYetKnown { .. }
            | Self::OperationInProgress
            | Self::DatabaseLocked
            | Self::NotKept(_) => "safe",
            _ => "no",
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Route(error) => error.retry_after,
            Self::RateLimited { wait, .. } => Some(*wait),
            _ => None,
        }
    }
}

/// How to get a tool that is there and not equipped.
fn equip_hint(origin: &str, builtins: bool) -> String {
    match builtins {
        true => format!(
            "`{origin}` is not in the equipped toolset: equip one that holds it with `equip-toolset`, make one with \
             `build-toolset`, or see all tools with `unequip-toolset` where the gateway exposes all"
        ),
        false => format!(
            "`{origin}` is not in the toolset in force: an operator can add it with `mcpr-ctl toolsets edit`"
        ),
    }
}

impl From<Full> for Fault {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

impl From<RouteError> for Fault {
    fn from(error: RouteError) -> Self {
        Self::Route(error)
    }
}
