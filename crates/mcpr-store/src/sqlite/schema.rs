//! The tables, and how older ones become today's.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::fault::Fault;
use crate::DatabaseFault;

/// What makes each schema out of the one before; the first makes it out of an empty file. Entries
/// are only ever added: databases in the field have run the old ones.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
];

/// The schema that all of them make.
pub(super) const KNOWN: u32 = STEPS.len() as u32;

/// Marks a database as mcpr's, in the file's header: `mcpr` in ASCII.
const APPLICATION_ID: i32 = 0x6d63_7072;

/// Refuses a database that is not ours or too new, and gives its schema; 0 is an empty file.
///
/// Takes a transaction, because another process may make the tables between two questions.
pub(super) fn check(db: &Transaction<'_>) -> Result<u32, Fault> {
    let found: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let owner: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: u32 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let empty = tables == 0 && found == 0 && owner == 0;
    match found {
        _ if !empty && owner != APPLICATION_ID => Err(DatabaseFault::Foreign.into()),
        _ if found > KNOWN => Err(DatabaseFault::Newer { found, known: KNOWN }.into()),
        _ => Ok(found),
    }
}

/// Brings the tables up to date; does nothing if they are.
pub(super) fn migrate(db: &mut Connection) -> Result<(), Fault> {
    if check(&db.transaction()?)? == KNOWN {
        return Ok(());
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again under the lock: another process may have been faster.
    for step in &STEPS[check(&change)? as usize..] {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", KNOWN)?;
    Ok(change.commit()?)
}
