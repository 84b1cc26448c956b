//! All that is written outside of the log: data to standard output, talk to standard error.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use mcpr_admin::ExitCode;
use mcpr_telemetry::printable;

use crate::problem::Problem;

/// Writes data.
pub(crate) fn data(text: &str) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // The reader has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Tells people something that is no data, and never gets into the log.
pub(crate) fn say(text: &str) {
    // Nobody is left to tell if that fails.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The same where others must not wait for whoever reads it, or does not.
pub(crate) async fn tell(text: String) {
    // Nobody is left to tell if that fails, either.
    let _ = tokio::task::spawn_blocking(move || say(&text)).await;
}

/// Whether what people are told stays in a file that others than its owner may read.
pub(crate) fn is_kept_for_others() -> bool {
    let own = io::stderr().as_fd().try_clone_to_owned();
    let file = own.map(File::from).and_then(|file| file.metadata());
    file.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o044 != 0)
}

/// Tells how the command ended.
pub(crate) fn ended(outcome: Result<ExitCode, Problem>) -> ExitCode {
    outcome.unwrap_or_else(|problem| {
        let hint = problem
            .hint
            .map(|hint| format!("\n{} {}", paint(32, " help:"), printable(&hint)));
        say(&format!(
            "{} {}{}",
            paint(31, "error:"),
            printable(&problem.message),
            hint.unwrap_or_default()
        ));
        problem.exit
    })
}

fn paint(colour: u8, text: &str) -> String {
    match wants_color() {
        true => format!("\x1b[{colour}m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

/// On a terminal, unless the variables that many programs know say otherwise.
fn wants_color() -> bool {
    let value = |name| env::var_os(name).filter(|value| !value.is_empty());
    let forced = value("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    value("NO_COLOR").is_none() && (forced || io::stderr().is_terminal())
}
