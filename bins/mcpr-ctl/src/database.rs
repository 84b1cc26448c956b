//! Stands in for the gateway while none is running, for what is kept on the disk.

mod equips;
mod history;
mod pins;
mod projects;
mod switches;
mod tokens;
mod toolsets;

use std::sync::Arc;

use mcpr_admin::{ErrorCode, Failure, Operation};
use mcpr_config::{Config, Locations, Process};
use mcpr_store::{Assignment, Memory, SavedListing, Store, StoreError};

use crate::problem::{Problem, chain};

/// The database and the configuration, without a gateway. One that starts or runs later finds what
/// was changed.
#[derive(Debug)]
pub(crate) struct Database {
    store: Arc<dyn Store>,
    locations: Locations,
}

/// What to do about a database file that is not there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Absent {
    Make,
    CountAsEmpty,
}

/// Can carry out operations of type `O` without a gateway. Whoever may write the file may do
/// everything.
pub(crate) trait Offline<O: Operation> {
    /// What to do about a file that is not there.
    const ABSENT: Absent;
    /// Whether it is done on the disk as well if a gateway runs and does not answer: it does no harm that the gateway
    /// may do it again when it wakes, and it hears of it.
    const REPEATABLE: bool = false;
    /// Where to see later what became of it, if that gateway may still do it and the disk refused; nothing for what
    /// only looks.
    const SEEN_LATER: Option<&'static str> = None;

    /// Carries it out, as a gateway would, as far as that can be done without servers.
    async fn carry_out(&self, operation: O) -> Result<O::Output, Problem>;
}

impl Database {
    /// Opens the file. One that is not there and is not to be made counts as empty.
    pub(crate) async fn open(locations: Locations, absent: Absent) -> Result<Self, Problem> {
        let path = &locations.paths.database;
        let store: Arc<dyn Store> = match absent {
            Absent::CountAsEmpty if !path.exists() => Arc::new(Memory::default()),
            _ => mcpr_store::open(path).await?,
        };
        Ok(Self { store, locations })
    }

    /// What earlier runs of a gateway have seen of servers, and the names that they gave.
    pub(crate) async fn known(&self) -> (Vec<SavedListing>, Vec<Assignment>) {
        let listings = self.store.listings().await.unwrap_or_default();
        let assignments = self.store.assignments().await.unwrap_or_default();
        (listings, assignments)
    }

    /// Finishes all changes.
    pub(crate) async fn close(self) {
        self.store.close().await;
    }

    /// What the configuration files say now.
    fn config(&self) -> Result<Config, Problem> {
        Ok(Config::load(&self.locations, &Process)?)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NoToken(_) => ErrorCode::NotFound,
            StoreError::Ambiguous { .. } => ErrorCode::Invalid,
            _ => ErrorCode::Failed,
        };
        Failure::new(code, chain(&error)).into()
    }
}

/// It is in a configuration file, which only people change.
fn from_file(what: &str, config: &Config) -> Problem {
    let files: Vec<_> = config
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let problem = Problem::usage(format!("{what} stands in a configuration file"));
    problem.hint(format!("change it there: {}", files.join(", ")))
}

/// Whether it can name a toolset or a project.
fn check_name(kind: &str, name: &str) -> Result<(), Problem> {
    const LONGEST: usize = 64;
    let printable = |c: char| !c.is_control() && c != '/';
    if (1..=LONGEST).contains(&name.chars().count()) && name.trim() == name && name.chars().all(printable) {
        return Ok(());
    }
    Err(Problem::usage(format!(
        "`{}` cannot name a {kind}: 1 to {LONGEST} printable characters without `/`",
        name.escape_debug()
    )))
}
