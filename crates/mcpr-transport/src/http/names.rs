//! The headers of MCP.

use http::HeaderName;

/// Which session a message belongs to (session era).
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Which revision a message is written in.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of a request, repeated (stateless era).
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The name or URI that a request is about, repeated (stateless era).
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// From where a stream of events is to go on (session era).
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The beginning of the headers that repeat an argument (stateless era).
pub const PARAM_PREFIX: &str = "mcp-param-";
