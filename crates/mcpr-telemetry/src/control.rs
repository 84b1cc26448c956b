//! What operators may see and change of the log while it is written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::call::CallLog;
use crate::journal::Journal;
use crate::layer::{self, Filter};
use crate::level::Level;

/// The log of this process, as far as it can be asked and changed; clones are about the same log.
#[derive(Clone)]
pub struct LogControl {
    journal: Arc<Journal>,
    filter: Filter,
    path: Option<PathBuf>,
}

impl LogControl {
    pub(crate) fn new(journal: Arc<Journal>, filter: Filter, path: Option<PathBuf>) -> Self {
        Self {
            journal,
            filter,
            path,
        }
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The level in force.
    pub fn level(&self) -> Level {
        self.journal.level()
    }

    /// Changes the level from the next line on.
    pub fn set_level(&self, level: Level) {
        self.journal.set_level(level);
        // Fails only when the subscriber is gone, and with it everything the filter was for.
        let _ = self.filter.reload(layer::filter(level));
    }

    /// Where to record requests.
    pub fn calls(&self) -> CallLog {
        CallLog::of(Arc::clone(&self.journal))
    }

    /// The log file of this run; `None` when there is only stderr.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How many lines were shed since the start because a destination was too slow.
    pub fn shed(&self) -> u64 {
        self.journal.shed()
    }

    /// How many lines were lost since the start because a destination could not be written.
    pub fn lost(&self) -> u64 {
        self.journal.lost()
    }
}

impl fmt::Debug for LogControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogControl")
            .field("level", &self.level())
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
