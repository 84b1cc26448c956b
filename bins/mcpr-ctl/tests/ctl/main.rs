//! What people and scripts see of `mcpr-ctl`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod calls;
mod clients;
mod config;
mod doctor;
mod events;
mod explain;
mod failures;
mod gateway;
mod help;
mod offline;
mod online;
mod open;
mod projects;
mod running;
mod samples;
mod servers;
mod servers_file;
mod shelf;
mod stage;
mod tokens;
mod tools;
mod toolsets;
