//! Looks after the processes that a gateway inherits as the first process of a container.

use mcpr_transport::child::Guardian;

/// Buries inherited processes that have ended, for as long as the gateway runs. Returns at once
/// where nothing is inherited.
#[cfg(target_os = "linux")]
pub(crate) async fn bury(guardian: &Guardian) {
    use std::time::Duration;

    use mcpr_transport::child::Orphans;
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::time::sleep;

    const PAUSE: Duration = Duration::from_secs(1);

    let (Some(mut orphans), Ok(mut ended)) = (Orphans::of(guardian), signal(SignalKind::child())) else {
        return;
    };
    loop {
        while orphans.look() {
            sleep(PAUSE).await;
        }
        if ended.recv().await.is_none() {
            return;
        }
    }
}

/// Elsewhere there are no containers.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn bury(_: &Guardian) {}
