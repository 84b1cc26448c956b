//! What people and scripts see of `mcpr-ctl`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod config;
mod explain;
mod failures;
mod gateway;
mod help;
mod offline;
mod online;
mod projects;
mod running;
mod samples;
mod servers;
mod shelf;
mod servers_file;
mod stage;
mod tokens;
mod tools;
mod toolsets;
