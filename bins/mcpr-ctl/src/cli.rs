//! What can be typed.

pub(crate) mod backup;
pub(crate) mod clients;
mod completions;
pub(crate) mod config;
mod doctor;
mod events;
pub(crate) mod history;
pub(crate) mod logs;
pub(crate) mod parse;
mod pins;
pub(crate) mod projects;
pub(crate) mod repeat;
pub(crate) mod secrets;
pub(crate) mod servers;
#[cfg(test)]
mod tests;
pub(crate) mod tools;
pub(crate) mod toolsets;
mod top;
mod topics;
pub(crate) mod usage;

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use mcpr_admin::Scope;
use mcpr_auth::Rate;

pub(crate) use self::backup::Backup;
pub(crate) use self::clients::{Clients, Print, Stdio};
use self::completions::{Completions, Man};
pub(crate) use self::config::Config;
pub(crate) use self::events::Events;
pub(crate) use self::history::History;
pub(crate) use self::logs::Logs;
use self::parse::Expiry;
pub(crate) use self::pins::Pins;
pub(crate) use self::projects::Projects;
pub(crate) use self::repeat::Repeat;
pub(crate) use self::secrets::Secrets;
pub(crate) use self::servers::Servers;
pub(crate) use self::tools::Tools;
pub(crate) use self::toolsets::Toolsets;
pub(crate) use self::top::Top;

/// Looks after mcpr: asks a running gateway, and keeps its tokens when none is running.
#[derive(Debug, Parser)]
#[command(
    name = "mcpr-ctl",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(after_help = topics::after_help())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print one line of JSON instead of a table; failures too
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Configuration file of the gateway; may be given several times
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Ask the gateway at this URL, with the admin token in MCPR_TOKEN
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "MCPR_GATEWAY",
        hide_env_values = true,
        conflicts_with = "socket"
    )]
    pub(crate) gateway: Option<String>,
    /// Ask the gateway at this local socket
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        env = "MCPR_SOCKET",
        hide_env_values = true
    )]
    pub(crate) socket: Option<PathBuf>,
    /// Give up after this time, such as 30s or 5m
    #[arg(long, global = true, value_name = "TIME", value_parser = parse::time)]
    pub(crate) timeout: Option<Duration>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Say nothing but what was asked for
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When to use colours: `auto` means on a terminal, unless `NO_COLOR` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show how the gateway and its servers are doing
    Status {
        /// End with 6 if a server needs attention
        #[arg(long, conflicts_with = "watch")]
        exit_code: bool,
        #[command(flatten)]
        repeat: Repeat,
    },
    /// Watch the gateway and its servers at work: calls, errors, memory
    Top(Top),
    /// Show, add, change, remove and test servers
    #[command(subcommand, alias = "server")]
    Servers(Servers),
    /// List, show, call, switch and rename tools
    #[command(subcommand, alias = "tool")]
    Tools(Tools),
    /// Tell why a tool is or is not visible, and where a call of it goes
    Explain(tools::Explained),
    /// Look after pinned definitions: tools that are not what was approved; works without a running gateway too
    #[command(subcommand, alias = "pin")]
    Pins(Pins),
    /// Choose which tools clients see
    #[command(subcommand, alias = "toolset")]
    Toolsets(Toolsets),
    /// Choose which servers clients see
    #[command(subcommand, alias = "project")]
    Projects(Projects),
    /// List and read resources
    #[command(subcommand, alias = "resource")]
    Resources(Resources),
    /// List and get prompts
    #[command(subcommand, alias = "prompt")]
    Prompts(Prompts),
    /// Make, list, rotate and revoke the tokens of clients; works without a running gateway too
    #[command(subcommand, alias = "token")]
    Tokens(Tokens),
    /// Keep, list and forget what servers get for ${secret:NAME}; works without a running gateway too
    #[command(subcommand, alias = "secret")]
    Secrets(Secrets),
    /// Show, check and change the configuration files
    #[command(subcommand)]
    Config(Config),
    /// Show which clients use mcpr, and print what points one at it
    #[command(subcommand, alias = "client")]
    Clients(Clients),
    /// Look for what is wrong, and say how to mend it
    #[command(after_help = doctor::LOOKED_AT)]
    Doctor,
    /// Tell what happens in the running gateway, until Ctrl-C or its end
    Events(Events),
    /// Show, export, repeat and forget past calls; works without a running gateway too
    History(History),
    /// Show the log of the running gateway, or of the last run
    #[command(alias = "log")]
    Logs(Logs),
    /// Copy the database, and the secrets as they are encrypted; works without a running gateway too
    Backup(Backup),
    /// Have the running gateway read its configuration again
    Reload,
    /// Take no new requests, let those under way finish, then end the running gateway
    Drain {
        /// How long they may take
        #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse::time)]
        wait: Duration,
    },
    /// End the running gateway and wait until it has ended
    Stop,
    /// Print what makes a shell complete commands, options and names
    Completions(Completions),
    /// Write the man pages of mcpr-ctl into a folder
    Man(Man),
    /// The exit codes of mcpr-ctl and mcpr-gateway
    #[command(hide = true, help_template = topics::TEMPLATE, after_help = topics::exit_codes())]
    ExitCodes,
    /// The variables that mcpr-ctl and mcpr-gateway look at
    #[command(hide = true, help_template = topics::TEMPLATE, after_help = topics::ENVIRONMENT)]
    Environment,
    /// What goes into mcpr-ctl, and what comes out
    #[command(hide = true, help_template = topics::TEMPLATE, after_help = topics::FORMATS)]
    Formats,
    /// Ends the server of a `servers test` that was killed.
    #[command(name = "__guardian", hide = true)]
    Guardian,
}

