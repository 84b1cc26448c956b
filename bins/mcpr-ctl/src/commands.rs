//! One file for each thing to look after.

mod backup;
mod clients;
mod completions;
mod config;
mod doctor;
mod drain;
mod each;
mod events;
mod explain;
mod history;
mod logs;
mod pins;
mod projects;
mod prompts;
mod reload;
mod resources;
mod secrets;
mod servers;
mod status;
mod stop;
mod tokens;
mod tools;
mod toolsets;
mod top;

use std::io;

use mcpr_admin::ExitCode;
use mcpr_transport::child::guardian;

use crate::cli::{Cli, Command, Global, Prompts, Resources, usage};
use crate::connect::{Gateway, paths, tell_of_listeners};
use crate::occupant::Occupant;
use crate::out::Out;
use crate::problem::Problem;

/// Does what was typed.
pub(crate) async fn run(cli: &Cli, out: &Out) -> Result<ExitCode, Problem> {
    let ended = carry_out(cli, out).await;
    ended.map_err(|problem| unreached(&cli.global, problem))
}

/// Tells a gateway that runs and is not at its socket from none at all.
fn unreached(global: &Global, problem: Problem) -> Problem {
    let is_named = global.gateway.is_some() || global.socket.is_some();
    if is_named || !problem.is_absence() || problem.exit != ExitCode::NotRunning {
        return problem;
    }
    let paths = paths(global).ok();
    match paths.and_then(|paths| Some((Occupant::of(&paths)?, paths))) {
        Some((occupant, paths)) => problem.reworded(occupant.told(&paths)).hint(occupant.way_out()),
        None => problem,
    }
}

async fn carry_out(cli: &Cli, out: &Out) -> Result<ExitCode, Problem> {
    let gateway = || Gateway::locate(&cli.global);
    if cli.command.asks_a_gateway() {
        tell_of_listeners(&cli.global, out);
    }
    match &cli.command {
        Command::Status { exit_code, repeat } => status::show(&gateway()?, out, *repeat, *exit_code).await,
        Command::Top(asked) => top::top(&gateway()?, out, asked).await,
        Command::Servers(which) => servers::run(&cli.global, out, which).await,
        Command::Tools(which) => tools::run(&cli.global, out, which).await,
        Command::Explain(asked) => explain::explain(&gateway()?, out, asked).await,
        Command::Pins(which) => pins::run(&cli.global, out, which).await,
        Command::Toolsets(which) => toolsets::run(&cli.global, out, which).await,
        Command::Projects(which) => projects::run(&cli.global, out, which).await,
        Command::Resources(Resources::Ls(filter)) => resources::list(&gateway()?, out, filter).await,
        Command::Resources(Resources::Read { uri, force }) => {
            resources::read(&gateway()?, out, uri, *force).await
        }
        Command::Prompts(Prompts::Ls(filter)) => prompts::list(&gateway()?, out, filter).await,
        Command::Prompts(Prompts::Get { name, args }) => prompts::get(&gateway()?, out, name, args).await,
        Command::Tokens(which) => tokens::run(&cli.global, out, which).await,
        Command::Secrets(which) => secrets::run(&cli.global, out, which).await,
        Command::Config(which) => config::run(&cli.global, out, which).await,
        Command::Clients(which) => clients::run(&cli.global, out, which).await,
        Command::Doctor => doctor::run(&cli.global, out).await,
        Command::Events(asked) => events::follow(&gateway()?, out, asked).await,
        Command::History(asked) => history::run(&cli.global, out, asked).await,
        Command::Logs(asked) => logs::logs(&cli.global, out, asked).await,
        Command::Backup(asked) => backup::backup(&cli.global, out, asked).await,
        Command::Reload => reload::reload(&gateway()?, out).await,
        Command::Drain { wait } => drain::drain(&cli.global, out, *wait).await,
        Command::Stop => stop::stop(&cli.global, out).await,
        Command::Completions(asked) => completions::completions(out, asked.shell),
        Command::Man(asked) => completions::man(out, &asked.folder),
        Command::ExitCodes => usage::exit_codes(out),
        Command::Environment => usage::environment(out),
        Command::Formats => usage::formats(out),
        Command::Guardian => Ok(guard()),
    }
}

/// The runtime of this program has no threads, so this may be done in it.
fn guard() -> ExitCode {
    guardian::run(io::stdin().lock());
    ExitCode::Ok
}
