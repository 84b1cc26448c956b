//! What can be typed about clients.

use clap::{Args, Subcommand, ValueEnum};
use mcpr_config::clients::ClientApp;

/// The commands for clients.
#[derive(Debug, Subcommand)]
pub(crate) enum Clients {
    /// List the clients on this machine and whether they use mcpr
    #[command(alias = "list")]
    Ls,
    /// Print the entry that points a client at the gateway, ready for its file
    #[command(after_help = PRINTING)]
    Print(Print),
}

/// Which entry is wanted.
#[derive(Debug, Args)]
pub(crate) struct Print {
    /// The client: claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf, zed, cline or goose
    #[arg(value_name = "NAME", value_parser = str::parse::<ClientApp>)]
    pub(crate) client: ClientApp,
    /// The address of the gateway; that of the running one, or of the configuration, without it
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The variable that the client takes the token from; MCPR_TOKEN without it
    #[arg(long, value_name = "VAR", value_parser = variable, conflicts_with = "stdio")]
    pub(crate) token_env: Option<String>,
    /// Have it start a program instead of connecting to a URL
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "connect"
    )]
    pub(crate) stdio: Option<Stdio>,
    /// The project to work in
    #[arg(long, value_name = "PROJECT", value_parser = name)]
    pub(crate) project: Option<String>,
    /// The saved toolset whose tools it sees
    #[arg(long, value_name = "TOOLSET", value_parser = name)]
    pub(crate) toolset: Option<String>,
}

/// What a client starts. Not documented one by one, which would spread the help over pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stdio {
    // `mcpr-gateway connect`
    Connect,
    // `mcpr-gateway stdio`
    Own,
}

const PRINTING: &str = "\
Only the entry goes to standard output; where it belongs, and the command that adds it if the client has one, go to
standard error. No file is changed.

Programs that a client can start, which those that take no URLs do anyway:
  --stdio        mcpr-gateway connect: a way to the running gateway
  --stdio=own    mcpr-gateway stdio: a gateway that no other client uses, with the files of --config

Examples:
  mcpr-ctl clients print cursor
  mcpr-ctl clients print claude-code --project web
  mcpr-ctl clients print claude-desktop --stdio=own --config ~/.mcp.json";

fn variable(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match begins && text.chars().all(legal) {
        true => Ok(text.to_owned()),
        false => Err("write the name of a variable, such as MCPR_TOKEN".to_owned()),
    }
}

/// A name that can stand in a header.
fn name(text: &str) -> Result<String, String> {
    let plain = !text.is_empty() && !text.chars().any(char::is_control);
    match plain {
        true => Ok(text.to_owned()),
        false => Err("it must not be empty or have control characters".to_owned()),
    }
}
