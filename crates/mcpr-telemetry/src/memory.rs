//! How much memory this process takes.

use std::fs;
use std::io;

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What it has in memory now.
    pub resident: u64,
    /// The most it ever had.
    pub peak: u64,
}

impl Memory {
    /// The memory of this process; what is read is a few lines that the system writes on demand.
    ///
    /// # Errors
    ///
    /// Where the system does not tell: everywhere but on Linux.
    pub fn own() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        Self::of(&status).ok_or_else(|| io::Error::other("the system does not tell it"))
    }

    fn of(status: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kilobytes = line.trim().strip_suffix(" kB")?;
            Some(kilobytes.parse::<u64>().ok()? * 1024)
        };
        Some(Self {
            resident: field("VmRSS:")?,
            peak: field("VmHWM:")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_05_memory_is_what_the_system_says() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t1\n";

        let memory = Memory::of(status).unwrap();

        assert_eq!((memory.resident, memory.peak), (1 << 20, 2 << 20));
        assert_eq!(Memory::of("Name:\tx\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn log_05_this_process_has_memory() {
        let memory = Memory::own().unwrap();
        assert!(memory.resident > 0 && memory.peak >= memory.resident);
    }
}
