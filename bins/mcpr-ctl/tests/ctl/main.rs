//! What people and scripts see of `mcpr-ctl`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod failures;
mod gateway;
mod help;
mod offline;
mod online;
mod samples;
mod stage;
