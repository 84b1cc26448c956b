//! Who waits for a server that is at its limit (AGG-14): first come, first served, and not too many.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_upstream::Queue;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How often those in line look again by themselves: a backend may have come back meanwhile.
const GLANCE: Duration = Duration::from_millis(250);

/// The line before one server.
pub(crate) struct Line {
    waiting: AtomicUsize,
    turn: Notify,
    queue: Queue,
}

/// A place in the line, for as long as it is kept.
pub(crate) struct InLine<'a> {
    line: &'a Line,
    _waiting: Waiting<'a>,
    since: Instant,
    until: Instant,
}

/// Why a call got no place at the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shut {
    /// As many wait as may wait.
    Full,
    /// The wait was too long.
    Waited(Duration),
}

impl Line {
    pub(crate) fn new(queue: Queue) -> Self {
        Self {
            waiting: AtomicUsize::new(0),
            turn: Notify::new(),
            queue,
        }
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Whether somebody waits.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting() > 0
    }

    /// A call has left the server: the next in line may look.
    pub(crate) fn one_left(&self) {
        if self.is_busy() {
            self.turn.notify_one();
        }
    }

    /// Steps into the line. Who is the first in it looks again before waiting for a turn: a call
    /// may have left just before.
    pub(crate) fn join(&self) -> Result<InLine<'_>, Shut> {
        let (waiting, before) = Waiting::count(&self.waiting);
        if before >= self.queue.max {
            return Err(Shut::Full);
        }
        if before == 0 {
            self.turn.notify_one();
        }
        let since = Instant::now();
        Ok(InLine {
            line: self,
            _waiting: waiting,
            since,
            until: since + self.queue.wait,
        })
    }
}

impl InLine<'_> {
    /// How long it has been waiting.
    pub(crate) fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// Waits for a turn to look.
    pub(crate) async fn turn(&self) -> Result<(), Shut> {
        if Instant::now() >= self.until {
            return Err(Shut::Waited(self.line.queue.wait));
        }
        let look = self.until.min(Instant::now() + GLANCE);
        let _ = timeout_at(look, self.line.turn.notified()).await;
        Ok(())
    }
}

/// Who leaves, with a place or without, lets the next one look: there may be another place.
impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.line.turn.notify_one();
    }
}

/// One who waits, counted for as long as he does.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Counts one in.
    pub(crate) fn begin(count: &'a AtomicUsize) -> Self {
        Self::count(count).0
    }

    /// Counts one in, and says how many there were before.
    fn count(count: &'a AtomicUsize) -> (Self, usize) {
        let before = count.fetch_add(1, Ordering::SeqCst);
        (Self(count), before)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(max: usize) -> Line {
        Line::new(Queue {
            max,
            wait: Duration::from_secs(30),
        })
    }

    #[test]
    fn agg_14_a_full_line_refuses_at_once() {
        let line = line(1);
        let first = line.join();

        assert_eq!(line.join().err(), Some(Shut::Full));
        drop(first);
        assert!(line.join().is_ok() && !line.is_busy());
    }

    #[tokio::test(start_paused = true)]
    async fn agg_14_who_waits_too_long_is_told_so() {
        let line = line(1);
        let mine = line.join().unwrap();
        let began = Instant::now();

        let shut = loop {
            if let Err(shut) = mine.turn().await {
                break shut;
            }
        };

        assert_eq!(shut, Shut::Waited(Duration::from_secs(30)));
        assert_eq!(began.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn agg_14_the_turns_go_in_the_order_of_the_line() {
        let line = line(3);
        let (first, second) = (line.join().unwrap(), line.join().unwrap());
        first.turn().await.unwrap(); // The look of the first, at once.
        let order = parking_lot::Mutex::new(Vec::new());
        let wait = async |name, mine: InLine<'_>| {
            mine.turn().await.unwrap();
            order.lock().push(name);
        };

        tokio::join!(biased; wait("first", first), wait("second", second), async { line.one_left() });

        assert_eq!(*order.lock(), ["first", "second"]);
    }
}
