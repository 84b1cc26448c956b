//! The running gateway as a whole: its configuration, its end, and what happens in it.

use serde::{Deserialize, Serialize};

use crate::Streamed;
use crate::words::words;

/// Reads the configuration again and changes what differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reload {}

/// What a reload has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reloaded {
    /// The files that were read.
    pub files: Vec<String>,
    /// Servers that are new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Servers that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Servers whose entries differ; they were started anew where that matters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// How many servers stayed as they were.
    pub unchanged: u64,
    /// Settings that only count after a restart of the gateway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_restart: Vec<String>,
    /// What is odd in the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Takes no new requests, lets those under way finish, then ends the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Drain {
    /// How long it waits for them, in milliseconds; by default 30 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// The requests under way have ended, or were given up; the gateway ends now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drained {
    /// The process that is ending.
    pub pid: u32,
    /// How many requests finished while it waited.
    pub finished: u64,
    /// How many were still under way when the wait was over.
    pub abandoned: u64,
}

/// Asks for what happens from now on: the answer is a stream of [`Event`]s that ends with the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Only these kinds; all without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<EventKind>,
}

impl Streamed for Watch {
    type Item = Event;
    const PATH: &'static str = "events";
    const READ_ONLY: bool = true;
    const ALWAYS: bool = true;
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its kind.
    pub kind: EventKind,
    /// When, as RFC 3339 with milliseconds.
    pub at: String,
    /// The server it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The state of that server now; for [`EventKind::Server`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<crate::ServerState>,
    /// Why, or what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The call that has ended; for [`EventKind::Call`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallEvent>,
    /// How many events were lost before this one, because the reader was too slow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
}

/// A call that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallEvent {
    /// The method.
    pub method: String,
    /// The tool, by its server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// `ok`, `tool_error`, `error` or `cancelled`.
    pub status: String,
    /// In microseconds.
    pub duration_us: u64,
    /// Who called.
    pub principal: String,
    /// With which program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// A kind of thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The state of a server changed.
    Server,
    /// What is offered changed.
    Catalog,
    /// Tools of a server are not what was approved, or are again.
    Pins,
    /// A call ended.
    Call,
}

words!(EventKind { Server = "server", Catalog = "catalog", Pins = "pins", Call = "call" });

fn is_zero(count: &u64) -> bool {
    *count == 0
}
