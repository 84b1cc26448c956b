//! What can be typed about tools.

use clap::{ArgGroup, Args, Subcommand};
use mcpr_protocol::RawJson;

use super::{Repeat, parse, topics};

/// The commands for tools.
#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List the tools
    #[command(alias = "list")]
    Ls {
        #[command(flatten)]
        filter: ToolFilter,
        #[command(flatten)]
        repeat: Repeat,
    },
    /// Look for tools by words in their names and descriptions, whatever is equipped
    #[command(alias = "find")]
    Search {
        /// The words; all of them must be there
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// Only tools of this server
        #[arg(long, value_name = "SERVER")]
        server: Option<String>,
        /// At most so many; 100 without it
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
    },
    /// Show all about one tool
    Show {
        /// Its name as clients see it, or SERVER.TOOL
        #[arg(value_name = "TOOL")]
        name: String,
        /// Only the JSON Schema of its arguments
        #[arg(long)]
        schema: bool,
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
        /// Print the whole result as it is, not only its texts
        #[arg(long)]
        raw: bool,
    },
    /// Turn tools on again
    Enable(SomeTools),
    /// Turn tools off: nobody sees or calls them
    Disable(SomeTools),
    /// Give a tool another name than its server does
    Rename {
        /// Its name as clients see it, or SERVER.TOOL
        #[arg(value_name = "TOOL")]
        name: String,
        /// The name that clients shall see
        #[arg(value_name = "NEW")]
        new: String,
    },
    /// Give a tool another name or description than its server does
    Override(ToolOverride),
}

/// Which tools are wanted, and what of them.
#[derive(Debug, Args)]
pub(crate) struct ToolFilter {
    /// Only those of this server
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Only those that are seen in this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only those of this toolset
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// Also those that are turned off or not allowed, with the reason
    #[arg(long)]
    pub(crate) all: bool,
    /// Show what each costs a model, in tokens, roughly
    #[arg(long)]
    pub(crate) tokens: bool,
}

/// Tools by their names.
#[derive(Debug, Args)]
pub(crate) struct SomeTools {
    /// Their names as clients see them, or SERVER.TOOL
    #[arg(required = true, value_name = "TOOL")]
    pub(crate) names: Vec<String>,
}

/// What clients shall see of a tool.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["as_name", "description", "reset"]))]
pub(crate) struct ToolOverride {
    /// Its name as clients see it, or SERVER.TOOL
    #[arg(value_name = "TOOL")]
    pub(crate) name: String,
    /// The name that clients shall see; "" for the server's own
    #[arg(long = "name", value_name = "NEW")]
    pub(crate) as_name: Option<String>,
    /// The description that clients shall see; "" for the server's own
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Show its own name and description again
    #[arg(long, conflicts_with_all = ["as_name", "description"])]
    pub(crate) reset: bool,
}

/// For whom a tool is explained.
#[derive(Debug, Args)]
pub(crate) struct Explained {
    /// Any name of it
    #[arg(value_name = "TOOL")]
    pub(crate) name: String,
    /// For the holder of this token
    #[arg(long, value_name = "ID|NAME")]
    pub(crate) token: Option<String>,
    /// In this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// With this toolset
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
}
