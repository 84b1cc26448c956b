//! The log of the running gateway.

use serde::{Deserialize, Serialize};

/// Asks how the log is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowLog {}

/// Changes what is logged from now on. It lasts until the gateway ends, or the configuration says
/// another level than it does now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetLogLevel {
    /// The least grave level that is logged: `trace`, `debug`, `info`, `warn`, `error` or `fatal`.
    pub level: String,
}

/// How the log is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogReport {
    /// The least grave level that is logged.
    pub level: String,
    /// The level that the configuration, a variable or a flag says.
    pub configured: String,
    /// The log file of this run; absent if there is only standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many lines were left out since the start because a destination was too slow.
    pub shed: u64,
    /// How many lines were lost since the start because a destination could not be written.
    pub lost: u64,
    /// How many calls are missing in the history since the start because the database was too slow.
    pub history_shed: u64,
}
