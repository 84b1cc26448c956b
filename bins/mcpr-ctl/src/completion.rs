//! What a shell hears when somebody presses Tab: commands and options from `cli`, names from the running gateway.

mod kind;
mod names;

use std::env;
use std::ffi::OsStr;
use std::io;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use self::kind::Kind;
use crate::cli::Cli;

/// The variable by which a shell's script asks. Other programs use `COMPLETE`, which somebody may have set.
const VARIABLE: &str = "MCPR_COMPLETE";

const PROGRAM: &str = "mcpr-ctl";

/// Answers a shell that asks what can follow; `false` if none does.
pub(crate) fn answered() -> Result<bool, clap::Error> {
    let folder = env::current_dir().ok();
    CompleteEnv::with_factory(command)
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

/// All commands, whose arguments know what they name.
fn command() -> Command {
    knowing(Cli::command(), "")
}

fn knowing(command: Command, above: &str) -> Command {
    let path = format!("{above} {}", command.get_name());
    let args = |arg| with_names(arg, &path);
    command
        .mut_args(args)
        .mut_subcommands(|below| knowing(below, &path))
}

fn with_names(arg: Arg, path: &str) -> Arg {
    match Kind::of(path, &arg) {
        Some(kind) => arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
            candidates(kind, typed)
        })),
        None => arg,
    }
}

fn candidates(kind: Kind, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = names::known(kind)
        .into_iter()
        .filter(|name| name.text.starts_with(&*typed));
    fitting.map(CompletionCandidate::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each argument whose names are known, with their kind.
    fn named(command: &Command, above: &str) -> Vec<String> {
        let path = format!("{above} {}", command.get_name());
        let own = command.get_arguments().filter_map(|arg| {
            let kind = Kind::of(&path, arg)?;
            Some(format!("{} {arg}: {kind:?}", path.trim()))
        });
        let below = command
            .get_subcommands()
            .filter(|below| below.get_name() != "help");
        let below = below.flat_map(|below| named(below, &path));
        own.chain(below).collect()
    }

    #[test]
    fn ctl_04_what_names_something_that_exists_is_completed() {
        let mut all = Cli::command();
        all.build();
        insta::assert_snapshot!(named(&all, "").join("\n"));
    }

    #[test]
    fn ctl_04_every_shell_has_a_script() {
        for shell in clap::ValueEnum::value_variants() {
            let script = String::from_utf8(script(*shell).unwrap()).unwrap();
            assert!(
                script.contains(VARIABLE) && script.contains(PROGRAM),
                "{shell}: {script}"
            );
        }
    }

    #[test]
    fn ctl_04_the_commands_are_consistent() {
        command().debug_assert();
    }
}
