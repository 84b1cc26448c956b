//! What the tests need of the machine: ports that nobody uses, and its list of processes.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::fuzz::Dice;
use crate::wait_until;

/// Ports that no system hands out by itself, so that nobody takes one between the search and its use.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A port of loopback at which nobody listens, and that this process has not been told before.
///
/// # Panics
///
/// When all are in use.
pub fn free_port() -> u16 {
    // Other processes look for ports too, and begin elsewhere.
    static NEXT: LazyLock<AtomicUsize> =
        LazyLock::new(|| AtomicUsize::new(Dice::random().below(PORTS.len())));
    let mut ports = PORTS.map(|_| PORTS.start + (NEXT.fetch_add(1, Ordering::Relaxed) % PORTS.len()) as u16);
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

/// Waits until no process has `mark` in its command line.
pub async fn await_no_process(mark: &str) {
    wait_until(
        Duration::from_secs(10),
        &format!("no process with `{mark}`"),
        || processes(mark).is_empty().then_some(()),
    )
    .await;
}

/// The processes that have `mark` in their command line, this one aside.
pub fn processes(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_mark = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    pids.filter(|pid| *pid != own).filter(has_mark).collect()
}
