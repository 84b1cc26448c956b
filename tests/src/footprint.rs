//! What a process holds, as `/proc` tells it (proc(5)).

use std::fs;
use std::time::{Duration, Instant};

/// How long a process may take to give back what it needs no more.
const SETTLING: Duration = Duration::from_secs(30);

/// What a process holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Resident memory, in bytes.
    pub memory: usize,
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads, without those of the runtime, which come and go with the work.
    pub threads: usize,
}

impl Footprint {
    /// That of a process.
    ///
    /// # Panics
    ///
    /// When there is no such process.
    pub fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
        Self {
            memory: memory.expect("a number of KiB") * 1024,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count),
            threads: thread_names(pid)
                .filter(|name| !name.starts_with("tokio"))
                .count(),
        }
    }

    /// Waits until a process holds no more than this again: no descriptor and no thread more, and memory
    /// within `slack` bytes.
    ///
    /// # Panics
    ///
    /// When it keeps more.
    pub async fn is_kept_by(self, pid: u32, slack: usize) -> Self {
        let fits = |now: &Self| {
            let grown = now.memory.saturating_sub(self.memory);
            grown <= slack && now.descriptors <= self.descriptors && now.threads <= self.threads
        };
        let end = Instant::now() + SETTLING;
        loop {
            let now = Self::of(pid);
            if fits(&now) {
                return now;
            }
            assert!(Instant::now() < end, "it held {self:?}, and keeps {now:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn thread_names(pid: u32) -> impl Iterator<Item = String> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok())
}

/// How long a process has used the processor.
///
/// # Panics
///
/// When there is no such process.
pub fn cpu_time(pid: u32) -> Duration {
    let stat = stat(pid).expect("the process runs");
    let ticks = |index: usize| stat[index].parse::<u64>().expect("a number of ticks");
    Duration::from_millis((ticks(11) + ticks(12)) * 10) // USER_HZ is 100 wherever Linux runs today.
}

/// The dead children of a process that it has not buried.
pub fn zombies_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let unburied =
        |pid: &u32| stat(*pid).is_some_and(|stat| stat[0] == "Z" && stat[1].parse::<u32>() == Ok(parent));
    pids.filter(unburied).collect()
}

/// The fields of `/proc/PID/stat` from the state on; the name before it may hold anything.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = text.rsplit_once(") ")?.1.split_whitespace();
    Some(fields.map(str::to_owned).collect())
}

/// Makes the peak of this process what it uses now (proc(5), clear_refs).
///
/// # Panics
///
/// Where there is no `/proc`.
pub fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("the peak can be set back");
}

/// The most memory that this process has used since it was forgotten, in bytes.
///
/// # Panics
///
/// Where there is no `/proc`.
pub fn peak_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("there is /proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    peak.expect("a number of KiB") * 1024
}
