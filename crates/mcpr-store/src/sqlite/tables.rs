//! The smaller tables: assignments, listings, verdicts and keys.

use mcpr_auth::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::{change, change_durably};
use crate::{Assignment, SavedListing, SealingKey, SealingKeys, Verdict};

pub(super) fn assignments(db: &Connection) -> Result<Vec<Assignment>, Fault> {
    let mut query = db.prepare_cached(
        "SELECT kind, server, origin, exposed FROM assignments ORDER BY kind, server, origin",
    )?;
    let rows = query.query_map([], |row| {
        Ok(Assignment {
            kind: row.get(0)?,
            server: row.get(1)?,
            origin: row.get(2)?,
            exposed: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_assignments(db: &mut Connection, batch: &[Assignment]) -> Result<(), Fault> {
    change(db, |tx| {
        let mut put = tx.prepare_cached("INSERT OR REPLACE INTO assignments VALUES (?, ?, ?, ?)")?;
        for Assignment {
            kind,
            server,
            origin,
            exposed,
        } in batch
        {
            put.execute(params![kind, server, origin, exposed])?;
        }
        Ok(())
    })
}

pub(super) fn listings(db: &Connection) -> Result<Vec<SavedListing>, Fault> {
    let mut query = db.prepare_cached("SELECT server, format, at, body FROM listings ORDER BY server")?;
    let rows = query.query_map([], |row| {
        let at = Timestamp::from_unix(row.get(2)?);
        Ok(SavedListing {
            server: row.get(0)?,
            format: row.get(1)?,
            at,
            body: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_listing(db: &mut Connection, listing: &SavedListing) -> Result<(), Fault> {
    let SavedListing {
        server,
        format,
        at,
        body,
    } = listing;
    change(db, |tx| {
        let mut put = tx.prepare_cached("INSERT OR REPLACE INTO listings VALUES (?, ?, ?, ?)")?;
        put.execute(params![server, format, at.unix(), body])?;
        Ok(())
    })
}

pub(super) fn delete_listing(db: &mut Connection, server: &str) -> Result<(), Fault> {
    change(db, |tx| {
        tx.execute("DELETE FROM listings WHERE server = ?", [server])?;
        Ok(())
    })
}

pub(super) fn verdicts(db: &Connection) -> Result<Vec<Verdict>, Fault> {
    let mut query = db.prepare_cached("SELECT key, body, at FROM verdicts ORDER BY key")?;
    let rows = query.query_map([], |row| {
        Ok(Verdict {
            key: row.get(0)?,
            body: row.get(1)?,
            at: Timestamp::from_unix(row.get(2)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_verdict(db: &mut Connection, verdict: &Verdict) -> Result<(), Fault> {
    let Verdict { key, body, at } = verdict;
    change(db, |tx| {
        let mut put = tx.prepare_cached("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)")?;
        put.execute(params![key, body, at.unix()])?;
        Ok(())
    })
}

pub(super) fn prune_verdicts(db: &mut Connection, time: Timestamp) -> Result<(), Fault> {
    change(db, |tx| {
        tx.execute("DELETE FROM verdicts WHERE at < ?", [time.unix()])?;
        Ok(())
    })
}

/// How the keys are called in their table.
const NEWEST: &str = "sealing";
const DRAWN: &str = "sealing-drawn";
const FORMER: &str = "sealing-former";

/// Draws a key under the write lock where one is due, so that two processes get the same. Where nothing can be written
/// a first one is of this process, and no other follows.
pub(super) fn sealing_keys(
    db: &mut Connection,
    now: Timestamp,
    oldest: Timestamp,
    read_only: bool,
) -> Result<SealingKeys, Fault> {
    let known = known_keys(db)?;
    if let Some(keys) = known.filter(|keys| read_only || keys.is_fresh(now, oldest)) {
        return Ok(keys);
    }
    if read_only {
        return Ok(SealingKeys::current(None, now, oldest)?.0);
    }
    change_durably(db, |tx| {
        let (keys, is_new) = SealingKeys::current(known_keys(tx)?, now, oldest)?;
        if is_new {
            put_keys(tx, &keys)?;
        }
        Ok(keys)
    })
}

/// One of a mcpr that did not write down when it was drawn is as old as can be.
fn known_keys(db: &Connection) -> Result<Option<SealingKeys>, Fault> {
    let mut query = db.prepare_cached("SELECT value FROM keys WHERE name = ?")?;
    let mut key = |name| {
        let bytes = query.query_row([name], |row| row.get(0)).optional();
        Ok::<_, Fault>(bytes?.map(SealingKey::from_bytes))
    };
    let (newest, former) = (key(NEWEST)?, key(FORMER)?);
    let drawn: Option<[u8; 8]> = query.query_row([DRAWN], |row| row.get(0)).optional()?;
    let drawn = Timestamp::from_unix(drawn.map_or(0, i64::from_be_bytes));
    Ok(newest.map(|newest| SealingKeys {
        newest,
        drawn,
        former,
    }))
}

fn put_keys(tx: &Connection, keys: &SealingKeys) -> Result<(), Fault> {
    let mut put = tx.prepare_cached("INSERT OR REPLACE INTO keys VALUES (?, ?)")?;
    put.execute(params![NEWEST, keys.newest.as_bytes()])?;
    put.execute(params![DRAWN, keys.drawn.unix().to_be_bytes()])?;
    if let Some(former) = &keys.former {
        put.execute(params![FORMER, former.as_bytes()])?;
    }
    Ok(())
}

pub(super) fn changes_by_others(db: &Connection) -> Result<u64, Fault> {
    Ok(db
        .pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))?
        .cast_unsigned())
}
