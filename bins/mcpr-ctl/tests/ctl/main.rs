//! What people and scripts see of `mcpr-ctl`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod backup;
mod calls;
mod clients;
mod completions;
mod config;
mod doctor;
mod events;
mod exit_codes;
mod explain;
mod failures;
mod gateway;
mod help;
mod history;
mod logs;
mod offline;
mod online;
mod open;
mod pins;
mod projects;
mod running;
mod samples;
mod secrets;
mod servers;
mod servers_file;
mod shelf;
mod stage;
mod terminal;
mod tokens;
mod tools;
mod toolsets;
mod top;
mod watch;
