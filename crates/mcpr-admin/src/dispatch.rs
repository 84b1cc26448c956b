//! The table of all operations, and the gateway's side of it.

use std::future::Future;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde::Serialize;

use crate::failure::FailureBody;
use crate::{
    CallTool, CreateToken, CreatedToken, ErrorCode, Failure, GetPrompt, ListPrompts, ListResources,
    ListServers, ListTokens, ListTools, Operation, PromptList, ReadResource, Relayed, ResourceList,
    RevokeToken, ServerList, ShowTool, Status, StatusReport, Stop, Stopping, TokenList, TokenReport,
    ToolDetail, ToolList,
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
    RevokeToken:   "tokens/revoke",  read_only = false => TokenReport;
    Stop:          "stop",           read_only = false => Stopping;
}

/// The operation that is sent to `path`, if there is one.
pub fn route(path: &str) -> Option<Route> {
    let path = path.strip_prefix(PREFIX)?;
    ROUTES.iter().find(|route| route.path == path).copied()
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
    let operation = match parse::<O>(body) {
        Ok(operation) => operation,
        Err(why) => return refuse(misshapen(O::PATH, &why)),
    };
    match gateway.execute(caller, operation).await {
        Ok(output) => answer(StatusCode::OK, &output),
        Err(failure) => refuse(failure),
    }
}

/// Members have names here: serde would also take a bare list of their values.
fn parse<O: Operation>(body: &[u8]) -> Result<O, String> {
    match body.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(body).map_err(|error| error.to_string()),
        _ => Err("it must be a JSON object".to_owned()),
    }
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
