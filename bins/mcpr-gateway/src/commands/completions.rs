//! What helps outside of the program: completions and man pages.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use mcpr_admin::ExitCode;

use crate::cli::Cli;
use crate::completion;
use crate::out;
use crate::problem::Problem;

/// `completions`
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Problem> {
    let script = completion::script(shell)?;
    out::data(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Ok)
}

/// `man`
pub(super) fn man(folder: &Path) -> Result<ExitCode, Problem> {
    let place = folder.display();
    let written = fs::create_dir_all(folder).and_then(|()| pages(folder));
    written.map_err(|error| {
        let message = format!("the man pages cannot be written to {place}: {error}");
        Problem::new(ExitCode::Failed, message)
    })?;
    out::say(&format!(
        "the man pages are in {place}; `man {place}/mcpr-gateway.1` shows the first"
    ));
    Ok(ExitCode::Ok)
}

/// A page for each command.
fn pages(folder: &Path) -> io::Result<()> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    page(&all, folder)
}

fn page(command: &Command, folder: &Path) -> io::Result<()> {
    let mut shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    shown.try_for_each(|below| page(below, folder))?;
    let page = Man::new(command.clone()).source(concat!("mcpr ", env!("CARGO_PKG_VERSION")));
    page.manual("mcpr").generate_to(folder).map(drop)
}
