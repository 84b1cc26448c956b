//! The tables of what is changed at run time.

use std::collections::BTreeMap;

use mcpr_auth::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Row, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::change_durably;
use super::fault::Fault;
use crate::{Definition, SavedEquip, SavedProject, SavedToolset, Switch};

pub(super) fn toolsets(db: &Connection) -> Result<Vec<SavedToolset>, Fault> {
    let mut query = db.prepare_cached(
        "SELECT owner, name, description, tools, pins, created, changed FROM toolsets ORDER BY owner, name",
    )?;
    let rows = query.query_map([], |row| {
        Ok(SavedToolset {
            owner: row.get(0)?,
            name: row.get(1)?,
            description: row.get(2)?,
            tools: json(row, 3)?,
            pins: json(row, 4)?,
            created: Timestamp::from_unix(row.get(5)?),
            changed: Timestamp::from_unix(row.get(6)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_toolset(
    db: &mut Connection,
    toolset: &SavedToolset,
    definitions: &[Definition],
) -> Result<(), Fault> {
    change_durably(db, |tx| {
        let SavedToolset {
            owner,
            name,
            description,
            tools,
            pins,
            created,
            changed,
        } = toolset;
        tx.execute(
            "INSERT OR REPLACE INTO toolsets VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                owner,
                name,
                description,
                text(tools),
                text(pins),
                created.unix(),
                changed.unix()
            ],
        )?;
        let mut add = tx.prepare_cached("INSERT OR IGNORE INTO definitions VALUES (?, ?)")?;
        for Definition { hash, body } in definitions {
            add.execute(params![hash, body])?;
        }
        pin(tx, owner, name, pins)
    })
}

/// Notes what a toolset pins, and forgets definitions that none does any more.
fn pin(tx: &Transaction<'_>, owner: &str, name: &str, pins: &BTreeMap<String, String>) -> Result<(), Fault> {
    tx.execute("DELETE FROM pinned WHERE owner = ? AND name = ?", [owner, name])?;
    let mut add = tx.prepare_cached("INSERT OR IGNORE INTO pinned VALUES (?, ?, ?)")?;
    for hash in pins.values() {
        add.execute([owner, name, hash])?;
    }
    tx.execute(
        "DELETE FROM definitions WHERE hash NOT IN (SELECT hash FROM pinned)",
        [],
    )?;
    Ok(())
}

pub(super) fn delete_toolset(db: &mut Connection, owner: &str, name: &str) -> Result<bool, Fault> {
    change_durably(db, |tx| {
        let gone = tx.execute("DELETE FROM toolsets WHERE owner = ? AND name = ?", [owner, name])?;
        pin(tx, owner, name, &BTreeMap::new())?;
        Ok(gone > 0)
    })
}

pub(super) fn definitions(db: &Connection, hashes: &[String]) -> Result<Vec<Definition>, Fault> {
    let mut query = db.prepare_cached(
        "SELECT hash, body FROM definitions WHERE hash IN (SELECT value FROM json_each(?)) ORDER BY hash",
    )?;
    let rows = query.query_map([text(&hashes)], |row| {
        Ok(Definition {
            hash: row.get(0)?,
            body: row.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn equips(db: &Connection) -> Result<Vec<SavedEquip>, Fault> {
    let mut query =
        db.prepare_cached("SELECT principal, owner, toolset, at FROM equips ORDER BY principal")?;
    let rows = query.query_map([], |row| {
        Ok(SavedEquip {
            principal: row.get(0)?,
            owner: row.get(1)?,
            toolset: row.get(2)?,
            at: Timestamp::from_unix(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_equip(db: &mut Connection, equip: &SavedEquip) -> Result<(), Fault> {
    change_durably(db, |tx| {
        let mut put = tx.prepare_cached("INSERT OR REPLACE INTO equips VALUES (?, ?, ?, ?)")?;
        put.execute(params![
            equip.principal,
            equip.owner,
            equip.toolset,
            equip.at.unix()
        ])?;
        Ok(())
    })
}

pub(super) fn delete_equip(db: &mut Connection, principal: &str) -> Result<bool, Fault> {
    change_durably(db, |tx| {
        Ok(tx.execute("DELETE FROM equips WHERE principal = ?", [principal])? > 0)
    })
}

pub(super) fn switches(db: &Connection) -> Result<Vec<Switch>, Fault> {
    let mut query = db.prepare_cached(
        "SELECT server, tool, enabled, name, description FROM switches ORDER BY server, tool",
    )?;
    let rows = query.query_map([], |row| {
        let tool: String = row.get(1)?;
        Ok(Switch {
            server: row.get(0)?,
            tool: (!tool.is_empty()).then_some(tool),
            enabled: row.get(2)?,
            name: row.get(3)?,
            description: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_switch(db: &mut Connection, switch: &Switch) -> Result<(), Fault> {
    let Switch {
        server,
        tool,
        enabled,
        name,
        description,
    } = switch;
    let tool = tool.as_deref().unwrap_or_default();
    change_durably(db, |tx| {
        match switch.is_set() {
            true => tx.execute(
                "INSERT OR REPLACE INTO switches VALUES (?, ?, ?, ?, ?)",
                params![server, tool, enabled, name, description],
            )?,
            false => tx.execute(
                "DELETE FROM switches WHERE server = ? AND tool = ?",
                [server, tool],
            )?,
        };
        Ok(())
    })
}

pub(super) fn projects(db: &Connection) -> Result<Vec<SavedProject>, Fault> {
    let mut query = db.prepare_cached(
        "SELECT name, description, servers, tags, toolset, created FROM projects ORDER BY name",
    )?;
    let rows = query.query_map([], |row| {
        Ok(SavedProject {
            name: row.get(0)?,
            description: row.get(1)?,
            servers: json(row, 2)?,
            tags: json(row, 3)?,
            toolset: row.get(4)?,
            created: Timestamp::from_unix(row.get(5)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_project(db: &mut Connection, project: &SavedProject) -> Result<(), Fault> {
    let SavedProject {
        name,
        description,
        servers,
        tags,
        toolset,
        created,
    } = project;
    change_durably(db, |tx| {
        tx.execute(
            "INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?, ?, ?)",
            params![
                name,
                description,
                text(servers),
                text(tags),
                toolset,
                created.unix()
            ],
        )?;
        Ok(())
    })
}

pub(super) fn delete_project(db: &mut Connection, name: &str) -> Result<bool, Fault> {
    change_durably(db, |tx| {
        Ok(tx.execute("DELETE FROM projects WHERE name = ?", [name])? > 0)
    })
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("lists and maps of texts are JSON")
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    serde_json::from_str(&text).map_err(unreadable)
}
