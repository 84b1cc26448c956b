//! Who serves from a home although nobody answers at its socket.

use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::Path;

use mcpr_config::Paths;

/// A gateway that uses the database of a home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupant {
    pid: u32,
}

impl Occupant {
    /// Looks whether a process has the lock beside the database. One that does not say its number, or whose
    /// file system has no locks, is not seen.
    pub(crate) fn of(paths: &Paths) -> Option<Self> {
        let mut file = open(&paths.database.with_extension("lock"))?;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let pid = text.trim().parse().ok().filter(|pid| is_alive(*pid))?;
        // Only tried where a process of that number lives: a gateway that starts right now would be refused.
        let taken = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        taken.then_some(Self { pid })
    }

    /// That it runs and does not answer.
    pub(crate) fn told(self, paths: &Paths) -> String {
        let (pid, socket) = (self.pid, paths.socket.display());
        format!("a gateway runs (process {pid}) and cannot be reached at {socket}")
    }

    /// What makes it answer again: a gateway looks after its socket each second.
    pub(crate) fn way_out(self) -> String {
        let pid = self.pid;
        format!(
            "wait a second, in which it makes a socket again that was removed; if it does not, its log tells why: \
             then start it anew (`kill {pid}` ends it)"
        )
    }
}

/// A pipe in its place would be waited for, and no gateway has made it.
fn open(lock: &Path) -> Option<File> {
    let is_file = lock.metadata().is_ok_and(|lock| lock.is_file());
    is_file.then(|| File::open(lock).ok()).flatten()
}

/// What is said of the gateway before that its files were used in its place.
pub(crate) fn absence(paths: &Paths) -> String {
    let unreached = Occupant::of(paths).map(|occupant| occupant.told(paths));
    unreached.unwrap_or_else(|| "no gateway is running".to_owned())
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // One of somebody else's is alive as well.
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH)))
}

#[cfg(not(unix))]
fn is_alive(_pid: u32) -> bool {
    true
}
