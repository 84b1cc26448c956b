//! The processes that descend from a child, wherever they have gone.
//!
//! Most stay in the child's process group. Those that have left it (`setsid`) are found by the
//! variable [`MARK`](super::env::MARK) in their environment, which Linux shows in `/proc`; elsewhere only the group
//! is known. What both leaves the group and clears its environment is not found.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Process groups, and what carries a mark.
#[derive(Clone, Debug, Default)]
pub(super) struct Herd {
    pub(super) groups: Vec<Pid>,
    /// The value of the variable, or its beginning up to a dot; empty for none.
    pub(super) mark: String,
}

/// How long a process may take to go after SIGKILL: longer only when it hangs in the kernel.
const KILL_WAIT: Duration = Duration::from_secs(2);
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// How long a process may have no environment because it is just becoming another program.
const BECOMING: Duration = Duration::from_millis(250);

impl Herd {
    /// Asks all to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
        // A stopped process hears of it only when it goes on.
        self.signal(Signal::CONT);
    }

    /// Waits for all to end until `deadline`, then kills them. False when some are left even so.
    ///
    /// `pause` waits for so long and says whether patience is at its end.
    pub(super) fn end(&self, deadline: Instant, pause: impl Fn(Duration) -> bool) -> bool {
        self.gone_by(deadline, |step| !pause(step)) || {
            self.signal(Signal::KILL);
            self.gone_by(Instant::now() + KILL_WAIT, |step| {
                pause(step);
                self.signal(Signal::KILL);
                true
            })
        }
    }

    fn gone_by(&self, deadline: Instant, mut pause: impl FnMut(Duration) -> bool) -> bool {
        let mut step = PAUSES.0;
        let mut in_doubt = None;
        loop {
            let now = Instant::now();
            let is_alive = self.is_alive();
            let mut doubted = || now.duration_since(*in_doubt.get_or_insert(now));
            if !is_alive && (!self.may_be_alive() || doubted() >= BECOMING) {
                return true;
            }
            if now >= deadline || !pause(step) {
                return false;
            }
            step = (step * 2).min(PAUSES.1);
        }
    }

    /// Sends a signal to the groups and to what has left them.
    pub(super) fn signal(&self, signal: Signal) {
        for group in &self.groups {
            // It fails when the group is empty, which is what is wanted.
            let _ = kill_process_group(*group, signal);
        }
        self.signal_strays(signal);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    use super::super::env::MARK;
    use super::*;

    impl Herd {
        /// Whether any process is left, zombies not counted.
        pub(in crate::child) fn is_alive(&self) -> bool {
            processes().any(|pid| self.holds(pid))
        }

        /// Whether a process cannot be told apart now from one that is left: while it becomes another
        /// program (execve(2)) it shows no environment.
        pub(in crate::child) fn may_be_alive(&self) -> bool {
            !self.mark.is_empty() && processes().any(is_becoming)
        }

        pub(super) fn signal_strays(&self, signal: Signal) {
            if self.mark.is_empty() {
                return;
            }
            for pid in processes().filter(|pid| self.has_mark(*pid)) {
                // The id may have gone to another process since: look again when it is pinned.
                let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) else {
                    continue;
                };
                if self.has_mark(pid) {
                    let _ = pidfd_send_signal(&pinned, signal);
                }
            }
        }

        fn holds(&self, pid: Pid) -> bool {
            let stat = fs::read(proc_file(pid, "stat")).unwrap_or_default();
            match state_and_group(&stat) {
                Some((b'Z' | b'X', _)) | None => false,
                Some((_, group)) => self.groups.contains(&group) || self.has_mark(pid),
            }
        }

        fn has_mark(&self, pid: Pid) -> bool {
            let environ = || fs::read(proc_file(pid, "environ")).unwrap_or_default();
            !self.mark.is_empty()
                && environ()
                    .split(|byte| *byte == 0)
                    .any(|entry| self.is_mark(entry))
        }

        /// Whether the variable is the mark, or one below it.
        pub(super) fn is_mark(&self, entry: &[u8]) -> bool {
            let value = entry
                .strip_prefix(MARK.as_bytes())
                .and_then(|entry| entry.strip_prefix(b"="));
            let rest = value.and_then(|value| value.strip_prefix(self.mark.as_bytes()));
            matches!(rest, Some([] | [b'.', ..]))
        }
    }

    /// Whether a process of this user, and none of the kernel's, has no environment now.
    fn is_becoming(pid: Pid) -> bool {
        let folder = fs::metadata(proc_file(pid, ""));
        let own = rustix::process::geteuid().as_raw();
        folder.is_ok_and(|folder| folder.uid() == own)
            && fs::read(proc_file(pid, "environ")).is_ok_and(|environ| environ.is_empty())
            && fs::read(proc_file(pid, "stat")).is_ok_and(|stat| is_program(&stat))
    }

    /// All processes but this one.
    fn processes() -> impl Iterator<Item = Pid> {
        let own = rustix::process::getpid();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter_map(Pid::from_raw).filter(move |pid| *pid != own)
    }

    /// Whether it is a program that runs: no zombie, and no thread of the kernel (`PF_KTHREAD` in the
    /// ninth field).
    pub(super) fn is_program(stat: &[u8]) -> bool {
        const OF_KERNEL: u32 = 0x0020_0000;
        let Some(name_end) = memchr::memrchr(b')', stat) else {
            return false;
        };
        let mut fields = stat[name_end + 1..].split(|byte| *byte == b' ').skip(1);
        let dead = matches!(fields.next(), Some(b"Z" | b"X") | None);
        let flags = fields
            .nth(5)
            .and_then(|flags| str::from_utf8(flags).ok()?.parse::<u32>().ok());
        !dead && flags.is_some_and(|flags| flags & OF_KERNEL == 0)
    }

    fn proc_file(pid: Pid, name: &str) -> String {
        format!("/proc/{pid}/{name}")
    }

    /// The third and fifth field of `/proc/PID/stat` (see proc_pid_stat(5)); the second is the
    /// program's name in parentheses, which may hold anything.
    pub(super) fn state_and_group(stat: &[u8]) -> Option<(u8, Pid)> {
        let name_end = memchr::memrchr(b')', stat)?;
        let mut fields = stat[name_end + 1..].split(|byte| *byte == b' ').skip(1);
        let state = *fields.next()?.first()?;
        // A process that is just being released has the group -1, which is no `Pid`.
        let group = str::from_utf8(fields.nth(1)?).ok()?.parse::<u32>().ok()?;
        Some((state, Pid::from_raw(group.try_into().ok()?)?))
    }
}

