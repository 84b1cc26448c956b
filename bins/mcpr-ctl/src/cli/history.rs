//! What can be typed about past calls.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use mcpr_admin::{CallStatus, UnknownWord};

use super::logs::{Since, since};

/// Past calls; without a command they are listed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) command: Option<Past>,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

/// The commands for past calls.
#[derive(Debug, Subcommand)]
pub(crate) enum Past {
    /// List past calls, the latest last
    #[command(alias = "list")]
    Ls(Listing),
    /// Show all that is kept of a call
    Show {
        /// Its id, or the beginning of its id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Call a tool again with the arguments of a past call; needs history.arguments = "full"
    Replay {
        /// The id of the call, or the beginning of its id
        #[arg(value_name = "ID")]
        id: String,
        /// Print the whole result as it is, not only its texts
        #[arg(long)]
        raw: bool,
    },
    /// Write past calls as JSON lines or CSV, the latest first
    Export(Export),
    /// Forget past calls
    Purge(Purge),
}

/// Which past calls are listed.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// At most so many, the latest; 20 without it, with --follow 10
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) limit: Option<u64>,
    /// Go on with what is called from now on, until Ctrl-C
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// Which past calls are meant.
#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Wanted {
    /// Only those of this server; built-in tools are of the server mcpr
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Only those of this tool, by its server's name for it
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only those that ended so
    #[arg(long, value_name = "STATUS", value_parser = status())]
    pub(crate) status: Option<CallStatus>,
    /// Only those of this caller: the id of a token, local, anonymous or stdio:DIGEST
    #[arg(long, value_name = "KEY")]
    pub(crate) principal: Option<String>,
    /// Only those since then: so long ago, such as 5m or 2h, or a date such as 2027-04-15T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Only those that took longer, such as 2s
    #[arg(long, value_name = "TIME", value_parser = super::parse::time)]
    pub(crate) slow: Option<Duration>,
    /// Only those with this in their tool, error or arguments
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

/// How past calls are written.
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// One JSON object per line, or a table for spreadsheets
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: Format,
    /// Write to this file instead of standard output; one that is there is replaced
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object per line
    Jsonl,
    /// RFC 4180, with a line of headings
    Csv,
}

/// Which past calls are forgotten.
#[derive(Debug, Args)]
pub(crate) struct Purge {
    /// Only those from before: so long ago, such as 30d, or a date such as 2027-04-15T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) older_than: Option<Since>,
    /// Only those of this server
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Only those of this tool, by its server's name for it
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only those that ended so
    #[arg(long, value_name = "STATUS", value_parser = status())]
    pub(crate) status: Option<CallStatus>,
    /// Do not ask first
    #[arg(short, long)]
    pub(crate) yes: bool,
}

fn status() -> impl TypedValueParser<Value = CallStatus> {
    let words = CallStatus::ALL.iter().map(|status| status.as_str());
    PossibleValuesParser::new(words)
        .try_map(|word| word.parse::<CallStatus>().map_err(|error: UnknownWord| error))
}

const EXAMPLES: &str = "\
Examples:
  mcpr-ctl history --since 1h --status error
  mcpr-ctl history -f --server git --slow 2s
  mcpr-ctl history export --format csv --since 7d --output calls.csv
  mcpr-ctl history purge --older-than 7d --yes

What is kept, and for how long, is set by history.keep, history.maxSize and history.arguments.";
