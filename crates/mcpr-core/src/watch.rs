//! Follows the files of the configuration: one that changes is read again (CFG-05).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::gateway::Gateway;

/// How often the files are looked at. They are read, and not watched by the system: editors that
/// replace a file, network drives and mounted single files escape such watches.
const LOOK: Duration = Duration::from_secs(1);

/// What the files hold, by path; nothing for one that cannot be read.
type Contents = BTreeMap<PathBuf, Option<u64>>;

impl Gateway {
    /// Reads the configuration again whenever one of its files changes, until the gateway stops. A
    /// file that is not valid changes nothing, and that is told once.
    pub async fn follow_files(&self) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if self.reload.is_none() {
            return self.stop.cancelled().await;
        }
        let mut known = contents(self.plan().files.clone()).await;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.stop.cancelled() => return,
            }
            let now = contents(self.plan().files.clone()).await;
            if now != known {
                self.reload_and_tell().await;
                // Looked at before it was read: what changes meanwhile is seen at the next look.
                known = now;
            }
        }
    }

    /// Reads the configuration again, and says in the log what came of it.
    pub async fn reload_and_tell(&self) {
        match self.reload().await {
            Ok(reloaded) => {
                for setting in reloaded.needs_restart {
                    tracing::warn!(setting, "this setting only counts after a restart of the gateway");
                }
                for warning in reloaded.warnings {
                    tracing::warn!(reason = warning, "configuration");
                }
            }
            Err(failure) => tracing::error!(
                reason = failure.message,
                hint = failure.hint,
                "the configuration was not taken over"
            ),
        }
    }
}

/// Reads the files, away from the threads that serve.
async fn contents(files: Vec<PathBuf>) -> Contents {
    let read = move || {
        let content = |file: PathBuf| {
            let text = std::fs::read(&file).ok();
            let mark = text.map(|text| {
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                hasher.finish()
            });
            (file, mark)
        };
        files.into_iter().map(content).collect()
    };
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}
