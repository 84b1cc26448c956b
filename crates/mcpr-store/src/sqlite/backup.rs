//! Copies a database while others use it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::fault::Fault;
use super::{file, schema};
use crate::{DatabaseError, DatabaseFault, StoreError};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Copies the database at `path` to `to`, in place of a file that is there, and gives the size of the copy;
/// `None` if there is no database. What was acknowledged before is in the copy, as of one moment, whether or
/// not a gateway runs. The copy is for its owner alone, and is there whole or not at all.
///
/// Blocks for as long as the disk takes. No two may be under way at once to the same file.
///
/// # Errors
///
/// [`StoreError::Database`], which names the database or the copy, whichever is at fault.
pub fn backup(path: &Path, to: &Path) -> Result<Option<u64>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let db = open(path).map_err(|fault| fault.at(path))?;
    let fresh = beside(to);
    let copied = copy(&db, &fresh, to).and_then(|()| keep(&fresh, to));
    if copied.is_err() {
        let _ = fs::remove_file(&fresh); // It may not even have been made.
    }
    let at_fault = |fault: &Fault| if fault.is_of_copy() { to } else { path };
    copied.map(Some).map_err(|fault| {
        let path = at_fault(&fault);
        fault.at(path)
    })
}

/// Opens it as it is, also one of an older mcpr: before an update is when backups are made.
fn open(path: &Path) -> Result<Connection, Fault> {
    let mut db = file::open_to_read(path)?;
    db.busy_timeout(PATIENCE)?;
    schema::check(&db.transaction()?)?;
    Ok(db)
}

/// Writes all of it, as of one moment, into a file that only its owner can read.
fn copy(db: &Connection, fresh: &Path, to: &Path) -> Result<(), Fault> {
    let name = fresh.to_str().ok_or(DatabaseFault::Unwritable)?;
    let _ = fs::remove_file(fresh); // What a backup left that was killed.
    file::private_file().open(fresh).map_err(of_copy(to))?;
    db.execute("VACUUM INTO ?", [name])?;
    Ok(())
}

/// Puts the copy where it belongs, so that it survives a power cut.
fn keep(fresh: &Path, to: &Path) -> Result<u64, Fault> {
    let kept = || -> io::Result<u64> {
        let copy = File::open(fresh)?;
        copy.sync_all()?;
        fs::rename(fresh, to)?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(copy.metadata()?.len())
    };
    kept().map_err(of_copy(to))
}

fn of_copy(path: &Path) -> impl FnOnce(io::Error) -> Fault {
    let fault = |error: &io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DatabaseFault::Full,
        _ => DatabaseFault::Unwritable,
    };
    move |error| Fault::Store(DatabaseError::new(path, fault(&error), Some(Box::new(error))).into())
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}
