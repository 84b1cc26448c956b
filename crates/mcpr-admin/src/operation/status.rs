//! How the gateway and its servers are doing, and the end of it.

use serde::{Deserialize, Serialize};

use crate::PinCounts;
use crate::words::words;

/// Asks how the gateway and all its servers are doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// How a gateway is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// The version of mcpr.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// How long it has been running.
    pub uptime_seconds: u64,
    /// When it started, as RFC 3339.
    pub started_at: String,
    /// The URLs at which it serves MCP; none in stdio mode.
    pub listen: Vec<String>,
    /// The configuration files in use; a later one wins over an earlier one.
    pub config_files: Vec<String>,
    /// The log file of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<String>,
    /// Settings that have changed since the start and only count after a restart of the gateway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_restart: Vec<String>,
    /// How many session-era clients are connected.
    pub sessions: u64,
    /// How many `tools/call` requests there were since the start.
    pub calls_total: u64,
    /// How many of them ended in a protocol error; a tool's own `isError` is not one.
    pub errors_total: u64,
    /// All servers, in the order of the configuration.
    pub servers: Vec<ServerReport>,
}

/// Asks for the servers alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListServers {}

/// All servers, in the order of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerList {
    /// The servers.
    pub servers: Vec<ServerReport>,
}

/// How a server is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerReport {
    /// Its name in the configuration.
    pub name: String,
    /// How it is doing.
    pub state: ServerState,
    /// How it is reached; absent if its entry does not even say that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// The protocol version that was agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// How many tools of it are in the catalog; absent while it was never listed, like the other counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
    /// How many prompts of it are in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<u64>,
    /// How many resources and resource templates of it are in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<u64>,
    /// How many requests it is working on.
    pub in_flight: u64,
    /// Why it is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In how many milliseconds it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_in_ms: Option<u64>,
    /// The child process, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How often it was started or connected since the gateway started.
    pub starts: u64,
    /// How many of its tools differ from what is approved; absent where none does, or they are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pins: Option<PinCounts>,
    /// Its backends, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backends: Vec<BackendReport>,
}

impl ServerReport {
    /// Whether nobody needs to look after it: it is as it should be, and so are its tools.
    pub fn is_fine(&self) -> bool {
        self.state.is_fine() && self.pins.is_none()
    }
}

/// How one of the equal backends of a server is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendReport {
    /// What tells it from the others: a number, an address, or the entry of a group.
    pub backend: String,
    /// How it is doing.
    pub state: ServerState,
    /// The protocol version that was agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// How many requests it is working on.
    pub in_flight: u64,
    /// Why it is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In how many milliseconds it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_in_ms: Option<u64>,
    /// For how many milliseconds it gets no calls, because the last ones failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shunned_for_ms: Option<u64>,
    /// The child process, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How often it was started or connected since the gateway started.
    pub starts: u64,
    /// What clients may ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// How a server is doing, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Connected and listed.
    Ok,
    /// The same, but one of its backends is not to be had, or it did not answer the last health check.
    Degraded,
    /// On its way up.
    Starting,
    /// Its items are those of an earlier listing.
    Stale,
    /// Waits for its first use.
    Idle,
    /// Not reachable; tried again by itself.
    Down,
    /// It wants to be authorized first.
    AuthRequired,
    /// Its entry in the configuration cannot be used.
    Misconfigured,
    /// Turned off.
    Disabled,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The pipes of a child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The old HTTP with server-sent events.
    Sse,
}

/// Asks the gateway to end, as SIGTERM does: calls under way get `drain.grace`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {}

/// The gateway has begun to end. Its control socket goes away last, so that a caller can tell when it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopping {
    /// The process that is ending.
    pub pid: u32,
}

words!(ServerState {
    Ok = "ok",
    Degraded = "degraded",
    Starting = "starting",
    Stale = "stale",
    Idle = "idle",
    Down = "down",
    AuthRequired = "auth-required",
    Misconfigured = "misconfigured",
    Disabled = "disabled",
});

words!(Via { Stdio = "stdio", Http = "http", Sse = "sse" });

impl ServerState {
    /// Whether nobody needs to look after it: it works, or it is not meant to run now.
    pub fn is_fine(self) -> bool {
        matches!(self, Self::Ok | Self::Idle | Self::Disabled)
    }
}
