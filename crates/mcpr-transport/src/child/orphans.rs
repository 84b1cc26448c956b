//! Processes that this one has inherited.
//!
//! The first process of a container, and one that is a subreaper, become the parent of processes
//! whose own parent has ended, and must take note of their end: nobody else can, and they would
//! stay zombies for ever. Who has children of its own must not take note of theirs, though, before
//! those who started them do.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::{Pid, WaitOptions, child_subreaper, getpid, waitpid};

use super::guardian::Guardian;

/// The zombies of a process that inherits others.
#[derive(Debug)]
pub struct Orphans {
    guardian: Guardian,
    /// Those that were there at the last look.
    seen: BTreeSet<i32>,
}

impl Orphans {
    /// Those of this process, whose own children `guardian` knows; `None` if it inherits nothing,
    /// or nobody knows which children are its own.
    pub fn of(guardian: &Guardian) -> Option<Self> {
        let first = getpid() == Pid::INIT;
        let inherits = first || child_subreaper().is_ok_and(|set| set.is_some());
        (inherits && guardian.watches()).then(|| Self {
            guardian: guardian.clone(),
            seen: BTreeSet::new(),
        })
    }

    /// Buries those that were there at the last look too, and says whether there are others. A
    /// child that has just been started, or has just ended, is not known as an own one for a moment;
    /// so leave about a second between two looks.
    pub fn look(&mut self) -> bool {
        let mut left = BTreeSet::new();
        for zombie in zombies_of(getpid()) {
            let pid = zombie.as_raw_nonzero().get();
            if self.guardian.is_own(pid) {
                continue;
            }
            if !self.seen.contains(&pid) {
                left.insert(pid);
                continue;
            }
            // It fails when somebody else has taken note, which is as good.
            let _ = waitpid(Some(zombie), WaitOptions::NOHANG);
        }
        self.seen = left;
        !self.seen.is_empty()
    }
}

/// The children of a process that have ended, as `/proc` shows them.
fn zombies_of(parent: Pid) -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(Pid::from_raw).filter(move |pid| {
        let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        is_zombie_of(&stat, parent)
    })
}

/// The third and fourth field of `/proc/PID/stat` (see proc_pid_stat(5)).
fn is_zombie_of(stat: &[u8], parent: Pid) -> bool {
    let fields = || {
        let name_end = memchr::memrchr(b')', stat)?;
        let mut fields = str::from_utf8(&stat[name_end + 1..])
            .ok()?
            .split_ascii_whitespace();
        Some((fields.next()?, fields.next()?.parse().ok()?))
    };
    fields() == Some(("Z", parent.as_raw_nonzero().get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_children_of_a_process_are_told_from_the_living_and_from_those_of_others() {
        let of = |stat: &str| is_zombie_of(stat.as_bytes(), Pid::INIT);
        assert!(of("42 (a) b)) Z 1 42 42 0 -1"));
        assert!(!of("42 (a) S 1 42 42 0 -1"));
        assert!(!of("42 (Z 1) Z 11 42 42 0 -1"));
        assert!(!of(""));
    }

    #[test]
    fn a_process_that_inherits_nothing_has_no_orphans() {
        assert!(Orphans::of(&Guardian::none()).is_none());
    }
}
