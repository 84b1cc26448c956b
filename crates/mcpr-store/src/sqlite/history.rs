//! The table of past calls.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::change;
use super::fault::Fault;
use crate::{CallQuery, CallRow};

const COLUMNS: &str = "id, at_ms, duration_us, request_id, correlation_id, method, server, tool, status, code, \
                       error, principal, client, project, arguments";

/// Nothing but this counts the bytes that are added; a trigger counts those that go.
pub(super) fn put(db: &mut Connection, calls: &[CallRow]) -> Result<(), Fault> {
    change(db, |tx| {
        let mut bytes = 0;
        let mut put = tx.prepare_cached(&format!(
            "INSERT OR IGNORE INTO calls ({COLUMNS}, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ))?;
        for call in calls {
            let size = call.bytes().cast_signed();
            let added = put.execute(params![
                call.id,
                call.at_ms,
                call.duration_us.cast_signed(),
                call.request_id,
                call.correlation_id,
                call.method,
                call.server,
                call.tool,
                call.status,
                call.code,
                call.error,
                call.principal,
                call.client,
                call.project,
                call.arguments,
                size,
            ])?;
            bytes += if added > 0 { size } else { 0 };
        }
        let mut count = tx.prepare_cached("UPDATE calls_size SET bytes = bytes + ?")?;
        count.execute([bytes])?;
        Ok(())
    })
}

pub(super) fn list(db: &Connection, query: &CallQuery) -> Result<Vec<CallRow>, Fault> {
    let (condition, mut values) = condition(query);
    let limit = match query.limit {
        0 => -1,
        limit => i64::try_from(limit).unwrap_or(i64::MAX),
    };
    values.push(limit.into());
    let mut list = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM calls WHERE {condition} ORDER BY id DESC LIMIT ?"
    ))?;
    let rows = list.query_map(params_from_iter(values), call_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn one(db: &Connection, id: &str) -> Result<Option<CallRow>, Fault> {
    let mut exact = db.prepare_cached(&format!("SELECT {COLUMNS} FROM calls WHERE id = ?"))?;
    if let Some(found) = exact.query_row([id], call_row).optional()? {
        return Ok(Some(found));
    }
    if id.is_empty() {
        return Ok(None);
    }
    // `~` comes behind every letter and digit that an id can have.
    let mut begins = db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM calls WHERE id >= ?1 AND id < ?1 || '~' LIMIT 2"
    ))?;
    let mut found: Vec<CallRow> = begins.query_map([id], call_row)?.collect::<Result<_, _>>()?;
    Ok(if found.len() == 1 { found.pop() } else { None })
}

pub(super) fn delete(db: &mut Connection, query: &CallQuery) -> Result<u64, Fault> {
    let (condition, values) = condition(query);
    change(db, |tx| {
        let gone = tx.execute(
            &format!("DELETE FROM calls WHERE {condition}"),
            params_from_iter(values),
        )?;
        Ok(gone as u64)
    })
}

/// The oldest beyond the limit go in steps, so that no one step holds the file for long.
pub(super) fn prune(db: &mut Connection, older_than_ms: Option<i64>, max_bytes: u64) -> Result<u64, Fault> {
    const STEP: u64 = 1000;
    let mut gone = 0;
    if let Some(limit) = older_than_ms {
        gone += change(db, |tx| {
            Ok(tx.execute("DELETE FROM calls WHERE at_ms < ?", [limit])?)
        })? as u64;
    }
    loop {
        let bytes: i64 = db.query_row("SELECT bytes FROM calls_size", [], |row| row.get(0))?;
        if bytes.cast_unsigned() <= max_bytes || bytes <= 0 {
            return Ok(gone);
        }
        let before = gone;
        gone += change(db, |tx| drop_oldest(tx, STEP, bytes.cast_unsigned() - max_bytes))?;
        if gone == before {
            return Ok(gone);
        }
    }
}

/// Deletes the oldest calls until so many bytes are gone, or so many calls.
fn drop_oldest(tx: &Connection, most: u64, bytes: u64) -> Result<u64, Fault> {
    let mut oldest = tx.prepare_cached("SELECT id, bytes FROM calls ORDER BY id LIMIT ?")?;
    let rows: Vec<(String, i64)> = oldest
        .query_map([most.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let (mut left, mut gone) = (bytes.cast_signed(), 0);
    let mut delete = tx.prepare_cached("DELETE FROM calls WHERE id = ?")?;
    for (id, size) in rows {
        if left <= 0 {
            break;
        }
        delete.execute([id])?;
        left -= size;
        gone += 1;
    }
    Ok(gone)
}

/// The condition of a query and its values.
fn condition(query: &CallQuery) -> (String, Vec<Value>) {
    let mut parts = vec!["1"];
    let mut values: Vec<Value> = Vec::new();
    let texts = [
        ("server = ?", &query.server),
        ("tool = ?", &query.tool),
        ("status = ?", &query.status),
        ("principal = ?", &query.principal),
        ("method = ?", &query.method),
        ("id < ?", &query.before),
        ("id > ?", &query.after),
    ];
    for (part, value) in texts {
        if let Some(value) = value {
            parts.push(part);
            values.push(value.clone().into());
        }
    }
    let slower = query
        .slower_than_us
        .map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let numbers = [
        ("at_ms >= ?", query.since_ms),
        ("at_ms < ?", query.until_ms),
        ("duration_us > ?", slower),
    ];
    for (part, value) in numbers {
        if let Some(value) = value {
            parts.push(part);
            values.push(value.into());
        }
    }
    if let Some(text) = &query.text {
        parts.push(
            "instr(lower(coalesce(tool, '') || char(0) || coalesce(error, '') || char(0) || coalesce(arguments, '')), \
             lower(?)) > 0",
        );
        values.push(text.clone().into());
    }
    (parts.join(" AND "), values)
}

fn call_row(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    let duration: i64 = row.get(2)?;
    Ok(CallRow {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        duration_us: duration.cast_unsigned(),
        request_id: row.get(3)?,
        correlation_id: row.get(4)?,
        method: row.get(5)?,
        server: row.get(6)?,
        tool: row.get(7)?,
        status: row.get(8)?,
        code: row.get(9)?,
        error: row.get(10)?,
        principal: row.get(11)?,
        client: row.get(12)?,
        project: row.get(13)?,
        arguments: row.get(14)?,
    })
}
