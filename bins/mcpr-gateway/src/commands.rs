//! One file for each command.

mod check;
mod completions;
mod connect;
mod demo;
mod init;
mod serve;
mod stdio;
mod version;

use std::io;

use mcpr_admin::ExitCode;
use mcpr_transport::child::guardian;

use crate::cli::{Cli, Command};
use crate::demo_server;
use crate::manager::Manager;
use crate::problem::Problem;

/// Does what was typed.
pub(crate) fn run(cli: Cli, manager: Manager) -> Result<ExitCode, Problem> {
    match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Serve(args) => serve::run(&args, manager),
        Command::Stdio(args) => stdio::run(&args),
        Command::Connect(args) => connect::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Version { json } => version::run(json),
        Command::Completions(args) => completions::completions(args.shell),
        Command::Man(args) => completions::man(&args.folder),
        Command::Guardian => Ok(watch()),
        Command::DemoServer { which } => demo_server::run(which),
    }
}

fn watch() -> ExitCode {
    guardian::run(io::stdin().lock());
    ExitCode::Ok
}
