//! Past calls, many of them in each row.

mod batch;

use rusqlite::types::Value;
use rusqlite::{Connection, Params, params};

use self::batch::Batch;
use super::change;
use super::fault::Fault;
use crate::{CallQuery, CallRow};

/// How many calls a row has at the most: what is read of it is read whole.
const MOST: usize = 256;

/// The rows that may have calls within these bounds, which [`bounds`] gives.
const WITHIN: &str =
    "(?1 IS NULL OR first < ?1) AND (?2 IS NULL OR last > ?2) AND (?3 IS NULL OR oldest_ms < ?3)";

pub(super) fn put(db: &mut Connection, calls: Vec<CallRow>) -> Result<(), Fault> {
    let batch = Batch::of(calls);
    change(db, |tx| {
        let whole = with_those_among(tx, batch)?;
        whole.pieces(MOST).try_for_each(|calls| insert(tx, calls))
    })
}

pub(super) fn list(db: &Connection, query: &CallQuery) -> Result<Vec<CallRow>, Fault> {
    let limit = if query.limit == 0 { usize::MAX } else { query.limit };
    let mut select = db.prepare_cached(&format!(
        "SELECT calls FROM call_batches WHERE {WITHIN} ORDER BY last DESC"
    ))?;
    let mut rows = select.query(bounds(query))?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let newest = Batch::read(row)?.calls.into_iter().rev();
        let meant = newest.filter(|call| query.means(call));
        found.extend(meant.take(limit - found.len()));
    }
    Ok(found)
}

/// Of all whose ids begin so, the one with this very id comes first.
pub(super) fn one(db: &Connection, id: &str) -> Result<Option<CallRow>, Fault> {
    let mut select = db.prepare_cached(
        // `~` comes behind every letter and digit that an id can have.
        "SELECT calls FROM call_batches WHERE last >= ?1 AND first < ?1 || '~' ORDER BY last",
    )?;
    let mut rows = select.query([id])?;
    let mut found: Option<CallRow> = None;
    while let Some(row) = rows.next()? {
        for call in Batch::read(row)?.calls {
            if call.id == id {
                return Ok(Some(call));
            }
            if !call.id.starts_with(id) {
                continue;
            }
            if id.is_empty() || found.is_some() {
                return Ok(None);
            }
            found = Some(call);
        }
    }
    Ok(found)
}

pub(super) fn delete(db: &mut Connection, query: &CallQuery) -> Result<u64, Fault> {
    change(db, |tx| {
        forget(tx, WITHIN, bounds(query), |call| query.means(call))
    })
}

/// One step of dropping what is too old and what is too much; how many calls are gone, 0 at the end. Steps, so that
/// others have their turn at the file between two of them.
pub(super) fn prune(db: &mut Connection, older_than_ms: Option<i64>, max_bytes: u64) -> Result<u64, Fault> {
    if let Some(limit) = older_than_ms {
        let is_old = |call: &CallRow| call.at_ms < limit;
        let rows = "last IN (SELECT last FROM call_batches WHERE oldest_ms < ? ORDER BY last LIMIT 16)";
        let gone = change(db, |tx| forget(tx, rows, [limit], is_old))?;
        if gone > 0 {
            return Ok(gone);
        }
    }
    let bytes: i64 = db.query_row("SELECT bytes FROM calls_size", [], |row| row.get(0))?;
    let surplus = bytes.cast_unsigned().saturating_sub(max_bytes);
    match surplus > 0 && bytes > 0 {
        true => change(db, |tx| drop_oldest(tx, surplus)),
        false => Ok(0),
    }
}

/// Forgets as much of the oldest row as is too much.
fn drop_oldest(tx: &Connection, surplus: u64) -> Result<u64, Fault> {
    let oldest = "last = (SELECT min(last) FROM call_batches)";
    let mut left = surplus.cast_signed();
    forget(tx, oldest, [], |call| {
        let goes = left > 0;
        left -= call.bytes().cast_signed();
        goes
    })
}

/// Forgets those calls of some rows that are to go; how many there were.
fn forget(
    tx: &Connection,
    rows: &str,
    params: impl Params,
    mut goes: impl FnMut(&CallRow) -> bool,
) -> Result<u64, Fault> {
    let mut select = tx.prepare_cached(&format!(
        "SELECT last FROM call_batches WHERE {rows} ORDER BY last"
    ))?;
    let keys = select.query_map(params, |row| row.get(0))?;
    let keys: Vec<String> = keys.collect::<Result<_, _>>()?;
    let mut gone = 0;
    for key in keys {
        let mut calls = read(tx, &key)?.calls;
        let before = calls.len();
        calls.retain(|call| !goes(call));
        if calls.len() < before {
            remove(tx, &key)?;
            insert(tx, &calls)?;
            gone += (before - calls.len()) as u64;
        }
    }
    Ok(gone)
}

/// A batch with the calls that were written before among which it lies; their rows are gone then. There are some
/// only where two processes write, or the clock went back.
fn with_those_among(tx: &Connection, batch: Batch) -> Result<Batch, Fault> {
    let (Some(first), Some(last)) = (batch.calls.first(), batch.calls.last()) else {
        return Ok(batch);
    };
    let mut select =
        tx.prepare_cached("SELECT last FROM call_batches WHERE last >= ? AND first <= ? ORDER BY last")?;
    let keys = select.query_map([&first.id, &last.id], |row| row.get(0))?;
    let keys: Vec<String> = keys.collect::<Result<_, _>>()?;
    let mut known = Vec::new();
    for key in &keys {
        known.append(&mut read(tx, key)?.calls);
        remove(tx, key)?;
    }
    if keys.is_empty() {
        return Ok(batch);
    }
    known.extend(batch.calls);
    Ok(Batch::of(known))
}

fn read(tx: &Connection, last: &str) -> Result<Batch, Fault> {
    let mut select = tx.prepare_cached("SELECT calls FROM call_batches WHERE last = ?")?;
    Ok(select.query_row([last], Batch::read)?)
}

fn remove(tx: &Connection, last: &str) -> Result<(), Fault> {
    let mut delete = tx.prepare_cached("DELETE FROM call_batches WHERE last = ?")?;
    delete.execute([last])?;
    Ok(())
}

/// Writes calls as one row, unless there are none.
fn insert(tx: &Connection, calls: &[CallRow]) -> Result<(), Fault> {
    let (Some(first), Some(last)) = (calls.first(), calls.last()) else {
        return Ok(());
    };
    let mut insert = tx.prepare_cached("INSERT INTO call_batches VALUES (?, ?, ?, ?, ?)")?;
    let bytes: u64 = calls.iter().map(CallRow::bytes).sum();
    insert.execute(params![
        last.id,
        first.id,
        calls.iter().map(|call| call.at_ms).min(),
        bytes.cast_signed(),
        batch::text(calls),
    ])?;
    Ok(())
}

/// What narrows the rows that a query is about.
fn bounds(query: &CallQuery) -> [Value; 3] {
    [
        query.before.clone().into(),
        query.after.clone().into(),
        query.until_ms.into(),
    ]
}
