//! The processes that one gateway started, told from all others by a variable that each of them inherits.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcpr_tests::peers::Words;
use mcpr_tests::{Gateway, wait_until};
use serde_json::{Value, json};

const VARIABLE: &str = "MCPR_TEST_BROOD";

/// How soon nothing may be left.
const END: Duration = Duration::from_secs(10);

/// The mark of one gateway.
pub(crate) struct Brood(String);

impl Brood {
    pub(crate) fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", std::process::id()))
    }

    /// The entry of a marked server.
    pub(crate) fn entry(&self, words: &Words) -> Value {
        json!({ "command": words[0], "args": words[1..], "env": { VARIABLE: self.0 } })
    }

    /// Stops the gateway; no process that it started is left after that, nor any that those started.
    pub(crate) async fn stop(&self, gateway: Gateway) {
        assert!(!self.processes().is_empty(), "the servers run");
        gateway.stop().await;
        wait_until(END, "the end of all servers", || {
            self.processes().is_empty().then_some(())
        })
        .await;
    }

    fn processes(&self) -> Vec<String> {
        let mark = format!("{VARIABLE}={}\0", self.0);
        let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
        let marked = folders.filter(|folder| {
            let variables = fs::read(folder.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&variables).contains(&mark)
        });
        marked
            .map(|folder| folder.file_name().display().to_string())
            .collect()
    }
}
