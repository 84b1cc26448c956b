//! What helps outside of the program: completions and man pages.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use mcpr_admin::ExitCode;

use crate::cli::Cli;
use crate::completion;
use crate::out::Out;
use crate::problem::Problem;

/// `completions`
pub(super) fn completions(out: &Out, shell: Shell) -> Result<ExitCode, Problem> {
    out.bytes(&completion::script(shell)?)?;
    Ok(ExitCode::Ok)
}

/// `man`
pub(super) fn man(out: &Out, folder: &Path) -> Result<ExitCode, Problem> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    let place = folder.display();
    written.map_err(|error| Problem::failed(format!("the man pages cannot be written to {place}: {error}")))?;
    out.note(&format!("the man pages are in {place}; `man {place}/mcpr-ctl.1` shows the first"));
    Ok(ExitCode::Ok)
}
