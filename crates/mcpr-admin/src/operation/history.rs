//! Past calls.

use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Asks for past calls; every member that is set narrows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListHistory {
    /// Those of this server; the built-in tools are of the server `mcpr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Those of this tool, by its server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Those that ended so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// Those of this principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Those that began then or later, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Those that began before, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Those that took longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_than_ms: Option<u64>,
    /// Those that have this in their tool, error or arguments, upper or lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Those with an earlier id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Those with a later id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// At the most so many, 1 to 1000; 100 without it. No more come once they have 16 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Whether their arguments come along, as far as they are kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub arguments: bool,
}

/// Some past calls, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryList {
    /// The calls.
    pub calls: Vec<CallReport>,
    /// There may be older ones: they come when this is sent as `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Asks for one past call; the output is its [`CallReport`], with its arguments as far as they are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowCall {
    /// Its id, or the beginning of its id.
    pub id: String,
}

/// Forgets past calls; every member that is set narrows it, and without any all of them go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PurgeHistory {
    /// Those that began before, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Those of this tool, by its server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Those that ended so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// Those of this principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// How many calls.
    pub deleted: u64,
}

/// A past call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallReport {
    /// Its id; ids sort by the time at which calls ended.
    pub id: String,
    /// When it began, as RFC 3339 with milliseconds.
    pub at: String,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// The method.
    pub method: String,
    /// The server that had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool, by its server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How it ended: one of [`CallStatus`].
    pub status: String,
    /// The code of an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// Its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who called.
    pub principal: String,
    /// With which program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// In which project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The number of the request in the log of its run.
    pub request_id: String,
    /// What belongs together: a session, or the request alone.
    pub correlation_id: String,
    /// Its arguments, as far as they are kept; a text if they were cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawJson>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    /// With a result.
    Ok,
    /// With a result that says that the tool failed.
    ToolError,
    /// With an error.
    Error,
    /// Its client no longer wanted the answer.
    Cancelled,
}

words!(CallStatus { Ok = "ok", ToolError = "tool_error", Error = "error", Cancelled = "cancelled" });

impl ListHistory {
    /// At the most so many calls come at once.
    pub fn page_size(&self) -> usize {
        usize::try_from(self.limit.unwrap_or(100).clamp(1, 1000)).unwrap_or(1000)
    }

    /// No more come once these have so many bytes: arguments can be large.
    pub const PAGE_BYTES: u64 = 16 << 20;
}

impl HistoryList {
    /// A page of at most `size` calls, out of the first `size + 1` of them; whether there may be more than these.
    pub fn page(mut calls: Vec<CallReport>, size: usize, more: bool) -> Self {
        calls.truncate(size);
        let next = calls.last().filter(|_| more).map(|call| call.id.clone());
        Self { calls, next }
    }
}

impl CallReport {
    /// Arguments as they are shown: those that were cut are no JSON any more, and become a text.
    pub fn shown_arguments(kept: &str) -> RawJson {
        RawJson::parse(kept.to_owned().into()).unwrap_or_else(|_| RawJson::string(kept))
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
