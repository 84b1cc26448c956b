//! `mcpr-ctl`: looks after mcpr from a terminal or a script.
//!
//! `cli` says what can be typed, `commands` has one file for each thing to look after, `connect`
//! finds the gateway, `books` asks it or, while none is running, `database` in its place, `occupant` tells whether one runs
//! all the same, `files` opens the configuration files, `probe` tries one server of them, `clients` looks for the clients on this machine, `hidden` reads what nobody shall see (`terminal` sees to that), and everything that is written
//! goes through `out`. `completion` answers shells.

mod books;
mod cli;
mod clients;
mod commands;
mod completion;
mod connect;
mod database;
mod editor;
mod files;
mod hidden;
mod interrupt;
mod occupant;
mod out;
mod probe;
mod problem;
mod suggest;
mod terminal;

use std::process;

use mcpr_admin::ExitCode;

use self::cli::{Cli, usage};
use self::out::Out;
use self::problem::Problem;

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
    match usage::parsed() {
        Ok(cli) => Out::new(&cli.global).ended(run(&cli)),
        Err(error) => usage::ended(&error),
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(commands::run(cli, &Out::new(&cli.global)))
}
