//! What a shell hears when somebody presses Tab.

use std::env;
use std::io;

use clap::CommandFactory;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use crate::cli::Cli;

/// The variable by which a shell's script asks. Other programs use `COMPLETE`, which somebody may have set.
const VARIABLE: &str = "MCPR_COMPLETE";

const PROGRAM: &str = "mcpr-gateway";

/// Answers a shell that asks what can follow; `false` if none does.
pub(crate) fn answered() -> Result<bool, clap::Error> {
    let folder = env::current_dir().ok();
    CompleteEnv::with_factory(Cli::command)
        .var(VARIABLE)
        .bin(PROGRAM)
        .completer(PROGRAM)
        .try_complete(env::args_os(), folder.as_deref())
}

/// What a shell has to read so that it asks.
pub(crate) fn script(shell: Shell) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let known = shells.completer(&shell.to_string());
    let known = known.expect("clap knows the same shells in both ways");
    known.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    Ok(script)
}
