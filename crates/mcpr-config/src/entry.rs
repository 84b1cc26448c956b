//! One server of the file.

mod address;
mod fields;
mod http;
mod own;
mod process;
mod reader;
mod slip;

use std::fmt;

use mcpr_registry::{Overrides, ServerName, ServerNaming};
use mcpr_upstream::{SecretText, UpstreamSpec};
use serde::Serialize;

use crate::fault::{Fault, Place};

pub(crate) use address::shown as shown_url;
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
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// How calls are spread over several of it.
    pub backends: Backends,
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

/// Which tools of a server are offered, and as what; `*` stands for anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolFilter {
    /// Only these, unless it is empty.
    pub allow: Vec<String>,
    /// And none of these.
    pub deny: Vec<String>,
    /// Other names and descriptions than the server's, by its names.
    pub overrides: Overrides,
}

/// How calls are spread over several backends of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backends {
    /// How many processes run.
    pub replicas: usize,
    /// Which backend gets the next call.
    pub balance: Balance,
    /// URLs of equal backends; may hold `${…}`.
    pub endpoints: Vec<String>,
    /// Entries of one group make one server.
    pub group: Option<String>,
    /// What clients may ask for.
    pub tags: Vec<String>,
    /// Whether a call that may be repeated is repeated.
    pub retry: Retry,
}

/// Which backend gets the next call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Balance {
    /// Each in turn.
    RoundRobin,
    /// The one with the least to do.
    LeastBusy,
}

/// Whether a call whose backend died is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// If the tool says that this is harmless.
    Safe,
    /// Never.
    Never,
}

impl Default for Backends {
    fn default() -> Self {
        Self {
            replicas: 1,
            balance: Balance::RoundRobin,
            endpoints: Vec::new(),
            group: None,
            tags: Vec::new(),
            retry: Retry::Safe,
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
