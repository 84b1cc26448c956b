//! Making and opening the database file, for its owner's eyes only.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::fault::Fault;
use super::schema;
use crate::{DatabaseError, DatabaseFault, StoreError};

/// How long another process may hold the database before a statement fails.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the database, making the folder, the file and the tables that are not there yet.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    create(path)
        .map_err(|error| DatabaseError::new(path, DatabaseFault::Unwritable, Some(Box::new(error))))?;
    let db = connect(path).map_err(|fault| fault.at(path))?;
    make_private(path);
    Ok(db)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    // Before the first change of any kind: the file may not be ours.
    schema::check(&db.transaction()?)?;
    patiently(|| use_log(&db))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    schema::migrate(&mut db)?;
    Ok(db)
}

/// Chooses the write-ahead log, with which readers and a writer do not wait for one another. Where
/// the file system cannot share memory SQLite stays with its older way, which is right too.
fn use_log(db: &Connection) -> Result<(), Fault> {
    Ok(db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?)
}

/// Tries again while another process is in the way: SQLite does not wait by itself when two change
/// the journal mode at once.
fn patiently(mut attempt: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(fault) if fault.is_locked() && started.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

/// Makes the folder and an empty file, if they are not there: SQLite would make them readable for all.
fn create(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folders().create(folder)?;
    }
    private_file().open(path).map(drop)
}

fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes a file that was there before, and the log beside it, from the eyes of others. Some file
/// systems have no modes, so what cannot be done is left.
#[cfg(unix)]
fn make_private(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        let _ = std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600));
    }
}

/// Elsewhere a file in a user's own folder is the user's own.
#[cfg(not(unix))]
fn make_private(_path: &Path) {}
