//! Pinned definitions: what is approved of the tools of servers, and what differs from it now.

use std::collections::BTreeMap;

use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Asks which definitions are approved, and what differs from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListPins {
    /// Only those of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// What is approved and what differs, by server in the order of the configuration, then by tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinList {
    /// The tools. Servers whose definitions are not compared have none.
    pub pins: Vec<PinReport>,
}

/// How a tool compares with what is approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinReport {
    /// Its server.
    pub server: String,
    /// What the server calls it.
    pub tool: String,
    /// How it compares.
    pub state: PinState,
    /// Whether it is held back.
    pub held: bool,
    /// Since when its definition is approved, as RFC 3339; absent for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<String>,
}

/// Asks what differs, with the definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffPins {
    /// Only this server, or this `server.tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What differs from what is approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinDiff {
    /// The tools that differ, in the order of [`PinList`].
    pub changes: Vec<PinChange>,
}

/// A tool that is not what was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinChange {
    /// Which, and how it compares.
    pub pin: PinReport,
    /// The definition that is approved, byte for byte as the server wrote it; a list where it wrote
    /// several of one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<RawJson>,
    /// The definition that the server lists now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<RawJson>,
    /// What tells the definition of now from every other, for `pins/approve`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// What it means for calls, as short sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Takes definitions that servers list now for approved: none of them if one is another by now. Each server's are
/// stored together, and those of another one by themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovePins {
    /// The tools.
    pub approvals: Vec<Approval>,
}

impl ApprovePins {
    /// The approvals of each server.
    pub fn by_server(&self) -> BTreeMap<&str, Vec<&Approval>> {
        let mut servers: BTreeMap<&str, Vec<&Approval>> = BTreeMap::new();
        for approval in &self.approvals {
            servers.entry(&approval.server).or_default().push(approval);
        }
        servers
    }

    /// Whether this tool is one of those to approve.
    pub fn is_of(&self, pin: &PinReport) -> bool {
        let same = |approval: &Approval| approval.server == pin.server && approval.tool == pin.tool;
        self.approvals.iter().any(same)
    }
}

/// The approval of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Its server.
    pub server: String,
    /// What the server calls it.
    pub tool: String,
    /// The `hash` of the change that was looked at: another definition is not approved. Absent for a tool
    /// that is listed no more, and is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// How many tools of a server differ from what is approved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinCounts {
    /// Those with another definition.
    pub changed: u64,
    /// Those that were not there.
    pub new: u64,
    /// How many of both are held back.
    pub held: u64,
}

/// How a tool compares with what is approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinState {
    /// It is what was approved.
    Approved,
    /// Its definition is another one.
    Changed,
    /// It was not there.
    New,
    /// It is listed no more.
    Removed,
}

words!(PinState {
    Approved = "approved",
    Changed = "changed",
    New = "new",
    Removed = "removed",
});
