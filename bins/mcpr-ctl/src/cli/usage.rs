//! What is said when the command line makes no sense.

use std::env;

use clap::{ColorChoice, CommandFactory, Error, FromArgMatches};
use mcpr_admin::ExitCode;

use super::{Cli, topics};
use crate::out::Out;
use crate::problem::Problem;

/// What was typed. Help and errors have the colours that are wanted.
pub(crate) fn parsed() -> Result<Cli, Error> {
    let matches = Cli::command().color(wanted_color()).try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

/// Tells what is wrong with the command line, or gives the help that was asked for.
pub(crate) fn ended(error: &Error) -> ExitCode {
    if error.use_stderr() && wants_json() {
        return Out::for_scripts().ended(Err(problem(error)));
    }
    // Nobody is left to tell if that fails.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::Usage
    } else {
        ExitCode::Ok
    }
}

/// A topic of `help` that was asked for as if it were a command.
fn topic(out: &Out, topic: &str) -> Result<ExitCode, Problem> {
    out.bytes(format!("{topic}\n").as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The table of exit codes.
pub(crate) fn exit_codes(out: &Out) -> Result<ExitCode, Problem> {
    topic(out, &topics::exit_codes())
}

/// The variables that count.
pub(crate) fn environment(out: &Out) -> Result<ExitCode, Problem> {
    topic(out, topics::ENVIRONMENT)
}

/// What goes in and what comes out.
pub(crate) fn formats(out: &Out) -> Result<ExitCode, Problem> {
    topic(out, topics::FORMATS)
}

/// The command line could not be understood, or not yet, so it is looked through for these flags.
fn wants_json() -> bool {
    flags().any(|flag| flag == "--json")
}

fn wanted_color() -> ColorChoice {
    let mut wanted = ColorChoice::Auto;
    let mut flags = flags();
    while let Some(flag) = flags.next() {
        let value = match flag.split_once('=') {
            Some(("--color", value)) => Some(value.to_owned()),
            _ if flag == "--color" => flags.next(),
            _ => None,
        };
        // What else it may be is an error, which is shown in the usual colours.
        wanted = value.and_then(|value| value.parse().ok()).unwrap_or(wanted);
    }
    wanted
}

fn flags() -> impl Iterator<Item = String> {
    let typed = env::args_os().skip(1).take_while(|arg| arg != "--");
    typed.map(|arg| arg.to_string_lossy().into_owned())
}

/// The first paragraph of the message: what is wrong, without the usage.
fn problem(error: &Error) -> Problem {
    let text = error.render().to_string();
    let what = text
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let message = what.split_whitespace().collect::<Vec<_>>().join(" ");
    Problem::usage(message).hint("`mcpr-ctl --help` shows what there is")
}
