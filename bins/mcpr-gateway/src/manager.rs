//! The service manager: what it passes to a gateway that it starts, and what it is told.
//!
//! systemd's ways (sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3)), which others follow.
//! This is a module and no crate because those read the variables anew for each message: here they
//! are taken away first, so that they reach none of the servers.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::time::{ClockId, clock_gettime};

/// The service manager of this process; for a process that has none it does nothing.
#[derive(Debug, Default)]
pub(crate) struct Manager {
    /// Where it hears.
    ear: Option<UnixDatagram>,
    /// How long it may hear nothing before it takes the process for dead.
    patience: Option<Duration>,
    passed: Vec<Passed>,
    /// How things were when it was told last.
    said: Mutex<String>,
}

/// A socket that the service manager has opened.
#[derive(Debug)]
pub(crate) struct Passed {
    /// What the socket unit calls it.
    pub(crate) name: String,
    pub(crate) socket: OwnedFd,
}

/// What the service manager is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Notice<'a> {
    /// Clients can come; with how things are.
    Ready(&'a str),
    /// How things are.
    Status(&'a str),
    /// The configuration is read again; [`Notice::Ready`] follows.
    Reloading,
    /// The end has begun.
    Stopping,
    /// A sign of life.
    Alive,
}

/// What the variables say.
#[derive(PartialEq, Eq, Debug, Default)]
struct Said {
    ear: Option<OsString>,
    patience: Option<Duration>,
    /// The names of the sockets, from [`FIRST`] on.
    names: Vec<String>,
}

/// The first descriptor that is passed (`SD_LISTEN_FDS_START`).
const FIRST: RawFd = 3;
/// More sockets than any unit has.
const MOST: usize = 64;

const VARIABLES: [&str; 6] = [
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "LISTEN_PID",
    "LISTEN_FDS",
    "LISTEN_FDNAMES",
];

impl Manager {
    /// Takes what the variables say, and takes the variables away: they are meant for this process
    /// and for none that it starts. To be called before there is any other thread.
    pub(crate) fn take() -> Self {
        let said = Said::read(|name| std::env::var_os(name), std::process::id());
        for name in VARIABLES {
            #[expect(unsafe_code, reason = "the environment is not locked")]
            // SAFETY: there are no other threads yet that could read it.
            unsafe {
                std::env::remove_var(name);
            }
        }
        let passed = said.names.into_iter().zip(FIRST..);
        Self {
            ear: said.ear.and_then(|name| ear(&name).ok()),
            patience: said.patience,
            passed: passed.filter_map(|(name, fd)| Passed::adopt(name, fd)).collect(),
            said: Mutex::default(),
        }
    }

    /// The sockets that were passed; once.
    pub(crate) fn sockets(&mut self) -> Vec<Passed> {
        std::mem::take(&mut self.passed)
    }

    /// Whether anybody hears what is told.
    pub(crate) fn listens(&self) -> bool {
        self.ear.is_some()
    }

    /// Tells it something, but how things are only if that is new. A manager that does not read is no reason to wait.
    pub(crate) fn tell(&self, notice: Notice<'_>) {
        let Some(ear) = &self.ear else { return };
        if let Some(status) = notice.status() {
            let mut said = self.said.lock();
            if *said == status && matches!(notice, Notice::Status(_)) {
                return;
            }
            status.clone_into(&mut said);
        }
        if let Err(error) = ear.send(notice.to_string().as_bytes()) {
            tracing::debug!(reason = %error, "the service manager cannot be told");
        }
    }

    /// Gives signs of life for as long as the process can, if they are wanted.
    pub(crate) async fn keep_calm(&self) {
        let Some(patience) = self.patience.filter(|_| self.listens()) else {
            return std::future::pending().await;
        };
        // Half of it, as sd_watchdog_enabled(3) recommends.
        let mut beats = tokio::time::interval(patience / 2);
        loop {
            beats.tick().await;
            self.tell(Notice::Alive);
        }
    }
}

impl Passed {
    /// Takes a descriptor that is this process's alone from now on; `None` if it is not open.
    fn adopt(name: String, fd: RawFd) -> Option<Self> {
        #[expect(unsafe_code, reason = "a number becomes an owned descriptor")]
        // SAFETY: the service manager has opened it for this process, and nobody else has taken it:
        // this happens once, before anything is opened.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        match fcntl_setfd(&socket, FdFlags::CLOEXEC) {
            Ok(()) => Some(Self { name, socket }),
            Err(_) => {
                std::mem::forget(socket); // There is nothing to close.
                None
            }
        }
    }
}

