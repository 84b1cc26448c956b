//! MCP over HTTP.

pub mod client;
mod http1;
pub mod names;
pub mod old_sse;
pub mod server;
