//! `mcpr-gateway`: one endpoint in front of many MCP servers.
//!
//! `cli` says what can be typed, `commands` has one file for each command. Those that run a gateway
//! are made of the same parts: `settings` (files, variables and flags), `doors` (the addresses, with the `claim` to the home),
//! `log`, `memory`, `descriptors`, `host` (the gateway with what it needs of a process), `signals`, `orphans`, `manager`
//! (systemd), and what people are told at the start: `summary`, `welcome`, `snippets`. `demo_server` is what `demo` puts behind its
//! gateway, and `completion` answers shells.

mod allocator;
mod claim;
mod cli;
mod commands;
mod completion;
mod demo_server;
mod descriptors;
mod doors;
mod host;
mod log;
mod manager;
mod memory;
mod orphans;
mod out;
mod problem;
mod settings;
mod signals;
mod snippets;
mod summary;
mod welcome;

use std::process;

use clap::Parser;
use mcpr_admin::ExitCode;

use self::allocator::Mimalloc;
use self::cli::{Cli, usage};
use self::manager::Manager;

#[global_allocator]
static ALLOCATOR: Mimalloc = Mimalloc;

fn main() -> process::ExitCode {
    let ended = match completion::answered() {
        Ok(true) => ExitCode::Ok,
        Ok(false) => ordinary(),
        Err(error) => usage::ended(&error),
    };
    ended.into()
}

/// Does what was typed, and tells how it ended.
fn ordinary() -> ExitCode {
    let manager = Manager::take();
    descriptors::raise();
    match Cli::try_parse() {
        Ok(cli) => out::ended(commands::run(cli, manager)),
        Err(error) => usage::ended(&error),
    }
}
