//! What is said when the command line makes no sense.

use std::env;

use clap::Error;
use mcpr_admin::ExitCode;

use super::topics;
use crate::out::Out;
use crate::problem::Problem;

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

/// `exit-codes`, which `help exit-codes` shows too.
pub(crate) fn exit_codes(out: &Out) -> Result<ExitCode, Problem> {
    out.bytes(format!("{}\n", topics::exit_codes()).as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The command line could not be understood, so it is looked through for this one flag.
fn wants_json() -> bool {
    env::args_os()
        .skip(1)
        .take_while(|arg| arg != "--")
        .any(|arg| arg == "--json")
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
