//! Tells now and then how much memory the gateway takes (LOG-05).

use std::time::Duration;

use mcpr_telemetry::Memory;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

/// Tells it this often, for ever; not at all where that is not wanted or the system does not say.
pub(crate) async fn tell(every: Option<Duration>) {
    let Some(every) = every else { return };
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match spawn_blocking(Memory::own).await {
            Ok(Ok(Memory { resident, peak })) => tracing::info!(resident, peak, "memory"),
            Ok(Err(error)) => {
                return tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "memory cannot be told here"
                );
            }
            // The runtime ends.
            Err(_) => return,
        }
    }
}
