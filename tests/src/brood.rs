//! The processes that one test started, told from all others by a variable that each of them inherits.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::peers::Words;
use crate::{Gateway, wait_until};

const VARIABLE: &str = "MCPR_TEST_BROOD";

/// How soon nothing may be left.
const END: Duration = Duration::from_secs(10);

/// The mark of one test's processes.
#[derive(Clone, Debug)]
pub struct Brood(String);

impl Default for Brood {
    fn default() -> Self {
        Self::new()
    }
}

impl Brood {
    /// A mark that no other has.
    pub fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", std::process::id()))
    }

    /// The entry of a marked server, given by the words of its command.
    pub fn entry(&self, words: &Words) -> Value {
        self.mark(json!({ "command": words[0], "args": words[1..] }))
    }

    /// The same server, marked.
    pub fn mark(&self, mut entry: Value) -> Value {
        entry["env"][VARIABLE] = json!(self.0);
        entry
    }

    /// The variable and its value.
    pub fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.0)
    }

    /// Stops the gateway; no process that it started is left after that, nor any that those started.
    ///
    /// # Panics
    ///
    /// When none was there before, or some are left.
    pub async fn stop(&self, gateway: Gateway) {
        assert!(!self.processes().is_empty(), "the servers run");
        gateway.stop().await;
        self.all_gone_within(END).await;
    }

    /// Waits until none of the processes is left.
    ///
    /// # Panics
    ///
    /// When some are left after so long.
    pub async fn all_gone_within(&self, limit: Duration) {
        let gone = || self.processes().is_empty().then_some(());
        wait_until(limit, "the end of all processes", gone).await;
    }

    /// Those that run. A process that has ended has no variables any more.
    pub fn processes(&self) -> Vec<u32> {
        let mark = format!("{VARIABLE}={}\0", self.0);
        let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
        let marked = folders.filter(|folder| {
            let variables = fs::read(folder.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&variables).contains(&mark)
        });
        marked
            .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
            .collect()
    }
}
