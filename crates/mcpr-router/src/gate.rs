//! How many calls a server gets at once, and who waits (AGG-14).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_upstream::Queue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The gate of one server.
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: Queue,
}

/// Why the gate stayed shut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shut {
    /// As many wait as may wait.
    Full,
    /// The wait was too long.
    Waited(Duration),
}

impl Gate {
    pub(crate) fn new(places: usize, queue: Queue) -> Self {
        let places = Arc::new(Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)));
        Self {
            places,
            waiting: AtomicUsize::new(0),
            queue,
        }
    }

    /// Whether somebody waits for a place.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Takes a place, waiting in line for one that becomes free.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, Shut> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Ok(place);
        }
        let Some(_waiting) = Waiting::begin(&self.waiting, self.queue.max) else {
            return Err(Shut::Full);
        };
        let place = timeout(self.queue.wait, self.places.clone().acquire_owned()).await;
        place
            .ok()
            .and_then(Result::ok)
            .ok_or(Shut::Waited(self.queue.wait))
    }
}

/// One who waits, counted for as long as he does.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Counts one in, unless `max` wait already.
    pub(crate) fn begin(count: &'a AtomicUsize, max: usize) -> Option<Self> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let this = Self(count);
        (before < max).then_some(this)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(places: usize, max: usize) -> Gate {
        Gate::new(
            places,
            Queue {
                max,
                wait: Duration::from_secs(30),
            },
        )
    }

    #[tokio::test(start_paused = true)]
    async fn agg_14_who_waits_too_long_is_told_so() {
        let gate = gate(1, 1);
        let _busy = gate.enter().await.unwrap();

        assert_eq!(
            gate.enter().await.unwrap_err(),
            Shut::Waited(Duration::from_secs(30))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn agg_14_a_full_queue_refuses_at_once() {
        let gate = gate(1, 0);
        let _busy = gate.enter().await.unwrap();

        assert_eq!(gate.enter().await.unwrap_err(), Shut::Full);
    }

    #[tokio::test(start_paused = true)]
    async fn agg_14_a_place_that_becomes_free_goes_to_who_waits() {
        let gate = gate(1, 1);
        let busy = gate.enter().await.unwrap();
        let (next, ()) = tokio::join!(gate.enter(), async { drop(busy) });

        assert!(next.is_ok());
        assert_eq!(gate.waiting.load(Ordering::Relaxed), 0);
    }
}
