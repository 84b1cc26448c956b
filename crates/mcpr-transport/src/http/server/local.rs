//! A socket file that is there for as long as somebody listens on it.

use std::fs;
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::path::Path;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tracing::{error, warn};

use super::bound::{BindError, Bound, SocketFile};

/// How often it is looked whether the file is still there.
const LOOK: Duration = Duration::from_secs(1);

/// A listener whose file is made again when somebody has removed it, as cleaners of temporary files do: without it
/// nobody could reach the process any more.
pub(super) struct Local {
    listener: UnixListener,
    file: SocketFile,
    ticks: Interval,
    look: Option<JoinHandle<Found>>,
    /// Whether the log knows that the file cannot be made.
    told: bool,
}

/// What lies where the file should be.
enum Found {
    /// Something: the file, or what is somebody else's.
    Something,
    /// Nothing, until it was made again.
    Nothing(Result<Bound, BindError>),
}

impl Local {
    pub(super) fn new(listener: StdListener, file: SocketFile) -> io::Result<Self> {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            listener: UnixListener::from_std(listener)?,
            file,
            ticks,
            look: None,
            told: false,
        })
    }

    /// The next connection. Cancel-safe.
    pub(super) async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => return accepted.map(|(stream, _)| stream),
                _ = self.ticks.tick(), if self.look.is_none() => self.begin_to_look(),
                found = seen(&mut self.look) => {
                    self.look = None;
                    self.take(found)?;
                }
            }
        }
    }

    /// A thread looks that may wait: a disk that is stuck keeps nobody out.
    fn begin_to_look(&mut self) {
        let path = self.file.path().to_owned();
        self.look = Some(spawn_blocking(move || look(&path)));
    }

    fn take(&mut self, found: Found) -> io::Result<()> {
        let path = self.file.path().display();
        match found {
            Found::Something => self.told = false,
            Found::Nothing(Ok(bound)) => {
                warn!(%path, "the file of the socket was removed, and is there again");
                if let Some((listener, file)) = bound.into_local() {
                    self.listener = UnixListener::from_std(listener)?;
                    self.file = file;
                }
            }
            Found::Nothing(Err(reason)) if !self.told => {
                let error = &reason as &dyn std::error::Error;
                error!(
                    error,
                    "the file of the socket was removed and cannot be made again; it is tried each second"
                );
                self.told = true;
            }
            Found::Nothing(Err(_)) => {}
        }
        Ok(())
    }
}

fn look(path: &Path) -> Found {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing(Bound::unix(path)),
        _ => Found::Something,
    }
}

/// What was found, once a look is over.
async fn seen(look: &mut Option<JoinHandle<Found>>) -> Found {
    match look {
        Some(look) => look.await.unwrap_or(Found::Something),
        None => std::future::pending().await,
    }
}