#[cfg(not(target_os = "linux"))]
impl Herd {
    /// Whether a group has members, as far as it can be told.
    pub(super) fn is_alive(&self) -> bool {
        self.groups
            .iter()
            .any(|group| rustix::process::test_kill_process_group(*group).is_ok())
    }

    /// A group says at once whether it has members.
    pub(super) fn may_be_alive(&self) -> bool {
        false
    }

    fn signal_strays(&self, _: Signal) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::linux::{is_program, state_and_group};
    use super::*;

    #[test]
    fn a_mark_stands_for_itself_and_for_what_is_below_it() {
        let is_mark = |mark: &str, entry: &str| {
            Herd {
                groups: vec![],
                mark: mark.into(),
            }
            .is_mark(entry.as_bytes())
        };
        assert!(is_mark("a1.3", "MCPR_CHILD=a1.3"));
        assert!(is_mark("a1", "MCPR_CHILD=a1.3"));
        assert!(!is_mark("a1.3", "MCPR_CHILD=a1.30"));
        assert!(!is_mark("a1", "MCPR_CHILD=a12.3"));
        assert!(!is_mark("a1", "X=MCPR_CHILD=a1.3"));
    }

    #[test]
    fn the_name_of_a_program_may_hold_anything() {
        let stat = b"4242 (a) R 1 (b) S 1 4240 4240 0 -1";
        assert_eq!(
            state_and_group(stat),
            Pid::from_raw(4240).map(|group| (b'S', group))
        );
        assert_eq!(state_and_group(b""), None);
    }

    #[test]
    fn srv_04_a_process_that_is_just_being_released_is_in_no_group() {
        assert_eq!(state_and_group(b"42 (a) X 0 -1 -1 0 -1"), None);
        assert_eq!(state_and_group(b"42 (a) R 0 -1 -1 0 -1"), None);
    }

    #[test]
    fn zombies_and_threads_of_the_kernel_are_no_programs() {
        assert!(is_program(b"42 (a) b) S 1 42 42 0 -1 4194560 1"));
        assert!(!is_program(b"42 (a) Z 1 42 42 0 -1 4194560 1"));
        assert!(!is_program(b"2 (kthreadd) S 0 0 0 0 -1 2129984 0"));
        assert!(!is_program(b"42 (a) S 1"));
    }
}
