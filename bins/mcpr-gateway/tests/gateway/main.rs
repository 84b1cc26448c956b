//! What people, clients and service managers see of `mcpr-gateway`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod bounds;
mod check;
mod demo;
mod ending;
mod first;
mod help;
mod http;
mod init;
mod pipes;
mod reloading;
mod stage;
mod starting;
mod systemd;
mod tls;
