//! From what SQLite says to what a person can use.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::{DatabaseError, DatabaseFault, StoreError};

/// Why a piece of work failed, before the file it happened to is known.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    File(DatabaseFault),
    Store(StoreError),
}

impl Fault {
    /// The error to give out for work on the file at `path`.
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(error) => DatabaseError::new(path, diagnose(&error), Some(Box::new(error))).into(),
            Self::File(fault) => DatabaseError::new(path, fault, None).into(),
            Self::Store(error) => error,
        }
    }

    /// Whether another connection is in the way.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Sqlite(error) if diagnose(error) == DatabaseFault::Locked)
    }

    /// Whether it is the copy that cannot be written, and not the database that cannot be read.
    pub(super) fn is_of_copy(&self) -> bool {
        use DatabaseFault::{Full, Io, ReadOnly, Unwritable};
        match self {
            Self::Sqlite(error) if is_of_reading(error) => false,
            Self::Sqlite(error) => matches!(diagnose(error), Full | ReadOnly | Unwritable | Io),
            Self::File(fault) => *fault == Unwritable,
            Self::Store(_) => false, // It names its file.
        }
    }

    /// Whether a row like the one to be added is there already.
    pub(super) fn is_duplicate(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation))
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<DatabaseFault> for Fault {
    fn from(fault: DatabaseFault) -> Self {
        Self::File(fault)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn diagnose(error: &rusqlite::Error) -> DatabaseFault {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => DatabaseFault::Damaged,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseFault::Locked,
        Some(ErrorCode::ReadOnly) => DatabaseFault::ReadOnly,
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => DatabaseFault::Unwritable,
        Some(ErrorCode::DiskFull) => DatabaseFault::Full,
        Some(ErrorCode::SystemIoFailure) if has_no_room(error) => DatabaseFault::Full,
        Some(ErrorCode::SystemIoFailure) => DatabaseFault::Io,
        None if is_unreadable(error) => DatabaseFault::Damaged,
        _ => DatabaseFault::Failed,
    }
}

/// Whether the index of the log could not be made longer; SQLite does not say of itself that this is for want
/// of room.
fn has_no_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// Whether the system failed to read, or to share the memory that readers of a database look into.
fn is_of_reading(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;

    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(
            ffi::SQLITE_IOERR_READ
                | ffi::SQLITE_IOERR_SHORT_READ
                | ffi::SQLITE_IOERR_DATA
                | ffi::SQLITE_IOERR_CORRUPTFS
                | ffi::SQLITE_IOERR_MMAP
                | ffi::SQLITE_IOERR_SHMOPEN
                | ffi::SQLITE_IOERR_SHMSIZE
                | ffi::SQLITE_IOERR_SHMMAP
                | ffi::SQLITE_IOERR_SHMLOCK
        )
    )
}

/// Whether a row holds what no mcpr has written.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn ctl_01_a_database_that_is_only_read_is_not_blamed_for_what_cannot_be_written() {
        let blamed =
            |code| Fault::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).is_of_copy();
        let writing = [
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_TRUNCATE,
            ffi::SQLITE_FULL,
            ffi::SQLITE_CANTOPEN,
        ];
        let reading = [
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_SHMSIZE,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_BUSY,
        ];

        assert_eq!(writing.map(blamed), [true; 5]);
        assert_eq!(reading.map(blamed), [false; 4]);
    }
}
