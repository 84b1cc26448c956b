//! Why the store could not do what it was asked.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use mcpr_auth::TokenId;

/// A cause of any type.
pub type Source = Box<dyn Error + Send + Sync>;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No token has this id or name.
    #[error("there is no token `{0}`; `mcpr-ctl tokens ls` shows all")]
    NoToken(String),
    /// Several tokens have this name or begin like this.
    #[error("`{which}` means more than one token ({}); name one by its id", List(ids))]
    Ambiguous {
        /// What was asked for.
        which: String,
        /// The tokens it may mean.
        ids: Vec<TokenId>,
    },
    /// A token with this id or this secret is there already.
    #[error("the token {0} is stored already; make another one")]
    TokenExists(TokenId),
    /// A token is not what it was when it was read.
    #[error("the token {0} was changed in the meantime; try again")]
    TokenChanged(TokenId),
    /// The store was closed, or its thread has ended.
    #[error("the store is closed; open it again")]
    Closed,
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes; try again later")]
    NoRandomness(#[source] getrandom::Error),
    /// The operating system gave no thread to work on the database.
    #[error("the operating system gave no thread for the database; end some programs and try again")]
    NoThread(#[source] io::Error),
    /// The database file is at fault.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// What is wrong with a database file.
#[derive(Debug, thiserror::Error)]
#[error("the database `{}` {fault}", path.display())]
pub struct DatabaseError {
    path: PathBuf,
    fault: DatabaseFault,
    #[source]
    source: Option<Source>,
}

/// The kinds of things that can be wrong with a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseFault {
    /// A newer mcpr has changed the tables.
    #[error(
        "was written by a newer mcpr (its schema is {found}, this mcpr knows {known}); use that mcpr, or move \
         the file away to begin with an empty one"
    )]
    Newer {
        /// The schema of the file.
        found: u32,
        /// The newest schema known here.
        known: u32,
    },
    /// It is an SQLite database of something else.
    #[error("belongs to another program; choose another path")]
    Foreign,
    /// The file cannot be read as a database.
    #[error(
        "is damaged or not a database; stop mcpr, move the file and the -wal and -shm beside it away, and put a copy \
         that `mcpr-ctl backup` made in its place, or start again without: mcpr makes an empty one, and tokens must \
         then be made anew"
    )]
    Damaged,
    /// Another process did not let go of it in time.
    #[error("has been locked by another process for 5 seconds; end that process or try again")]
    Locked,
    /// It cannot be made, opened or written.
    #[error(
        "cannot be opened for writing; check that the file and its folder belong to the user mcpr runs as"
    )]
    Unwritable,
    /// It is a folder, a pipe or a device.
    #[error("is no file but a folder, a pipe or a device; move that away, or choose another path")]
    NoFile,
    /// Its file system takes no changes.
    #[error(
        "is on a file system that is read-only, so nothing can be changed; make it writable and start mcpr again"
    )]
    ReadOnly,
    /// There is no room.
    #[error("cannot grow because the disk is full; make room and try again")]
    Full,
    /// The system failed to read or write it.
    #[error("cannot be read or written; check the disk it is on")]
    Io,
    /// Anything else, which should not happen.
    #[error("refused a statement; this is a fault in mcpr, please report it")]
    Failed,
}

struct List<'a>(&'a [TokenId]);

impl DatabaseError {
    /// A fault of the file at `path`.
    #[cfg(feature = "sqlite")]
    pub(crate) fn new(path: &Path, fault: DatabaseFault, source: Option<Source>) -> Self {
        Self {
            path: path.to_owned(),
            fault,
            source,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    pub fn fault(&self) -> DatabaseFault {
        self.fault
    }
}

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, id) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{id}")?;
        }
        Ok(())
    }
}
