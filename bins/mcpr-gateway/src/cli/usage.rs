//! What is said when the command line makes no sense.

use clap::Error;
use mcpr_admin::ExitCode;

/// Tells what is wrong with the command line, or gives the help that was asked for.
pub(crate) fn ended(error: &Error) -> ExitCode {
    // Nobody is left to tell if that fails.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::Usage
    } else {
        ExitCode::Ok
    }
}
