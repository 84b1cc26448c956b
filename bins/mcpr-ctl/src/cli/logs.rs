//! What can be typed about the log.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use mcpr_auth::Timestamp;
use mcpr_telemetry::{Level, UnknownLevel};

/// Which lines of the log are wanted.
#[derive(Debug, Args)]
#[command(after_help = READING, args_conflicts_with_subcommands = true)]
pub(crate) struct Logs {
    #[command(subcommand)]
    pub(crate) change: Option<LogChange>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Only lines of this level and graver ones
    #[arg(long, value_name = "LEVEL", value_parser = level(), ignore_case = true)]
    pub(crate) level: Option<Level>,
    /// Only lines about this server
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Only lines about the request with this requestId or correlationId
    #[arg(long, value_name = "ID")]
    pub(crate) request: Option<String>,
}

/// What can be changed of the log.
#[derive(Debug, Subcommand)]
pub(crate) enum LogChange {
    /// Show what the running gateway logs, or change it from the next line on
    #[command(after_help = LEVELS)]
    Level {
        /// The least grave level that is logged from now on; without it nothing changes
        #[arg(value_name = "LEVEL", value_parser = level(), ignore_case = true)]
        level: Option<Level>,
    },
}

/// What a server has written to its standard error.
#[derive(Debug, Args)]
#[command(after_help = SAYING)]
pub(crate) struct ServerLogs {
    /// Its name
    #[arg(value_name = "SERVER")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Which part of the log is read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Go on with what is written from now on, in later runs too, until Ctrl-C
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only lines since then: so long ago, such as 5m or 2h, or a date such as 2027-04-15T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// At most so many lines, the last ones; with --follow 10 without it
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) lines: Option<usize>,
}

/// The beginning of a time until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// So long ago.
    Ago(Duration),
    /// At this time.
    At(Timestamp),
}

impl Since {
    /// The time it means.
    pub(crate) fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(ago) => Timestamp::from_unix(now.unix().saturating_sub_unsigned(ago.as_secs())),
            Self::At(time) => time,
        }
    }
}

fn level() -> impl TypedValueParser<Value = Level> {
    let names = Level::ALL.map(Level::name);
    PossibleValuesParser::new(names)
        .try_map(|name| name.parse::<Level>().map_err(|error: UnknownLevel| error))
}

/// A time until now, or a point in time.
pub(crate) fn since(text: &str) -> Result<Since, String> {
    let ago = mcpr_config::duration(text).map(Since::Ago);
    let at = || text.parse().ok().map(Since::At);
    ago.or_else(at)
        .ok_or_else(|| "write it like 5m, 2h or 2027-04-15T08:00:00Z".to_owned())
}

const READING: &str = "\
The log is that of the running gateway, else that of the last run. It may be pretty or JSON; --json gives every line as
an object.

Examples:
  mcpr-ctl logs -f --level warn
  mcpr-ctl logs --server git --since 10m
  mcpr-ctl logs --request 812 --json | jq .duration";

const LEVELS: &str = "\
A level that was set so lasts until the gateway ends, or until the configuration says another level than it does now.

Examples:
  mcpr-ctl logs level
  mcpr-ctl logs level debug";

const SAYING: &str = "\
These lines are in the log only while the gateway's log level is debug or trace: `mcpr-ctl logs level debug`, or start
it with --log-level debug. What a server said last before it failed is also in the reason that `mcpr-ctl servers show` gives.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_so_long_ago_or_a_date() {
        let now = Timestamp::from_unix(1_800_000_000);
        let begin = |text| since(text).map(|since| since.from(now).to_string());

        assert_eq!(begin("1h30m").unwrap(), "2027-01-15T06:30:00Z");
        assert_eq!(begin("2027-01-15T08:00:00Z").unwrap(), "2027-01-15T08:00:00Z");
        assert!(begin("yesterday").is_err());
    }
}
