//! What can be typed about projects.

use clap::{ArgGroup, Args, Subcommand};

use super::Repeat;

/// The commands for projects.
#[derive(Debug, Subcommand)]
pub(crate) enum Projects {
    /// List the projects
    #[command(alias = "list")]
    Ls(Repeat),
    /// Show a project: its servers, and what it names that is not there
    Show {
        /// Its name
        name: String,
    },
    /// Make a project
    #[command(after_help = CREATING)]
    Create(NewProject),
    /// Change a project
    Edit(ChangedProject),
    /// Delete a project
    #[command(alias = "remove")]
    Rm {
        /// Its name
        name: String,
    },
}

/// A project to be made.
#[derive(Debug, Args)]
pub(crate) struct NewProject {
    /// Its name
    pub(crate) name: String,
    /// Its servers, with commas between them
    #[arg(long, value_name = "SERVER", value_delimiter = ',')]
    pub(crate) servers: Vec<String>,
    /// Tags whose servers belong to it too, with commas between them
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
    /// The toolset that is seen in it by those who have equipped none
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Replace one of this name
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Changes of a project.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true)
    .args(["add", "remove", "add_tag", "remove_tag", "toolset", "description"]))]
pub(crate) struct ChangedProject {
    /// Its name
    pub(crate) name: String,
    /// A server to add; may be given several times
    #[arg(long, value_name = "SERVER", value_delimiter = ',')]
    pub(crate) add: Vec<String>,
    /// A server to remove; may be given several times
    #[arg(long, value_name = "SERVER", value_delimiter = ',')]
    pub(crate) remove: Vec<String>,
    /// A tag to add; may be given several times
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) add_tag: Vec<String>,
    /// A tag to remove; may be given several times
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) remove_tag: Vec<String>,
    /// The toolset that is seen in it by those who have equipped none; "" for none
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// What it is for; "" for nothing
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

const CREATING: &str = "\
A client is in a project by the header X-MCPR-Project, by ?project=NAME in its URL, or by its token:
  mcpr-ctl projects create web --servers git,github --tags frontend
  mcpr-ctl tokens create --name laptop --project web";