impl Said {
    /// Reads the variables as the process `own`.
    fn read(variable: impl Fn(&str) -> Option<OsString>, own: u32) -> Self {
        let number = |name: &str| variable(name)?.to_str()?.parse::<u64>().ok();
        let is_own = |pid: u64| pid == u64::from(own);
        let beats = number("WATCHDOG_PID").is_none_or(is_own);
        let count = number("LISTEN_FDS").filter(|_| number("LISTEN_PID").is_some_and(is_own));
        let names = variable("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names.to_str().unwrap_or_default().split(':');
        let mut name = |_| match names.next() {
            None | Some("") => "unknown".to_owned(),
            Some(name) => name.to_owned(),
        };
        let count = count.map_or(0, |count| usize::try_from(count).unwrap_or(MOST).min(MOST));
        Self {
            ear: variable("NOTIFY_SOCKET").filter(|name| !name.is_empty()),
            patience: number("WATCHDOG_USEC")
                .filter(|micros| beats && *micros > 0)
                .map(Duration::from_micros),
            names: (0..count).map(&mut name).collect(),
        }
    }
}

/// A way to the socket of that name: a path, or `@` and a name of Linux's own (unix(7)).
fn ear(name: &OsStr) -> io::Result<UnixDatagram> {
    let ear = UnixDatagram::unbound()?;
    ear.set_nonblocking(true)?;
    ear.connect_addr(&address(name)?)?;
    Ok(ear)
}

#[cfg(target_os = "linux")]
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;

    match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}

#[cfg(not(target_os = "linux"))]
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(name)
}

impl Notice<'_> {
    /// How things are, if it says so.
    fn status(&self) -> Option<&str> {
        match self {
            Self::Ready(status) | Self::Status(status) => Some(status),
            Self::Reloading => Some("reading the configuration again"),
            Self::Stopping => Some("finishing calls under way"),
            Self::Alive => None,
        }
    }
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(_) => f.write_str("READY=1\n")?,
            Self::Status(_) => {}
            Self::Reloading => {
                let now = clock_gettime(ClockId::Monotonic);
                let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
                write!(f, "RELOADING=1\nMONOTONIC_USEC={micros}\n")?;
            }
            Self::Stopping => f.write_str("STOPPING=1\n")?,
            Self::Alive => f.write_str("WATCHDOG=1")?,
        }
        match self.status() {
            Some(status) => write!(f, "STATUS={status}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(variables: &[(&str, &str)]) -> Said {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Said::read(variable, 42)
    }

    #[test]
    fn sockets_are_taken_by_the_process_that_they_are_meant_for() {
        let names = |variables: &[(&str, &str)]| said(variables).names;
        let own = [
            ("LISTEN_PID", "42"),
            ("LISTEN_FDS", "3"),
            ("LISTEN_FDNAMES", "mcp::x:y"),
        ];
        assert_eq!(names(&own), ["mcp", "unknown", "x"]);
        assert_eq!(names(&own[..2]), ["unknown"; 3]);
        assert_eq!(names(&[("LISTEN_PID", "41"), own[1]]), [""; 0]);
        assert_eq!(names(&own[1..]), [""; 0]);
        assert_eq!(names(&[own[0], ("LISTEN_FDS", "-1")]), [""; 0]);
        assert_eq!(names(&[own[0], ("LISTEN_FDS", "4000000000")]).len(), MOST);
    }

    #[test]
    fn signs_of_life_are_wanted_of_the_process_that_is_named_or_of_any() {
        let patience = |variables: &[(&str, &str)]| said(variables).patience;
        let wanted = ("WATCHDOG_USEC", "30000000");
        assert_eq!(patience(&[wanted]), Some(Duration::from_secs(30)));
        assert_eq!(
            patience(&[wanted, ("WATCHDOG_PID", "42")]),
            Some(Duration::from_secs(30))
        );
        assert_eq!(patience(&[wanted, ("WATCHDOG_PID", "1")]), None);
        assert_eq!(patience(&[("WATCHDOG_USEC", "0")]), None);
        assert_eq!(said(&[("NOTIFY_SOCKET", "")]), Said::default());
    }

    #[test]
    fn what_is_told_is_written_as_sd_notify_wants_it() {
        assert_eq!(Notice::Ready("3 tools").to_string(), "READY=1\nSTATUS=3 tools");
        let reloading = Notice::Reloading.to_string();
        let micros = reloading
            .lines()
            .find_map(|line| line.strip_prefix("MONOTONIC_USEC="));
        assert!(micros.unwrap().parse::<u64>().unwrap() > 0, "{reloading}");
    }
}
