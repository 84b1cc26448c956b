//! What can be typed about pinned definitions.

use clap::Subcommand;

use super::Repeat;

/// The commands for pinned definitions.
#[derive(Debug, Subcommand)]
pub(crate) enum Pins {
    /// List the tools whose definitions are pinned, and which differ
    #[command(alias = "list")]
    Ls {
        /// Only those of this server
        server: Option<String>,
        #[command(flatten)]
        repeat: Repeat,
    },
    /// Show what differs from the definitions that are approved
    #[command(after_help = DIFFING)]
    Diff {
        /// Only this server, or this tool of it
        #[arg(value_name = "SERVER[.TOOL]")]
        name: Option<String>,
    },
    /// Take the definitions that servers list now for approved
    #[command(after_help = APPROVING)]
    Approve {
        /// Servers, or single tools
        #[arg(required = true, value_name = "SERVER[.TOOL]")]
        names: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

const DIFFING: &str = "\
Members stand in the order of their names, and lines within a text below each other. What cannot be seen, such as
marks that turn the direction of writing, shows as JSON escapes it: \\u202e.";

const APPROVING: &str = "\
It shows what differs and asks. What changes meanwhile is not approved. Of a server all that differs is meant; tools
that it lists no more are forgotten.

Which servers are looked at is said in the configuration: `mcpr.pins` of a server, or of the gateway.";
