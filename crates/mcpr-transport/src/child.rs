//! Child processes: servers that mcpr starts, and speaks with over pipes.
//!
//! A [`Child`] runs in a process group of its own and is kept by a thread of its own until it has
//! ended together with everything that it started. Whatever ends it (an orderly [`Child::stop`],
//! dropping the [`Child`], its own exit, the death of this process) leaves no process behind
//! (SRV-04): not the grandchildren of `npx`, `uvx` or `sh`, which stay in the group, nor on Linux
//! those that have left it, which still carry [`env::MARK`]. For the death of this process there is
//! the [`Guardian`].
//!
//! Global to the process is nothing: no signal handler, no subreaper, no change of the environment.
//! A process that inherits others can have `Orphans` look after those.
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`mod@env`] | which variables a child gets |
//! | [`resolve`], [`windows`] | which program a command names |
//! | [`lines`] | how to read lines from it |
//! | [`writer`] | how to write lines to it |
//! | [`guardian`] | how it ends when this process is killed |

#[cfg(not(unix))]
compile_error!(
    "mcpr starts servers only on Unix: child processes need process groups and pipes. \
     For another system, give `child::keeper` and `child::herd` a counterpart (on Windows: job objects)."
);

pub mod env;
mod exit;
pub mod guardian;
mod herd;
mod keeper;
pub mod lines;
#[cfg(target_os = "linux")]
mod orphans;
pub mod resolve;
mod spawn;
mod stderr;
#[cfg(test)]
mod tests;
pub mod windows;
pub mod writer;

use std::time::Duration;

use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tracing::warn;

pub use env::{EnvPolicy, EnvValue, depth};
pub use exit::Exit;
pub use guardian::Guardian;
pub use lines::{Line, LineReader, TooLong};
#[cfg(target_os = "linux")]
pub use orphans::Orphans;
pub use resolve::NotFound;
pub use spawn::{ChildSpec, SpawnError};
pub use writer::{Receipt, WriteError, Writer};

use keeper::{Leash, Phase};
use stderr::Stderr;

/// A server that runs as a child process.
///
/// Dropping it kills the child and all that it has started, at once.
#[derive(Debug)]
pub struct Child {
    server: String,
    leash: Leash,
    phase: watch::Receiver<Phase>,
    writer: Writer,
    stderr: Stderr,
    _tasks: [AbortOnDropHandle<()>; 2],
}

/// What a child writes to its stdout, line by line.
pub type Stdout = LineReader<Receiver>;

/// How long a child may take to end, step by step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grace {
    /// After its stdin has been closed, before SIGTERM.
    pub input: Duration,
    /// After SIGTERM, before SIGKILL.
    pub term: Duration,
}

/// How long to wait for the last words of a child that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long after SIGKILL a child is waited for. The kernel may keep a process for longer.
const KILL_WAIT: Duration = Duration::from_secs(5);

impl Child {
    /// Starts a server: gives the child, and its stdout to be read.
    ///
    /// Its stderr is drained from now on, and logged at the level `debug`. Must be called within
    /// the runtime. Dropping the future kills what it has started.
    ///
    /// # Errors
    ///
    /// When there is no such program or folder, when it cannot be executed, or when gateways have
    /// started one another too often in a row.
    pub async fn spawn(spec: &ChildSpec, guardian: &Guardian) -> Result<(Self, Stdout), SpawnError> {
        spawn::spawn(spec, guardian).await
    }

    /// The id of the process, which is also that of its group.
    pub fn pid(&self) -> i32 {
        self.leash.pid()
    }

    /// The way to its stdin.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Waits until the process has ended; what it has started may be left for a moment.
    pub async fn wait(&self) -> Exit {
        self.reached(|phase| *phase != Phase::Running).await
    }

    /// How the process has ended, if it has.
    pub fn exit(&self) -> Option<Exit> {
        self.phase.borrow().exit()
    }

    /// The last lines that it has written to stderr: at most 20 of them and 4 KiB, without the
    /// values of configured variables.
    pub fn stderr_tail(&self) -> String {
        self.stderr.tail()
    }

    /// The same of a child that has ended, when its last lines have been read.
    pub async fn last_words(&self) -> String {
        // A process that it left behind may hold the pipe: then what there is must do.
        let _ = timeout(LAST_WORDS, self.stderr.ended()).await;
        self.stderr.tail()
    }

    /// Ends the child and all that it has started.
    ///
    /// Closes its stdin when what is queued has been written, and waits; then sends SIGTERM to its
    /// group and to what has left it, and waits; then SIGKILL. Returns when nothing is left.
    /// Dropping the future stops this where it is; dropping the child ends it the hard way.
    pub async fn stop(&self, grace: Grace) -> Exit {
        self.writer.close();
        self.leash.allow(grace.term);
        // A step that takes too long is no error but the reason for the next.
        let _ = timeout(grace.input, self.wait()).await;
        self.leash.ask(grace.term);
        let _ = timeout(grace.term, self.gone()).await;
        self.kill().await
    }

    /// Kills the child and all that it has started; returns when nothing is left.
    pub async fn kill(&self) -> Exit {
        self.leash.kill();
        timeout(KILL_WAIT, self.gone()).await.unwrap_or_else(|_| {
            warn!(server = %self.server, pid = self.pid(), "the process cannot be killed");
            Exit::default()
        })
    }

    /// Waits until the process and all that it has started have ended.
    pub async fn gone(&self) -> Exit {
        self.reached(|phase| matches!(phase, Phase::Gone(_))).await
    }

    async fn reached(&self, wanted: impl FnMut(&Phase) -> bool) -> Exit {
        let mut phase = self.phase.clone();
        // An error means that the thread has ended, which it does only after the last phase.
        let reached = phase
            .wait_for(wanted)
            .await
            .map_or(Phase::Gone(Exit::default()), |phase| *phase);
        reached.exit().unwrap_or_default()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.writer.abandon();
    }
}

impl Default for Grace {
    /// 2 s and 2 s, as the SDKs do it.
    fn default() -> Self {
        Self {
            input: Duration::from_secs(2),
            term: Duration::from_secs(2),
        }
    }
}
