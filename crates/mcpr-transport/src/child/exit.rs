//! How a process ended.

use std::fmt;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exit {
    /// The code it ended with, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

const NAMES: &[(Signal, &str)] = &[
    (Signal::HUP, "SIGHUP"),
    (Signal::INT, "SIGINT"),
    (Signal::QUIT, "SIGQUIT"),
    (Signal::ILL, "SIGILL"),
    (Signal::TRAP, "SIGTRAP"),
    (Signal::ABORT, "SIGABRT"),
    (Signal::BUS, "SIGBUS"),
    (Signal::FPE, "SIGFPE"),
    (Signal::KILL, "SIGKILL"),
    (Signal::SEGV, "SIGSEGV"),
    (Signal::PIPE, "SIGPIPE"),
    (Signal::ALARM, "SIGALRM"),
    (Signal::TERM, "SIGTERM"),
    (Signal::XCPU, "SIGXCPU"),
    (Signal::XFSZ, "SIGXFSZ"),
    (Signal::SYS, "SIGSYS"),
];

impl Exit {
    /// Whether it ended by itself and said that all was well.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }

    /// Waits, blocking, until the process has ended, and leaves it as a zombie: its id, which is
    /// also that of its group, names nothing else until it is reaped.
    ///
    /// Without either number when somebody else has reaped it.
    pub(super) fn of(pid: Pid) -> Self {
        loop {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(Some(status)) => {
                    return Self {
                        code: status.exit_status(),
                        signal: status.terminating_signal(),
                    };
                }
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Self::default(),
            }
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (_, Some(signal)) => match NAMES.iter().find(|(known, _)| known.as_raw() == signal) {
                Some((_, name)) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
            (Some(code), None) => write!(f, "exit code {code}"),
            (None, None) => f.write_str("exit status unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_reads_as_people_say_it() {
        let exits = [(Some(3), None), (None, Some(9)), (None, Some(62)), (None, None)];
        let texts = exits.map(|(code, signal)| Exit { code, signal }.to_string());
        assert_eq!(
            texts,
            [
                "exit code 3",
                "killed by SIGKILL",
                "killed by signal 62",
                "exit status unknown"
            ]
        );
    }
}
