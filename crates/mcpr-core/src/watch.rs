//! Follows the files of the configuration: one that changes is read again (CFG-05).

use std::time::Duration;

use mcpr_config::{Contents, Process};
use tokio::time::{MissedTickBehavior, interval};

use crate::gateway::Gateway;

/// How often the files are looked at. They are read, and not watched by the system: editors that
/// replace a file, network drives and mounted single files escape such watches.
const LOOK: Duration = Duration::from_secs(1);

impl Gateway {
    /// Reads the configuration again whenever its files hold something else than when it was read,
    /// until the gateway stops. A file that is not valid changes nothing, and that is told once.
    pub async fn follow_files(&self) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if self.reload.is_none() {
            return self.stop.cancelled().await;
        }
        let mut refused = None;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.stop.cancelled() => return,
            }
            let read = self.plan().contents.clone();
            let now = look_at(read.clone()).await;
            if now == read {
                refused = None;
            } else if refused.as_ref() != Some(&now) {
                self.reload_and_tell().await;
                // What could not be taken over is told once. What changed while it was read is read
                // again: half a file may have been seen.
                let after = look_at(read).await;
                refused = (after == now).then_some(now);
            }
        }
    }

    /// Reads the configuration again, and says in the log what came of it; whether it was taken over.
    pub async fn reload_and_tell(&self) -> bool {
        match self.reload().await {
            Ok(reloaded) => {
                for setting in reloaded.needs_restart {
                    tracing::warn!(setting, "this setting only counts after a restart of the gateway");
                }
                for warning in reloaded.warnings {
                    tracing::warn!(reason = warning, "configuration");
                }
                true
            }
            Err(failure) => {
                tracing::error!(
                    reason = failure.message,
                    hint = failure.hint,
                    "the configuration was not taken over"
                );
                false
            }
        }
    }
}

/// Reads what the places hold now, away from the threads that serve.
async fn look_at(places: Contents) -> Contents {
    let look = move || places.now(&Process);
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}
