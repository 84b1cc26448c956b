//! What can be typed about the view of what goes on.

use std::time::Duration;

use clap::Args;

use super::repeat;

/// How the gateway and its servers are watched.
#[derive(Debug, Args)]
#[command(after_help = SHOWN)]
pub(crate) struct Top {
    /// How long to wait in between
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = repeat::interval)]
    pub(crate) interval: Duration,
    /// Show one interval and end
    #[arg(long)]
    pub(crate) once: bool,
}

const SHOWN: &str = "\
On a terminal it fills the screen until q or Ctrl-C; elsewhere each interval is a table, and with --json a line.
Rates are those of the last interval. MEMORY is what the processes of a server hold in memory (the resident set of the
one that was started and those it has started in turn); it is known on Linux, for a gateway on this machine.";
