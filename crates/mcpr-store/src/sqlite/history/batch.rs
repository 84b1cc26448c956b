//! Calls that are written together, and their text.

use rusqlite::Row;

use crate::CallRow;
use crate::sqlite::state::json;

/// Calls by their ids, each there once.
pub(super) struct Batch {
    pub(super) calls: Vec<CallRow>,
}

/// A call as it is written: its members in the order in which [`CallRow`] has them.
type Written<T> = (
    T,
    i64,
    u64,
    T,
    T,
    T,
    Option<T>,
    Option<T>,
    T,
    Option<i64>,
    Option<T>,
    T,
    Option<T>,
    Option<T>,
    Option<T>,
);

impl Batch {
    /// Sorts calls; of two with one id the first stays.
    pub(super) fn of(mut calls: Vec<CallRow>) -> Self {
        calls.sort_by(|one, other| one.id.cmp(&other.id));
        calls.dedup_by(|later, earlier| later.id == earlier.id);
        Self { calls }
    }

    /// Reads what [`text`] has written, from a row that has nothing else.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let calls: Vec<Written<String>> = json(row, 0)?;
        Ok(Self {
            calls: calls.into_iter().map(call).collect(),
        })
    }

    /// Its calls, at the most so many at once.
    pub(super) fn pieces(&self, most: usize) -> impl Iterator<Item = &[CallRow]> {
        self.calls.chunks(most)
    }
}

/// Calls as one text.
pub(super) fn text(calls: &[CallRow]) -> String {
    let calls: Vec<Written<&str>> = calls.iter().map(written).collect();
    serde_json::to_string(&calls).expect("lists of texts and numbers are JSON")
}

fn written(call: &CallRow) -> Written<&str> {
    (
        &call.id,
        call.at_ms,
        call.duration_us,
        &call.request_id,
        &call.correlation_id,
        &call.method,
        call.server.as_deref(),
        call.tool.as_deref(),
        &call.status,
        call.code,
        call.error.as_deref(),
        &call.principal,
        call.client.as_deref(),
        call.project.as_deref(),
        call.arguments.as_deref(),
    )
}

fn call(written: Written<String>) -> CallRow {
    CallRow {
        id: written.0,
        at_ms: written.1,
        duration_us: written.2,
        request_id: written.3,
        correlation_id: written.4,
        method: written.5,
        server: written.6,
        tool: written.7,
        status: written.8,
        code: written.9,
        error: written.10,
        principal: written.11,
        client: written.12,
        project: written.13,
        arguments: written.14,
    }
}
