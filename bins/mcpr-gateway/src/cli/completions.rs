//! What can be said about completions and man pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// For which shell.
#[derive(Debug, Args)]
#[command(after_help = LOADING)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Where the man pages go.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

const LOADING: &str = "\
Have the shell load them when it starts, so that they always fit the program:
  bash        in ~/.bashrc                    source <(mcpr-gateway completions bash)
  zsh         in ~/.zshrc, after compinit     source <(mcpr-gateway completions zsh)
  fish        in ~/.config/fish/config.fish   mcpr-gateway completions fish | source
  powershell  in $PROFILE                     mcpr-gateway completions powershell | Out-String | Invoke-Expression
  elvish      in ~/.config/elvish/rc.elv      eval (mcpr-gateway completions elvish | slurp)";
