//! What can be said about taking over the servers of clients.

use std::path::PathBuf;

use clap::Args;
use mcpr_config::clients::ClientApp;

/// Which servers are taken over, and where they go.
#[derive(Debug, Args)]
#[command(after_help = READ)]
pub(crate) struct Init {
    /// Clients to import from; all that are found on this machine without it
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = str::parse::<ClientApp>)]
    pub(crate) from: Vec<ClientApp>,
    /// File to import from, of any client
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) from_file: Option<PathBuf>,
    /// Configuration file to write or add to; the user's without it
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace servers of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Write without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Show what would be done, and write nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const READ: &str = "\
Clients: claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf, zed, cline, goose.
Their own files are only read. Those of a project in the current folder (.mcp.json, .vscode/mcp.json, …) count for the
clients that --from names: they may be anybody's, and hold programs to run.";
