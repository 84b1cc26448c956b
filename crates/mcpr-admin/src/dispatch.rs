//! The table of all operations, and the gateway's side of it.

use std::future::Future;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::FailureBody;
use crate::{
    AcceptToolset, Active, ActiveToolset, ApprovePins, BuildToolset, Built, CallReport, CallTool,
    CreateToken, CreatedToken, DeleteProject, DeleteToolset, DiffPins, DisableServer, DisableTool,
    DiscoverTools, Discovered, Drain, Drained, EnableServer, EnableTool, EquipToolset, Equipped, ErrorCode,
    ExplainTool, Explanation, Failure, GetPrompt, HistoryList, ListHistory, ListPins, ListProjects,
    ListPrompts, ListResources, ListSecrets, ListServers, ListTokens, ListTools, ListToolsets, LogReport,
    Operation, OverrideTool, PinDiff, PinList, ProjectList, ProjectReport, PromptList, PurgeHistory, Purged,
    ReadResource, Relayed, Reload, Reloaded, RemoveSecret, ResourceList, RestartServer, RevokeToken,
    RotateToken, SaveProject, SaveToolset, SecretList, SecretReport, ServerDetail, ServerList, ServerReport,
    SetLogLevel, SetSecret, ShowCall, ShowLog, ShowProject, ShowServer, ShowTool, ShowToolset, Status,
    StatusReport, Stop, Stopping, Streamed, TokenList, TokenReport, ToolDetail, ToolList, ToolSwitch,
    ToolsetDetail, ToolsetList, ToolsetReport, UnequipToolset, Unequipped, Watch,
};

/// What the path of every operation begins with.
pub const PREFIX: &str = "/admin/v1/";

/// Where an operation is sent, and what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// [`Operation::PATH`].
    pub path: &'static str,
    /// [`Operation::READ_ONLY`].
    pub read_only: bool,
}

/// Can carry out operations of type `O` for callers of type `C`.
///
/// ```
/// use mcpr_admin::{Execute, Failure, Stop, Stopping};
///
/// struct Gateway;
/// struct Caller;
///
/// impl Execute<Stop, Caller> for Gateway {
///     async fn execute(&self, _: &Caller, _: Stop) -> Result<Stopping, Failure> {
///         Ok(Stopping { pid: std::process::id() })
///     }
/// }
/// ```
pub trait Execute<O: Operation, C: ?Sized> {
    /// Carries it out. Whether the caller may ask for it was checked before.
    ///
    /// # Errors
    ///
    /// The [`Failure`] that the caller gets.
    fn execute(&self, caller: &C, operation: O) -> impl Future<Output = Result<O::Output, Failure>> + Send;
}

/// Ties each operation to its path, its scope and its output, and generates all that must not
/// forget one: the implementations, [`ROUTES`], [`ExecuteAll`] and [`dispatch`].
macro_rules! operations {
    ($($operation:ident: $path:literal, read_only = $read_only:literal => $output:ident;)+) => {
        $(impl Operation for $operation {
            type Output = $output;
            const PATH: &'static str = $path;
            const READ_ONLY: bool = $read_only;
        })+

        /// All operations.
        pub const ROUTES: &[Route] = &[$(Route { path: $path, read_only: $read_only }),+];

        /// Can carry out every operation. Comes by itself with the last of them.
        pub trait ExecuteAll<C: ?Sized>: $(Execute<$operation, C> +)+ Sync {}

        impl<G, C: ?Sized> ExecuteAll<C> for G where G: $(Execute<$operation, C> +)+ Sync {}

        /// Carries out the operation that was sent to `path` with `body`, and gives the answer to send back.
        ///
        /// Before this, the caller must be known and allowed to ask: [`route`] says what it takes.
        pub async fn dispatch<G, C>(gateway: &G, caller: &C, path: &str, body: &[u8]) -> Response<Bytes>
        where
            G: ExecuteAll<C>,
            C: Sync + ?Sized,
        {
            match path.strip_prefix(PREFIX) {
                $(Some($path) => perform::<$operation, G, C>(gateway, caller, body).await,)+
                _ => refuse(unknown(path)),
            }
        }
    };
}

