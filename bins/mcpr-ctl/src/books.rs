//! What a gateway keeps: asked of it, or looked after on the disk while none is running.

use std::cell::Cell;
use std::time::Duration;

use mcpr_admin::{ClientError, ExitCode, Operation, Target};

use crate::cli::Global;
use crate::connect::{Gateway, locations};
use crate::database::{Database, Offline};
use crate::occupant::absence;
use crate::out::Out;
use crate::problem::Problem;

/// How long a gateway may take with what can as well be done on the disk: a token has to be revoked even if it hangs.
const PATIENCE: Duration = Duration::from_secs(3);

/// The gateway, and its files in its absence.
#[derive(Debug)]
pub(crate) struct Books<'a> {
    global: &'a Global,
    out: &'a Out,
    gateway: Gateway,
    /// Whether the gateway was asked and none was running.
    offline: Cell<bool>,
    /// Whether one has answered; its files are then not looked after beside it, should it be away for a moment.
    answered: Cell<bool>,
    told: Cell<bool>,
}

impl<'a> Books<'a> {
    /// What every command can be told.
    pub(crate) fn global(&self) -> &'a Global {
        self.global
    }

    /// Finds out where they are; whether a gateway runs is seen when it is asked.
    pub(crate) fn of(global: &'a Global, out: &'a Out) -> Result<Self, Problem> {
        Ok(Self {
            global,
            out,
            gateway: Gateway::locate(global)?,
            offline: Cell::new(false),
            answered: Cell::new(false),
            told: Cell::new(false),
        })
    }

    /// The gateway alone, for what only a running one knows.
    pub(crate) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Whether what was asked was answered from the disk.
    pub(crate) fn are_offline(&self) -> bool {
        self.offline.get()
    }

    /// Asks the gateway; if none is running where one is looked for by itself, works on the disk.
    pub(crate) async fn ask<O>(&self, operation: O) -> Result<O::Output, Problem>
    where
        O: Operation,
        Database: Offline<O>,
    {
        if self.offline.get() {
            return self.look_after(operation).await;
        }
        let repeatable = <Database as Offline<O>>::REPEATABLE;
        let asked = match repeatable {
            true => self.gateway.ask_within(PATIENCE, &operation).await,
            false => self.gateway.ask(&operation).await,
        };
        match asked {
            Err(error) if self.is_absent(&error) => {
                self.offline.set(true);
                self.look_after(operation).await
            }
            Err(error) if repeatable && self.is_hung(&error) => {
                self.offline.set(true);
                let ended = self.look_after(operation).await;
                ended.map_err(|problem| open_end(problem, <Database as Offline<O>>::SEEN_LATER))
            }
            answer => {
                self.answered.set(true);
                Ok(answer?)
            }
        }
    }

    /// Whether nobody answered because no gateway is running, and its files may be looked after in its place.
    pub(crate) fn is_absent(&self, error: &ClientError) -> bool {
        (matches!(error, ClientError::NotRunning { .. }) || is_no_place(error)) && self.may_stand_in()
    }

    /// Whether the gateway that runs did not answer, and what it would have done may be done on its files.
    fn is_hung(&self, error: &ClientError) -> bool {
        matches!(error, ClientError::TimedOut(_)) && self.may_stand_in()
    }

    /// A gateway that was named is not replaced by the files of another.
    fn may_stand_in(&self) -> bool {
        self.global.gateway.is_none() && self.global.socket.is_none() && !self.answered.get()
    }

    async fn look_after<O>(&self, operation: O) -> Result<O::Output, Problem>
    where
        O: Operation,
        Database: Offline<O>,
    {
        let locations = locations(self.global)?;
        let paths = locations.paths.clone();
        let database = Database::open(locations, <Database as Offline<O>>::ABSENT).await?;
        let outcome = database.carry_out(operation).await;
        database.close().await;
        let output = outcome?;
        if !self.told.replace(true) {
            let path = paths.database.display();
            let absence = absence(&paths);
            self.out.note(&format!("{absence}; used the database {path}"));
        }
        Ok(output)
    }
}

/// Whether that is where no gateway can have a socket: a path that is too long for one, or leads nowhere.
fn is_no_place(error: &ClientError) -> bool {
    use std::io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory};

    let ClientError::Unreachable { target, source } = error else {
        return false;
    };
    matches!(target, Target::Socket { .. })
        && matches!(source.kind(), InvalidInput | InvalidFilename | NotADirectory)
}

/// Says of what was refused on the disk that the gateway, which did not answer, may still do it. That something is not
/// there was seen, and stays so.
fn open_end(problem: Problem, seen_later: Option<&str>) -> Problem {
    match seen_later.filter(|_| problem.exit == ExitCode::Failed) {
        Some(hint) => {
            let what = format!(
                "the gateway did not answer and may still do it; on the disk it was not done: {}",
                problem.message
            );
            problem.reworded(what).hint(hint)
        }
        None => problem,
    }
}
