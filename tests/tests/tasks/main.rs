//! Calls that become tasks, visits of URLs, schemas that have grown old, and MCP Apps: what passes
//! between clients and servers that both know of it, and what mcpr does for those that do not.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod apps;
mod ear;
mod extension;
mod handles;
mod listens;
mod old;
mod place;
mod schemas;
mod unseen;
mod visits;
#[path = "../front/wire.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod wire;
