//! The smaller tables: assignments, listings, verdicts and keys.

use mcpr_auth::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::{change, change_durably};
use crate::{Assignment, SavedListing, SealingKey, StoreError, Verdict};

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

/// Draws the key under the write lock if there is none, so that two processes get the same. Where nothing can be
/// written it is one for this process.
pub(super) fn sealing_key(db: &mut Connection, read_only: bool) -> Result<SealingKey, Fault> {
    let draw = || SealingKey::draw().map_err(StoreError::NoRandomness);
    if let Some(known) = known_sealing_key(db)? {
        return Ok(known);
    }
    if read_only {
        return Ok(draw()?);
    }
    change_durably(db, |tx| {
        if let Some(known) = known_sealing_key(tx)? {
            return Ok(known);
        }
        let key = draw()?;
        tx.execute("INSERT INTO keys VALUES ('sealing', ?)", [key.as_bytes()])?;
        Ok(key)
    })
}

fn known_sealing_key(db: &Connection) -> Result<Option<SealingKey>, Fault> {
    let known = db.query_row("SELECT value FROM keys WHERE name = 'sealing'", [], |row| {
        row.get(0)
    });
    Ok(known.optional()?.map(SealingKey::from_bytes))
}

pub(super) fn changes_by_others(db: &Connection) -> Result<u64, Fault> {
    Ok(db
        .pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))?
        .cast_unsigned())
}
