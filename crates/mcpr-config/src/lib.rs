//! Turns configuration files into plain option structs; the only place that knows the format and
//! the defaults.
//!
//! A file passes through these rooms: `source` (bytes to text), `tree` (text to values that know
//! their place), `read` with `keys` (typed values, unknown keys), `entry` with `expand` (one
//! server, `${…}` filled in) and `gateway` (mcpr's own settings). [`Config::load`] puts them together.
//!
//! Invariants: **a fault of one server never touches another**, **every fault has a place**, and
//! **the value of a variable, file or secret is never in a message**. Nothing here reads the
//! process or the disk but through an [`Environment`].
//!
//! ```no_run
//! use mcpr_config::{Config, Locations, Overrides, Process};
//!
//! let locations = Locations::from_env(&[".mcp.json".into()], &Process)?;
//! let mut config = Config::load(&locations, &Process)?;
//! Overrides::from_env(&Process)?.apply(&mut config.gateway);
//! # Ok::<(), mcpr_config::ConfigError>(())
//! ```

mod arguments;
mod check;
pub mod clients;
mod config;
mod contents;
mod dotenv;
mod edit;
mod effective;
mod entry;
mod environment;
mod error;
mod expand;
mod fault;
mod filter;
mod gateway;
mod group;
mod keys;
mod locations;
mod overrides;
mod paths;
mod quantity;
mod read;
mod reference;
mod schema;
mod secrets;
mod source;
mod tree;
mod veil;

#[cfg(test)]
mod tests;

pub use arguments::{secret_parts, secret_words};
pub use check::{CheckedState, Report, Resolve, ServerReport, check};
pub use config::Config;
pub use contents::Contents;
pub use edit::{Document, WriteError};
pub use effective::{Effective, Setting};
pub use entry::{Backends, ServerEntry, ServerState, Via, check_server_key};
pub use environment::{Environment, Process};
pub use error::ConfigError;
pub use fault::{Fault, Finding, Place, Severity};
pub use filter::{KeptAway, ToolFilter, ToolPatterns};
pub use gateway::{
    Arguments, Control, DEFAULT_PORT, Drain, Expose, GatewayOptions, History, InvalidListen, Limits, Listen,
    LogFile, LogOptions, PerPrincipal, Project, StartMode, StartOrder, StartWhen, Startup, TlsFiles, Toolset,
};
pub use group::servers;
pub use locations::{Locations, Paths, SecretFolders, Sources};
pub use mcpr_registry::nearest;
pub use mcpr_secrets::{Kept, Vault, VaultError};
pub use overrides::Overrides;
pub use quantity::duration;
pub use schema::{gateway_default, schema};
pub use secrets::{SecretPlace, SecretUse, check_secret};
pub use veil::{is_written_out, looks_secret};