impl Command {
    /// Whether a running gateway is asked for what it does.
    pub(crate) fn asks_a_gateway(&self) -> bool {
        !matches!(
            self,
            Self::Config(_)
                | Self::Completions(_)
                | Self::Man(_)
                | Self::ExitCodes
                | Self::Environment
                | Self::Formats
                | Self::Guardian
        )
    }
}

/// The commands for resources.
#[derive(Debug, Subcommand)]
pub(crate) enum Resources {
    /// List the resources and resource templates
    #[command(alias = "list")]
    Ls(Filter),
    /// Write the content of a resource to standard output, byte for byte
    Read {
        /// Its URI, as `resources ls` shows it or as its server gives it
        uri: String,
        /// Write it even if it is binary and goes to a terminal
        #[arg(long)]
        force: bool,
    },
}

/// The commands for prompts.
#[derive(Debug, Subcommand)]
pub(crate) enum Prompts {
    /// List the prompts
    #[command(alias = "list")]
    Ls(Filter),
    /// Get a prompt and print its messages
    Get {
        /// Its name as clients see it, or SERVER.PROMPT
        #[arg(value_name = "PROMPT")]
        name: String,
        /// One argument, a text; may be given several times
        #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = parse::pair)]
        args: Vec<(String, String)>,
    },
}

/// Which part of a list is wanted.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only those of this server
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) repeat: Repeat,
}

/// The commands for tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Tokens {
    /// Make a token and print its text, this once
    Create(NewToken),
    /// List the tokens
    #[command(alias = "list")]
    Ls(Repeat),
    /// Show what is known of a token
    Show {
        /// Its id, the beginning of its id, or its name
        #[arg(value_name = "ID|NAME")]
        which: String,
    },
    /// Give a token a new text and print it, this once; limits, toolset and sessions stay
    Rotate {
        /// Its id, the beginning of its id, or its name
        #[arg(value_name = "ID|NAME")]
        which: String,
        /// For how long the text it had is accepted too; 0 refuses it at once
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse::grace)]
        grace: Duration,
    },
    /// Refuse a token from now on and end its sessions
    #[command(alias = "rm")]
    Revoke {
        /// Its id, the beginning of its id, or its name
        #[arg(value_name = "ID|NAME")]
        which: String,
    },
}

/// What is asked of a token.
#[derive(Debug, Args)]
pub(crate) struct NewToken {
    /// Its name; the client app's if there is none
    #[arg(long, value_name = "NAME", required_unless_present = "client")]
    pub(crate) name: Option<String>,
    /// The client app it is for, such as claude-code
    #[arg(long, value_name = "APP")]
    pub(crate) client: Option<String>,
    /// The project it shall not leave
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The toolset its calls shall be limited to
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// What it allows: read (lists and status), call (that and using them), admin (everything)
    #[arg(
        long = "scope",
        value_name = "SCOPE",
        value_delimiter = ',',
        default_value = "read,call"
    )]
    #[arg(value_parser = parse::scope, action = ArgAction::Append)]
    pub(crate) scopes: Vec<Scope>,
    /// The only servers it shall reach, with commas between them
    #[arg(long, value_name = "SERVER", value_delimiter = ',')]
    pub(crate) servers: Vec<String>,
    /// The only tools it shall reach as SERVER.TOOL, with commas between them; * stands for anything
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// How many requests may come with it: so many a second, minute or hour, such as 10/s, 600/m or 5000/h
    #[arg(long, value_name = "RATE", value_parser = parse::rate)]
    pub(crate) rate: Option<Rate>,
    /// When it ends: a time from now such as 90d or 12h, or a date such as 2027-04-15T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse::expiry)]
    pub(crate) expires: Option<Expiry>,
}
