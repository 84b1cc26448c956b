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

/// How much of the file is kept in memory, in KiB. What is read often is kept by its owners, and the history is written
/// once; SQLite's usual 2 MiB would be full of it.
const CACHE: i32 = 256;

/// A database that can be worked on.
pub(super) struct Opened {
    pub(super) db: Connection,
    /// Whether its file system takes no changes.
    pub(super) read_only: bool,
}

/// Opens the database, making the folder, the file and the tables that are not there yet.
pub(super) fn open(path: &Path) -> Result<Opened, StoreError> {
    refuse_others(path).map_err(|fault| fault.at(path))?;
    match create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            let db = connect_unchanging(path).map_err(|fault| fault.at(path))?;
            return Ok(Opened { db, read_only: true });
        }
        Err(error) => {
            let fault = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DatabaseFault::Full,
                _ => DatabaseFault::Unwritable,
            };
            return Err(DatabaseError::new(path, fault, Some(Box::new(error))).into());
        }
    }
    let db = connect(path).map_err(|fault| fault.at(path))?;
    make_private(path);
    Ok(Opened { db, read_only: false })
}

/// Opens a database of today's tables that nobody can change now.
fn connect_unchanging(path: &Path) -> Result<Connection, Fault> {
    let mut db = open_to_read(path)?;
    let found = schema::check(&db.transaction()?)?;
    match found {
        schema::KNOWN => Ok(db),
        _ => Err(DatabaseFault::ReadOnly.into()),
    }
}

/// Opens a database that is there, whatever its tables, and changes nothing.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, Fault> {
    refuse_others(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if !is_unchanging(path) {
        return Ok(Connection::open_with_flags(path, flags)?);
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // What stands in a log could not be seen: a token that was revoked there would count.
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Err(DatabaseFault::ReadOnly.into());
    }
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(unchanging(path), flags)?)
}

/// Refuses what is there and is no file: a pipe would be waited for until somebody opens its other end.
fn refuse_others(path: &Path) -> Result<(), Fault> {
    match std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        true => Err(DatabaseFault::NoFile.into()),
        false => Ok(()),
    }
}

/// Whether its file system takes no changes. SQLite would want to make files beside it all the same.
fn is_unchanging(path: &Path) -> bool {
    let opened = OpenOptions::new().write(true).open(path);
    opened.is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem)
}

/// The path as a URI that says so; what would mean something else in a URI is spelled out.
fn unchanging(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte))
            }
            other => uri += &format!("%{other:02X}"),
        }
    }
    uri + "?immutable=1"
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    // Before the first change of any kind: the file may not be ours.
    schema::check(&db.transaction()?)?;
    patiently(|| use_log(&db))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "cache_size", -CACHE)?;
    // What is forgotten leaves nothing in pages that are free: nobody overwrites those later.
    db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
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
    private_file().create(true).open(path).map(drop)
}

fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes a file for its owner alone where nothing is yet, not even a link.
pub(super) fn new_private_file() -> OpenOptions {
    let mut options = private_file();
    options.create_new(true);
    options
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false);
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
