//! What can be typed about a backup.

use std::path::PathBuf;

use clap::Args;

/// Where a backup goes.
#[derive(Debug, Args)]
#[command(after_help = RESTORING)]
pub(crate) struct Backup {
    /// File to write; without it mcpr-TIME.db in the current folder
    pub(crate) file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

/// What is in it, and how it is used.
const RESTORING: &str = "\
What is copied: the database as of one moment (tokens, toolsets, projects, switches, names, history), and, as
FILE.secrets.json, the secrets as they are encrypted. Not copied: the key of the secrets, which belongs elsewhere,
and the configuration, which is yours.

To restore: end the gateway, put FILE in the place of mcpr.db and the other in that of secrets.json, remove
mcpr.db-wal and mcpr.db-shm, and start it again.";
