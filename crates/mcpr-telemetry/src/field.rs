//! The one list of field names that log events use.
//!
//! ```
//! use mcpr_telemetry::field;
//!
//! tracing::warn!({ field::SERVER } = "git", { field::REASON } = "it closed its stdout", "server lost");
//! ```

/// A socket address or URL, without its query.
pub const ADDRESS: &str = "address";
/// How many tries there were, or which one this is.
pub const ATTEMPT: &str = "attempt";
/// The name of the client program.
pub const CLIENT: &str = "client";
/// What ties together the log lines of one request across programs.
pub const CORRELATION_ID: &str = "correlation_id";
/// How many there are of what the message names.
pub const COUNT: &str = "count";
/// How long it took.
pub const ELAPSED: &str = "elapsed";
/// The era of the protocol: session or stateless.
pub const ERA: &str = "era";
/// An error, with its causes.
pub const ERROR: &str = "error";
/// The exit status of a child process.
pub const EXIT: &str = "exit";
/// The method of the MCP request.
pub const METHOD: &str = "method";
/// How it ended.
pub const OUTCOME: &str = "outcome";
/// A path in the file system.
pub const PATH: &str = "path";
/// The id of a process.
pub const PID: &str = "pid";
/// Who calls: the id of a token, never its secret.
pub const PRINCIPAL: &str = "principal";
/// The project in force.
pub const PROJECT: &str = "project";
/// The name of a prompt.
pub const PROMPT: &str = "prompt";
/// Why it happened.
pub const REASON: &str = "reason";
/// Which replica of a server.
pub const REPLICA: &str = "replica";
/// The id of the MCP request.
pub const REQUEST_ID: &str = "request_id";
/// The URI of a resource.
pub const RESOURCE: &str = "resource";
/// The name of an upstream server.
pub const SERVER: &str = "server";
/// The id of a session.
pub const SESSION: &str = "session";
/// Where in the source an event comes from; written by this crate in development builds.
pub const SOURCE: &str = "source";
/// A state that something has reached.
pub const STATE: &str = "state";
/// A line of text from elsewhere, such as a server's stderr.
pub const TEXT: &str = "text";
/// The name of a tool.
pub const TOOL: &str = "tool";
/// The name of a toolset.
pub const TOOLSET: &str = "toolset";
/// The kind of transport.
pub const TRANSPORT: &str = "transport";
/// A URL that went through [`redact::url`](crate::redact::url).
pub const URL: &str = "url";
/// A version of a protocol or program.
pub const VERSION: &str = "version";
