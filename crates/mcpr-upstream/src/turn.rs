//! The line of servers that wait to be started.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use futures_util::future::{MaybeDone, maybe_done};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// A place in the line. Whoever queues first starts first, however the runtime runs their tasks.
pub(crate) struct Turn(Pin<Box<MaybeDone<Acquire>>>);

type Acquire = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send + Sync>>;

impl Turn {
    /// Takes the next place in the line.
    pub(crate) fn queue(starts: &Arc<Semaphore>) -> Self {
        let acquire: Acquire = Box::pin(starts.clone().acquire_owned());
        let mut turn = Box::pin(maybe_done(acquire));
        // A semaphore queues those who ask in the order in which they are first polled.
        let _ = turn.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        Self(turn)
    }

    /// Waits for the turn; dropping what is given lets the next one start.
    pub(crate) async fn come(mut self) -> Option<OwnedSemaphorePermit> {
        self.0.as_mut().await;
        self.0.as_mut().take_output()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn srv_03_turns_come_in_the_order_of_the_line() {
        let starts = Arc::new(Semaphore::new(1));
        let [first, second] = [(); 2].map(|()| Turn::queue(&starts));
        let second = tokio::spawn(second.come());
        tokio::task::yield_now().await;
        assert!(!second.is_finished(), "it was awaited first, but stands second");

        drop(first.come().await);

        assert!(second.await.unwrap().is_some());
    }
}
