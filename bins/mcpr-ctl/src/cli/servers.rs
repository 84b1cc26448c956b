//! What can be typed about servers.

use clap::{Args, Subcommand, ValueEnum};

use super::logs::ServerLogs;
use super::{Repeat, parse};

/// The commands for servers.
#[derive(Debug, Subcommand)]
pub(crate) enum Servers {
    /// List the servers and how they are doing
    #[command(alias = "list")]
    Ls(Repeat),
    /// Show all about one server: its state, its tools, where its entry stands
    Show {
        /// Its name
        name: String,
    },
    /// Turn servers on, whatever the configuration says
    Enable(SomeServers),
    /// Turn servers off: their processes end, their tools disappear
    Disable(SomeServers),
    /// End servers and start them anew
    Restart(SomeServers),
    /// Show what a server has written to its standard error
    #[command(alias = "log")]
    Logs(ServerLogs),
    /// Add a server to the configuration file
    #[command(override_usage = "mcpr-ctl servers add [OPTIONS] <NAME> (--url <URL> | -- <CMD>...)", after_help = ADDING)]
    Add(Box<NewServer>),
    /// Remove servers from the configuration file
    #[command(alias = "remove")]
    Rm {
        /// Their names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Change what the configuration file says about a server
    #[command(after_help = SETTING)]
    Set {
        /// Its name
        name: String,
        /// A key with its new value; without a value the key is removed
        #[arg(required = true, value_name = "KEY=VALUE", value_parser = parse::assignment)]
        changes: Vec<parse::Assignment>,
    },
    /// Open the configuration file that has a server in the editor
    Edit {
        /// Its name
        name: String,
    },
    /// Start or dial one server of the configuration, without the gateway, and tell what it offers
    #[command(after_help = TESTING)]
    Test {
        /// Its name
        name: String,
    },
}

/// Servers by their names.
#[derive(Debug, Args)]
pub(crate) struct SomeServers {
    /// Their names
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

/// A server to be added.
#[derive(Debug, Args)]
pub(crate) struct NewServer {
    /// Its name: 1 to 64 printable characters without `/`
    pub(crate) name: String,
    /// Its address
    #[arg(long, value_name = "URL", required_unless_present = "command")]
    pub(crate) url: Option<String>,
    /// A header of every request to its address; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME:VALUE", value_parser = parse::header)]
    pub(crate) headers: Vec<(String, String)>,
    /// How its address is spoken to; http without it
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<Kind>,
    /// A variable of its program; may be given several times
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = parse::pair)]
    pub(crate) env: Vec<(String, String)>,
    /// The folder its program runs in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,
    /// A tag, for projects; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// What the names of its tools begin with, in place of its name
    #[arg(long, value_name = "PREFIX")]
    pub(crate) prefix: Option<String>,
    /// Start it only when it is first needed
    #[arg(long)]
    pub(crate) lazy: bool,
    /// Add it switched off
    #[arg(long)]
    pub(crate) disabled: bool,
    /// Replace a server of this name
    #[arg(long)]
    pub(crate) force: bool,
    /// Its program and arguments
    #[arg(last = true, value_name = "CMD", conflicts_with = "url")]
    pub(crate) command: Vec<String>,
}

/// How an address is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Streamable HTTP
    Http,
    /// The old HTTP+SSE
    Sse,
}

impl Kind {
    /// The word in the file.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

const ADDING: &str = "\
Examples:
  mcpr-ctl servers add git -- uvx mcp-server-git
  mcpr-ctl servers add github --url https://api.githubcopilot.com/mcp/ -H 'Authorization: Bearer ${GITHUB_TOKEN}'

The file is the last of those named with --config, else the one in use, else the user's, which is made.
Write ${NAME} for a secret: it is filled in from the variables of the gateway and never stands in the file.";

const SETTING: &str = "\
KEY is a key of the entry, or of its object mcpr with dots, such as mcpr.timeouts.call; a key that has dots
itself stands in double quotes. VALUE is taken as JSON if it is JSON, else as a text.

Examples:
  mcpr-ctl servers set git mcpr.timeouts.call=5m mcpr.lazy=true
  mcpr-ctl servers set git disabled=";

const TESTING: &str = "\
It is started or dialled by this command itself, whether or not a gateway runs, introduced and listed, and
ended again with all that it has started.

Ends with 0 if it works, 1 if it does not, 3 if there is no such server, 7 if the configuration is invalid,
and 124 if it took longer than --timeout or else mcpr.timeouts.start.";
