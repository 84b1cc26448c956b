//! MCP over HTTP.

pub mod client;
pub mod names;
pub mod old_sse;
pub mod server;
