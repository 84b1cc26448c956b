//! One file for each thing to look after.

mod prompts;
mod resources;
mod servers;
mod status;
mod stop;
mod tokens;
mod tools;

use mcpr_admin::ExitCode;

use crate::cli::{Cli, Command, Prompts, Resources, Servers, Tokens, Tools, usage};
use crate::connect::Gateway;
use crate::out::Out;
use crate::problem::Problem;

/// Does what was typed.
pub(crate) async fn run(cli: &Cli, out: &Out) -> Result<ExitCode, Problem> {
    let gateway = || Gateway::locate(&cli.global);
    match &cli.command {
        Command::Status { exit_code } => status::show(&gateway()?, out, *exit_code).await,
        Command::Servers(Servers::Ls) => servers::list(&gateway()?, out).await,
        Command::Tools(Tools::Ls(filter)) => tools::list(&gateway()?, out, filter).await,
        Command::Tools(Tools::Show { name }) => tools::show(&gateway()?, out, name).await,
        Command::Tools(Tools::Call {
            name,
            args,
            json_args,
        }) => {
            let arguments = tools::arguments(args, json_args.clone())?;
            tools::call(&gateway()?, out, name, arguments).await
        }
        Command::Resources(Resources::Ls(filter)) => resources::list(&gateway()?, out, filter).await,
        Command::Resources(Resources::Read { uri, force }) => {
            resources::read(&gateway()?, out, uri, *force).await
        }
        Command::Prompts(Prompts::Ls(filter)) => prompts::list(&gateway()?, out, filter).await,
        Command::Prompts(Prompts::Get { name, args }) => prompts::get(&gateway()?, out, name, args).await,
        Command::Tokens(Tokens::Create(new)) => tokens::create(&cli.global, out, new).await,
        Command::Tokens(Tokens::Ls) => tokens::list(&cli.global, out).await,
        Command::Tokens(Tokens::Revoke { which }) => tokens::revoke(&cli.global, out, which).await,
        Command::Stop => stop::stop(&cli.global, out).await,
        Command::ExitCodes => usage::exit_codes(out),
    }
}