operations! {
    Status:        "status",         read_only = true  => StatusReport;
    ListServers:   "servers/list",   read_only = true  => ServerList;
    ListTools:     "tools/list",     read_only = true  => ToolList;
    ShowTool:      "tools/show",     read_only = true  => ToolDetail;
    CallTool:      "tools/call",     read_only = false => Relayed;
    ListResources: "resources/list", read_only = true  => ResourceList;
    ReadResource:  "resources/read", read_only = false => Relayed;
    ListPrompts:   "prompts/list",   read_only = true  => PromptList;
    GetPrompt:     "prompts/get",    read_only = false => Relayed;
    CreateToken:   "tokens/create",  read_only = false => CreatedToken;
    ListTokens:    "tokens/list",    read_only = false => TokenList;
    RotateToken:   "tokens/rotate",  read_only = false => CreatedToken;
    RevokeToken:   "tokens/revoke",  read_only = false => TokenReport;
    Stop:          "stop",           read_only = false => Stopping;
    DiscoverTools:  "tools/discover",   read_only = true  => Discovered;
    EnableTool:     "tools/enable",     read_only = false => ToolSwitch;
    DisableTool:    "tools/disable",    read_only = false => ToolSwitch;
    OverrideTool:   "tools/override",   read_only = false => ToolSwitch;
    ExplainTool:    "tools/explain",    read_only = false => Explanation;
    ListToolsets:   "toolsets/list",    read_only = true  => ToolsetList;
    ShowToolset:    "toolsets/show",    read_only = true  => ToolsetDetail;
    BuildToolset:   "toolsets/build",   read_only = false => Built;
    SaveToolset:    "toolsets/save",    read_only = false => Built;
    EquipToolset:   "toolsets/equip",   read_only = false => Equipped;
    UnequipToolset: "toolsets/unequip", read_only = false => Unequipped;
    ActiveToolset:  "toolsets/active",  read_only = true  => Active;
    DeleteToolset:  "toolsets/delete",  read_only = false => ToolsetReport;
    AcceptToolset:  "toolsets/accept",  read_only = false => ToolsetDetail;
    ListProjects:   "projects/list",    read_only = true  => ProjectList;
    ShowProject:    "projects/show",    read_only = true  => ProjectReport;
    SaveProject:    "projects/save",    read_only = false => ProjectReport;
    DeleteProject:  "projects/delete",  read_only = false => ProjectReport;
    ShowServer:     "servers/show",     read_only = true  => ServerDetail;
    EnableServer:   "servers/enable",   read_only = false => ServerReport;
    DisableServer:  "servers/disable",  read_only = false => ServerReport;
    RestartServer:  "servers/restart",  read_only = false => ServerReport;
    ListPins:       "pins/list",        read_only = true  => PinList;
    DiffPins:       "pins/diff",        read_only = true  => PinDiff;
    ApprovePins:    "pins/approve",     read_only = false => PinList;
    Reload:         "reload",           read_only = false => Reloaded;
    Drain:          "drain",            read_only = false => Drained;
    ListHistory:    "history/list",     read_only = true  => HistoryList;
    ShowCall:       "history/show",     read_only = true  => CallReport;
    PurgeHistory:   "history/purge",    read_only = false => Purged;
    ListSecrets:    "secrets/list",     read_only = false => SecretList;
    SetSecret:      "secrets/set",      read_only = false => SecretReport;
    RemoveSecret:   "secrets/remove",   read_only = false => SecretReport;
    ShowLog:        "log/show",         read_only = true  => LogReport;
    SetLogLevel:    "log/level",        read_only = false => LogReport;
}

/// All operations whose answer can be a stream; [`dispatch`] does not carry them out as such.
pub const STREAMS: &[Route] = &[stream_route::<Watch>(), stream_route::<CallTool>()];

const fn stream_route<S: Streamed>() -> Route {
    Route {
        path: S::PATH,
        read_only: S::READ_ONLY,
    }
}

/// The operation that is sent to `path`, if there is one.
pub fn route(path: &str) -> Option<Route> {
    let path = path.strip_prefix(PREFIX)?;
    let mut all = ROUTES.iter().chain(STREAMS);
    all.find(|route| route.path == path).copied()
}

/// The answer that says why nothing was done.
pub fn refuse(failure: Failure) -> Response<Bytes> {
    answer(failure.code.status(), &FailureBody { error: failure })
}

async fn perform<O, G, C>(gateway: &G, caller: &C, body: &[u8]) -> Response<Bytes>
where
    O: Operation,
    G: Execute<O, C> + Sync,
    C: Sync + ?Sized,
{
    let operation = match parse(O::PATH, body) {
        Ok(operation) => operation,
        Err(failure) => return refuse(failure),
    };
    match gateway.execute(caller, operation).await {
        Ok(output) => answer(StatusCode::OK, &output),
        Err(failure) => refuse(failure),
    }
}

/// Members have names here: serde would also take a bare list of their values.
pub(crate) fn parse<O: DeserializeOwned>(path: &str, body: &[u8]) -> Result<O, Failure> {
    let read = match body.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(body).map_err(|error| error.to_string()),
        _ => Err("it must be a JSON object".to_owned()),
    };
    read.map_err(|why| misshapen(path, &why))
}

fn misshapen(path: &str, why: &str) -> Failure {
    let failure = Failure::new(
        ErrorCode::Invalid,
        format!("the body is no `{path}` operation: {why}"),
    );
    failure.hint("a client that is newer than the gateway may send more than it understands")
}

fn unknown(path: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, format!("there is no operation at `{path}`"));
    failure.hint("a client that is newer than the gateway may know more operations")
}

fn answer(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    let body = serde_json::to_vec(body).expect("our own values are JSON");
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
