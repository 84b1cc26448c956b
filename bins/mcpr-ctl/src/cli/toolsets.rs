//! What can be typed about toolsets.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::Repeat;

/// The commands for toolsets.
#[derive(Debug, Subcommand)]
pub(crate) enum Toolsets {
    /// List the toolsets
    #[command(alias = "list")]
    Ls(Repeat),
    /// Show a toolset: its tools, and how their definitions have changed since it was made
    Show(Named),
    /// Make a toolset of the operator's, which all clients can equip
    #[command(after_help = CREATING)]
    Create(NewToolset),
    /// Change a toolset of the operator's
    Edit(ChangedToolset),
    /// Delete a toolset
    #[command(alias = "remove")]
    Rm {
        #[command(flatten)]
        named: Named,
        /// Take it from those who have it equipped
        #[arg(long)]
        force: bool,
    },
    /// Let a client see exactly the tools of a toolset; without a client all that have none of their own
    Equip {
        /// The toolset
        name: String,
        #[command(flatten)]
        whose: Whose,
    },
    /// Take back what was equipped
    Unequip(Whose),
    /// Show which toolset is in force, and why
    Active(Whose),
    /// Compare the tools of two toolsets
    Diff {
        /// One toolset
        a: String,
        /// The other
        b: String,
    },
    /// Take the definitions that its tools have now as those it was made with
    Accept(Named),
    /// Write toolsets as JSON: one as an object, several as a list
    Export(Export),
    /// Make toolsets from JSON; ends with 6 if only some could be made
    #[command(after_help = IMPORTING)]
    Import(Import),
}

/// A toolset.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Its name
    pub(crate) name: String,
    /// Whose it is: the id of a token, for one that its holder has built
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<String>,
}

/// Whose equipped toolset is meant; without any of these that of all who have none of their own.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The holder of this token
    #[arg(long, value_name = "ID|NAME", conflicts_with = "principal")]
    pub(crate) token: Option<String>,
    /// This principal: default, local, anonymous, stdio:DIGEST, or the id of a token
    #[arg(long, value_name = "KEY")]
    pub(crate) principal: Option<String>,
}

/// A toolset to be made.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("content").required(true).args(["tools", "file"]))]
pub(crate) struct NewToolset {
    /// Its name
    pub(crate) name: String,
    /// Its tools as SERVER.TOOL, with commas between them; * stands for anything
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Take its tools from this file, as `toolsets export` writes it; - for standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) file: Option<PathBuf>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Replace one of this name
    #[arg(long)]
    pub(crate) replace: bool,
    /// Take names too that no tool has now
    #[arg(long)]
    pub(crate) force: bool,
}

/// Changes of a toolset.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["add", "remove", "description"]))]
pub(crate) struct ChangedToolset {
    /// Its name
    pub(crate) name: String,
    /// A tool to add, as SERVER.TOOL; may be given several times
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) add: Vec<String>,
    /// An entry to remove, as `toolsets show` writes it; may be given several times
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) remove: Vec<String>,
    /// What it is for; "" for nothing
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Take names too that no tool has now
    #[arg(long)]
    pub(crate) force: bool,
}

/// Which toolsets are exported, and where to.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["names", "all"]))]
pub(crate) struct Export {
    /// Their names
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All of the owner
    #[arg(long)]
    pub(crate) all: bool,
    /// Whose they are: the id of a token, for those that its holder has built
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<String>,
    /// Also write the hashes of the definitions they were made with
    #[arg(long)]
    pub(crate) with_hashes: bool,
    /// Write to this file in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What is imported, and how.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file; - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
    /// Replace those of the same names
    #[arg(long)]
    pub(crate) replace: bool,
    /// Take names of tools too that no tool has now
    #[arg(long)]
    pub(crate) force: bool,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const CREATING: &str = "\
Examples:
  mcpr-ctl toolsets create dev --tools git.status,git.commit,docker.*
  mcpr-ctl toolsets create dev --file dev.json --replace";

const IMPORTING: &str = "\
FILE holds one toolset, a list of them, or an object `toolsets` as in the configuration file:
  {\"name\":\"dev\",\"description\":\"…\",\"tools\":[{\"namespacedName\":\"git.status\"}]}
  {\"toolsets\":{\"dev\":{\"tools\":[{\"namespacedName\":\"git.*\"}]}}}";
