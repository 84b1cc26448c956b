//! How much memory processes hold, where the system tells it as files in `/proc`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What the processes of this machine hold in memory.
#[derive(Debug, Default)]
pub(super) struct Memory(HashMap<u32, Process>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    /// Its resident set.
    bytes: u64,
}

impl Memory {
    /// As it is now; nothing is known where there is no `/proc`.
    pub(super) fn now() -> Self {
        Self::under(Path::new("/proc"))
    }

    fn under(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let numbered = entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((
                pid,
                Process::of(&fs::read_to_string(entry.path().join("status")).ok()?)?,
            ))
        });
        Self(numbered.collect())
    }

    /// What one process holds.
    pub(super) fn of_process(&self, pid: u32) -> Option<u64> {
        self.0.get(&pid).map(|process| process.bytes)
    }

    /// What a process holds, with those that it and they have started. What several of them share counts for each.
    pub(super) fn of_tree(&self, root: u32) -> Option<u64> {
        let own = self.of_process(root)?;
        let below = self.0.iter().filter(|(pid, _)| self.is_below(**pid, root));
        Some(own + below.map(|(_, process)| process.bytes).sum::<u64>())
    }

    /// A table that was read while processes came and went may have circles.
    fn is_below(&self, pid: u32, root: u32) -> bool {
        let parents = std::iter::successors(Some(pid), |pid| self.0.get(pid).map(|process| process.parent));
        parents.skip(1).take(self.0.len()).any(|parent| parent == root)
    }
}

impl Process {
    /// Reads `/proc/PID/status`; a process that has ended holds nothing.
    fn of(status: &str) -> Option<Self> {
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = field("VmRSS:")?.trim().strip_suffix(" kB")?;
        Some(Self {
            parent: field("PPid:")?.trim().parse().ok()?,
            bytes: kilobytes.trim().parse::<u64>().ok()? * 1024,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctl_01_a_server_s_memory_is_that_of_all_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        for (pid, parent, rss) in [(1, 0, 9), (10, 1, 100), (11, 10, 20), (12, 11, 3), (20, 1, 5)] {
            let path = folder.path().join(pid.to_string());
            fs::create_dir(&path).unwrap();
            let status =
                format!("Name:\tx\nPid:\t{pid}\nPPid:\t{parent}\nVmRSS:\t     {rss} kB\nThreads:\t1\n");
            fs::write(path.join("status"), status).unwrap();
        }
        fs::create_dir(folder.path().join("self")).unwrap();
        let memory = Memory::under(folder.path());

        assert_eq!(memory.of_process(10), Some(100 << 10));
        assert_eq!(memory.of_tree(10), Some(123 << 10));
        assert_eq!(memory.of_tree(12), Some(3 << 10));
        assert_eq!(memory.of_tree(13), None);
    }

    #[test]
    fn a_process_that_has_ended_holds_nothing() {
        assert_eq!(Process::of("Name:\tx\nState:\tZ (zombie)\nPPid:\t1\n"), None);
    }

    #[test]
    fn a_circle_of_parents_has_an_end() {
        let process = |parent| Process { parent, bytes: 1 };
        let memory = Memory(HashMap::from([(2, process(3)), (3, process(2)), (9, process(1))]));

        assert_eq!(memory.of_tree(9), Some(1));
        assert_eq!(memory.of_tree(2), Some(2 + 1));
    }
}
