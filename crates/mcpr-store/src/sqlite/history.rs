//! Past calls, many of them in each row.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Params, Row, params};

use super::change;
use super::fault::Fault;
use crate::history::{Room, batch};
use crate::{CallBatch, CallQuery, CallRow};

/// So many rows are dropped as one change at the most.
const STEP: u32 = 16;
/// So many rows are searched before others have their turn, or those that have so many bytes.
const PAGE: usize = 64;
const PAGE_BYTES: usize = 1 << 20;

/// The rows that may have calls within these bounds, which [`bounds`] gives.
const WITHIN: &str =
    "(?1 IS NULL OR first < ?1) AND (?2 IS NULL OR last > ?2) AND (?3 IS NULL OR oldest_ms < ?3)";

pub(super) fn put(db: &mut Connection, calls: CallBatch) -> Result<(), Fault> {
    change(db, |tx| insert(tx, &with_those_among(tx, calls)?))
}

/// What one step of going through the rows has come to.
pub(super) struct Step<T> {
    pub(super) outcome: T,
    /// The last row of it, behind which the next one begins; none at the end.
    pub(super) next: Option<String>,
}

/// One step of a search, from the newest row on or from the one before `behind`; what room is left after it.
pub(super) fn search(
    db: &Connection,
    query: &CallQuery,
    behind: Option<&str>,
    mut room: Room,
) -> Result<Step<(Vec<CallRow>, Room)>, Fault> {
    let mut select = db.prepare_cached(&format!(
        "SELECT calls, last FROM call_batches WHERE {WITHIN} AND (?4 IS NULL OR last < ?4) ORDER BY last DESC"
    ))?;
    let mut rows = select.query(bounds(query, behind))?;
    let (mut found, mut last, mut bytes) = (Vec::new(), None, 0);
    for _ in 0..PAGE {
        last = match rows.next()? {
            Some(row) if room.is_left() => {
                bytes += text(row)?.len();
                room.fill(read(row)?.into_iter().rev(), query, &mut found);
                Some(row.get(1)?)
            }
            _ => None,
        };
        if last.is_none() || bytes >= PAGE_BYTES {
            break;
        }
    }
    Ok(Step {
        outcome: (found, room),
        next: last,
    })
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
        for call in read(row)? {
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

/// One step of forgetting what somebody wants forgotten, from the oldest row on or from the one behind `behind`; how
/// many calls are gone.
pub(super) fn delete(
    db: &mut Connection,
    query: &CallQuery,
    behind: Option<&str>,
) -> Result<Step<u64>, Fault> {
    let rows = format!("{WITHIN} AND (?4 IS NULL OR last > ?4)");
    change(db, |tx| {
        forget(tx, &rows, bounds(query, behind), |call| query.means(call))
    })
}

/// Leaves nothing of what was forgotten in the log beside the file. Where another process reads at this moment it
/// cannot be done; the log is overwritten in time.
pub(super) fn clear_log(db: &Connection) -> Result<(), Fault> {
    let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(())
}

/// One step of dropping the oldest calls beyond so many bytes; how many are gone, none at the end.
pub(super) fn shrink(db: &mut Connection, max_bytes: u64) -> Result<Option<u64>, Fault> {
    let bytes: i64 = db.query_row("SELECT bytes FROM calls_size", [], |row| row.get(0))?;
    let surplus = bytes.cast_unsigned().saturating_sub(max_bytes);
    match surplus > 0 && bytes > 0 {
        true => change(db, |tx| drop_oldest(tx, surplus)),
        false => Ok(None),
    }
}

/// Forgets the oldest rows that are too much as a whole, or as much as is too much of the oldest one.
fn drop_oldest(tx: &Connection, surplus: u64) -> Result<Option<u64>, Fault> {
    let mut select =
        tx.prepare_cached("SELECT last, bytes, count FROM call_batches ORDER BY last LIMIT ?")?;
    let rows = select.query_map([STEP], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let rows: Vec<(String, i64, i64)> = rows.collect::<Result<_, _>>()?;
    let Some((oldest, bytes, _)) = rows.first() else {
        return Ok(None);
    };
    let (mut left, mut gone) = (surplus.cast_signed(), 0);
    if *bytes > left {
        return drop_part(tx, oldest, left).map(Some);
    }
    for (last, bytes, calls) in rows {
        if bytes > left {
            break;
        }
        remove(tx, &last)?;
        left -= bytes;
        gone += calls.cast_unsigned();
    }
    Ok(Some(gone))
}

fn drop_part(tx: &Connection, oldest: &str, surplus: i64) -> Result<u64, Fault> {
    let mut left = surplus;
    let step = forget(tx, "last = ?", [oldest], |call| {
        let goes = left > 0;
        left -= call.bytes().cast_signed();
        goes
    })?;
    Ok(step.outcome)
}

/// Forgets those calls of the first of these rows that are to go; how many there were.
fn forget(
    tx: &Connection,
    rows: &str,
    params: impl Params,
    mut goes: impl FnMut(&CallRow) -> bool,
) -> Result<Step<u64>, Fault> {
    let mut select = tx.prepare_cached(&format!(
        "SELECT last FROM call_batches WHERE {rows} ORDER BY last LIMIT {STEP}"
    ))?;
    let keys = select.query_map(params, |row| row.get(0))?;
    let keys: Vec<String> = keys.collect::<Result<_, _>>()?;
    let mut gone = 0;
    for key in &keys {
        let mut calls = calls_of(tx, key)?;
        let before = calls.len();
        calls.retain(|call| !goes(call));
        if calls.len() < before || before == 0 {
            gone += (before - calls.len()) as u64;
            remove(tx, key)?;
            insert(tx, &calls.into_iter().collect())?;
        }
    }
    Ok(Step {
        outcome: gone,
        next: keys.into_iter().nth(STEP as usize - 1),
    })
}

/// The calls in their order, with those that were written before among which they lie; their rows are gone then.
/// There are some only where two processes write, or the clock went back.
fn with_those_among(tx: &Connection, batch: CallBatch) -> Result<CallBatch, Fault> {
    let Some((first, last)) = batch.ends() else {
        return Ok(batch);
    };
    let mut select =
        tx.prepare_cached("SELECT last FROM call_batches WHERE last >= ? AND first <= ? ORDER BY last")?;
    let keys = select.query_map([first, last], |row| row.get(0))?;
    let keys: Vec<String> = keys.collect::<Result<_, _>>()?;
    if keys.is_empty() && batch.is_in_order() {
        return Ok(batch);
    }
    let mut calls = Vec::new();
    for key in &keys {
        calls.append(&mut calls_of(tx, key)?);
        remove(tx, key)?;
    }
    calls.extend(batch.calls());
    Ok(CallBatch::merged(calls))
}

fn calls_of(tx: &Connection, last: &str) -> Result<Vec<CallRow>, Fault> {
    let mut select = tx.prepare_cached("SELECT calls FROM call_batches WHERE last = ?")?;
    Ok(select.query_row([last], read)?)
}

/// The calls of a row that has nothing else. One that somebody has damaged has none: it must not keep the others from
/// being read, and goes with the next that are forgotten within the same bounds.
fn read(row: &Row<'_>) -> rusqlite::Result<Vec<CallRow>> {
    Ok(batch::read(text(row)?).unwrap_or_else(|error| {
        tracing::warn!(reason = %error, "a row of the history cannot be read and is passed over");
        Vec::new()
    }))
}

fn text<'r>(row: &'r Row<'_>) -> rusqlite::Result<&'r [u8]> {
    Ok(row.get_ref(0)?.as_bytes()?)
}

fn remove(tx: &Connection, last: &str) -> Result<(), Fault> {
    let mut delete = tx.prepare_cached("DELETE FROM call_batches WHERE last = ?")?;
    delete.execute([last])?;
    Ok(())
}

fn insert(tx: &Connection, calls: &CallBatch) -> Result<(), Fault> {
    let mut insert = tx.prepare_cached("INSERT INTO call_batches VALUES (?, ?, ?, ?, ?, ?)")?;
    for piece in calls.pieces() {
        insert.execute(params![
            piece.last,
            piece.first,
            piece.oldest_ms,
            piece.bytes().cast_signed(),
            ToSqlOutput::Borrowed(ValueRef::Text(&piece.text)),
            piece.calls as i64,
        ])?;
    }
    Ok(())
}

/// What narrows the rows that a step of a query is about.
fn bounds(query: &CallQuery, behind: Option<&str>) -> [Value; 4] {
    [
        query.before.clone().into(),
        query.after.clone().into(),
        query.until_ms.into(),
        behind.map(str::to_owned).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn log_06_a_search_gives_others_their_turn_before_it_has_read_much() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = file::open(&folder.path().join("mcpr.db")).unwrap().db;
        let arguments = "x".repeat(PAGE_BYTES / 2);
        for number in 0..5 {
            let call = CallRow {
                id: format!("h_{number}"),
                arguments: Some(arguments.clone()),
                ..CallRow::default()
            };
            put(&mut db, CallBatch::from([call])).unwrap();
        }
        let query = CallQuery {
            text: Some("y".into()),
            ..CallQuery::default()
        };

        let (mut behind, mut steps) = (None, Vec::new());
        loop {
            let step = search(&db, &query, behind.as_deref(), Room::of(&query)).unwrap();
            steps.push(step.next.clone());
            behind = step.next;
            if behind.is_none() {
                break;
            }
        }

        let last = |id: &str| Some(id.to_owned());
        assert_eq!(steps, [last("h_3"), last("h_1"), None]);
    }
}
