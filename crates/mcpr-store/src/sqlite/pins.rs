//! The table of approved definitions.

use std::collections::BTreeMap;

use mcpr_auth::Timestamp;
use rusqlite::{Connection, Transaction, params};

use super::change_durably;
use super::fault::Fault;
use crate::{SavedPin, SavedPins};

/// The tool of the row that stands for the server itself.
const SERVER: &str = "";

pub(super) fn all(db: &Connection) -> Result<Vec<SavedPins>, Fault> {
    let mut query = db.prepare_cached("SELECT server, tool, body, at FROM pins ORDER BY server, tool")?;
    let rows = query.query_map([], |row| {
        let pin = SavedPin {
            tool: row.get(1)?,
            definition: row.get(2)?,
            at: Timestamp::from_unix(row.get(3)?),
        };
        Ok((row.get::<_, String>(0)?, pin))
    })?;
    let mut servers: BTreeMap<String, Vec<SavedPin>> = BTreeMap::new();
    for row in rows {
        let (server, pin) = row?;
        let tools = servers.entry(server).or_default();
        if pin.tool != SERVER {
            tools.push(pin);
        }
    }
    let whole = |(server, tools)| SavedPins { server, tools };
    Ok(servers.into_iter().map(whole).collect())
}

pub(super) fn put_first(db: &mut Connection, pins: &SavedPins, at: Timestamp) -> Result<bool, Fault> {
    change_durably(db, |tx| {
        let mut add = tx.prepare_cached("INSERT OR IGNORE INTO pins VALUES (?, ?, '', ?)")?;
        let first = add.execute(params![pins.server, SERVER, at.unix()])? > 0;
        if first {
            put(tx, &pins.server, &pins.tools)?;
        }
        Ok(first)
    })
}

pub(super) fn approve(
    db: &mut Connection,
    server: &str,
    approved: &[SavedPin],
    forgotten: &[String],
) -> Result<(), Fault> {
    change_durably(db, |tx| {
        let mut forget = tx.prepare_cached("DELETE FROM pins WHERE server = ? AND tool = ?")?;
        for tool in forgotten.iter().filter(|tool| *tool != SERVER) {
            forget.execute([server, tool])?;
        }
        put(tx, server, approved)
    })
}

fn put(tx: &Transaction<'_>, server: &str, pins: &[SavedPin]) -> Result<(), Fault> {
    let mut put = tx.prepare_cached("INSERT OR REPLACE INTO pins VALUES (?, ?, ?, ?)")?;
    for SavedPin { tool, definition, at } in pins {
        put.execute(params![server, tool, definition, at.unix()])?;
    }
    Ok(())
}
