//! What can be typed.

pub(crate) mod parse;
mod topics;
pub(crate) mod usage;

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use mcpr_admin::Scope;
use mcpr_protocol::RawJson;

use self::parse::Expiry;

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
        #[arg(long)]
        exit_code: bool,
    },
    /// Show the servers
    #[command(subcommand, alias = "server")]
    Servers(Servers),
    /// List, show and call tools
    #[command(subcommand, alias = "tool")]
    Tools(Tools),
    /// List and read resources
    #[command(subcommand, alias = "resource")]
    Resources(Resources),
    /// List and get prompts
    #[command(subcommand, alias = "prompt")]
    Prompts(Prompts),
    /// Make, list and revoke the tokens of clients; works without a running gateway too
    #[command(subcommand, alias = "token")]
    Tokens(Tokens),
    /// End the running gateway and wait until it has ended
    Stop,
    /// The exit codes of mcpr-ctl and mcpr-gateway
    #[command(hide = true, override_usage = "mcpr-ctl help exit-codes", after_help = topics::exit_codes())]
    ExitCodes,
}

/// The commands for servers.
#[derive(Debug, Subcommand)]
pub(crate) enum Servers {
    /// List the servers and how they are doing
    #[command(alias = "list")]
    Ls,
}

/// The commands for tools.
#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List the tools
    #[command(alias = "list")]
    Ls(Filter),
    /// Show all about one tool
    Show {
        /// Its name as clients see it, or SERVER.TOOL
        #[arg(value_name = "TOOL")]
        name: String,
    },
    /// Call a tool and print its result; ends with 1 if the tool says that it failed
    #[command(after_help = topics::ARGUMENTS)]
    Call {
        /// Its name as clients see it, or SERVER.TOOL
        #[arg(value_name = "TOOL")]
        name: String,
        /// One argument; may be given several times
        #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = parse::pair, conflicts_with = "json_args")]
        args: Vec<(String, String)>,
        /// All arguments as a JSON object: the text itself, @FILE, or - for standard input
        #[arg(long, value_name = "JSON|@FILE|-", value_parser = parse::object)]
        json_args: Option<RawJson>,
    },
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
}

/// The commands for tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Tokens {
    /// Make a token and print its text, this once
    Create(NewToken),
    /// List the tokens
    #[command(alias = "list")]
    Ls,
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
    /// The project it shall not leave (not supported yet)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The toolset its calls shall be limited to (not supported yet)
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
    /// When it ends: a time from now such as 90d or 12h, or a date such as 2027-04-15T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse::expiry)]
    pub(crate) expires: Option<Expiry>,
}
