//! One server of the file.

mod address;
mod fields;
mod http;
mod own;
mod process;
mod reader;
mod slip;

use std::fmt;

use mcpr_registry::{PinPolicy, ServerName, ServerNaming};
use mcpr_upstream::{Repeat, SecretText, Spread, UpstreamSpec};
use serde::Serialize;

use crate::fault::{Fault, Place};
use crate::filter::ToolFilter;

pub(crate) use address::{label, shown as shown_url};
#[cfg(feature = "import")]
pub(crate) use reader::RESERVED;
pub(crate) use reader::{Surroundings, read};
pub use slip::check_server_key;

/// A server as the file has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerEntry {
    /// Its key.
    pub name: ServerName,
    /// Where that stands.
    pub place: Place,
    /// What it says about its names.
    pub naming: ServerNaming,
    /// Whether it can be used.
    pub state: ServerState,
    /// How it is reached, if the entry says.
    pub via: Option<Via>,
    /// Its command line or URL for people: nothing in it is expanded.
    pub shown: String,
    /// Values that must not appear in a log.
    pub secrets: Vec<SecretText>,
    /// The names of the secrets that it asks for, whether or not there are such.
    pub wants: Vec<String>,
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// What becomes of a tool whose definition is not the one that was approved.
    pub pins: PinPolicy,
    /// How calls are spread over several of it.
    pub backends: Backends,
    /// The entries that it stands for, where it is a group of them.
    pub members: Vec<ServerEntry>,
}

/// Whether a server can be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServerState {
    /// It can, like this.
    Enabled(Box<UpstreamSpec>),
    /// The file says that it is not to be used; what it is once somebody turns it on.
    Disabled(Box<ServerState>),
    /// What the file says about it is not valid.
    Misconfigured(Fault),
}

/// How a server is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// As a child process.
    Stdio,
    /// Over streamable HTTP.
    Http,
    /// Over the old HTTP+SSE.
    Sse,
}

/// How calls are spread over several backends of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backends {
    /// How many processes run.
    pub replicas: usize,
    /// Which backend gets the next call.
    pub spread: Spread,
    /// URLs of further backends beside that of the entry.
    pub endpoints: Vec<SecretText>,
    /// Entries of one group make one server.
    pub group: Option<ServerName>,
    /// What clients may ask for.
    pub tags: Vec<String>,
    /// Whether a call that may be repeated is repeated.
    pub repeat: Repeat,
}

impl Default for Backends {
    fn default() -> Self {
        Self {
            replicas: 1,
            spread: Spread::default(),
            endpoints: Vec::new(),
            group: None,
            tags: Vec::new(),
            repeat: Repeat::default(),
        }
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        })
    }
}
