//! The one place that looks again and again.

use std::time::{Duration, Instant};

/// How long to rest between two looks.
const REST: Duration = Duration::from_millis(10);

/// Waits until `condition` gives something, and gives that.
///
/// # Panics
///
/// When `deadline` passes first; the text names `what` was awaited.
pub async fn wait_until<T>(deadline: Duration, what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    wait_for(deadline, what, async || condition()).await
}

/// The same for a condition that takes a look which takes time.
///
/// # Panics
///
/// When `deadline` passes first; the text names `what` was awaited.
pub async fn wait_for<T>(deadline: Duration, what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(
            start.elapsed() < deadline,
            "{what} did not happen within {deadline:?}"
        );
        tokio::time::sleep(REST).await;
    }
}
