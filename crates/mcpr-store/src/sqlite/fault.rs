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
        use DatabaseFault::{Full, ReadOnly, Unwritable};
        matches!(self, Self::Sqlite(error) if matches!(diagnose(error), Full | ReadOnly | Unwritable))
            || matches!(self, Self::File(Unwritable))
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

/// Whether a row holds what no mcpr has written.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    )
}
