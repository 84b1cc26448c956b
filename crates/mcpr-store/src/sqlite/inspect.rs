//! Looks at a database file without changing it.

use std::path::Path;
use std::time::Duration;

use super::fault::Fault;
use super::{file, schema};
use crate::{DatabaseFault, StoreError};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a look at a database file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The schema of its tables; 0 while it is empty.
    pub schema: u32,
    /// The newest schema that this mcpr knows.
    pub known: u32,
    /// Its size, with what is not yet in the file itself.
    pub bytes: u64,
}

impl Inspection {
    /// Whether [`open`](crate::open) would leave the tables as they are.
    pub fn is_current(&self) -> bool {
        self.schema == self.known
    }
}

/// Looks at the database at `path`; `None` if there is no such file. Nothing is made or changed.
///
/// Blocks for as long as the disk takes.
///
/// # Errors
///
/// [`StoreError::Database`] as for [`open`](crate::open).
pub fn inspect(path: &Path) -> Result<Option<Inspection>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    look(path).map(Some).map_err(|fault| fault.at(path))
}

/// The same, with a look at each page of it.
///
/// Blocks for as long as the disk takes to read all of it.
///
/// # Errors
///
/// [`StoreError::Database`] as for [`open`](crate::open), and where a page is damaged.
pub fn inspect_pages(path: &Path) -> Result<Option<Inspection>, StoreError> {
    let found = inspect(path)?;
    if found.is_some() {
        read_pages(path).map_err(|fault| fault.at(path))?;
    }
    Ok(found)
}

fn read_pages(path: &Path) -> Result<(), Fault> {
    let db = file::open_to_read(path)?;
    db.busy_timeout(PATIENCE)?;
    let found: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        _ => Err(DatabaseFault::Damaged.into()),
    }
}

fn look(path: &Path) -> Result<Inspection, Fault> {
    let mut db = file::open_to_read(path)?;
    db.busy_timeout(PATIENCE)?;
    let schema = schema::check(&db.transaction()?)?;
    Ok(Inspection {
        schema,
        known: schema::KNOWN,
        bytes: size(path, "") + size(path, "-wal"),
    })
}

/// The size of the file, or of the one beside it.
fn size(path: &Path, end: &str) -> u64 {
    let mut file = path.as_os_str().to_owned();
    file.push(end);
    std::fs::metadata(file).map_or(0, |file| file.len())
}
