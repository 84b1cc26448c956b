//! Ctrl-C, where something is to be done before the end.

use tokio::signal;

/// Does this work until it is done or the user wants it to end; then it is dropped, and there is nothing.
pub(crate) async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        // Without a handler the signal ends this program by itself.
        Ok(()) = signal::ctrl_c() => None,
        done = work => Some(done),
    }
}
