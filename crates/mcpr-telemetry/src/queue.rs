//! A bounded double buffer between those who log and the thread that writes.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Lines wait at most so long before they are written.
const INTERVAL: Duration = Duration::from_millis(100);
/// So much is written before that time has passed: it keeps the buffers small where there is much to tell.
const PLENTY: usize = 64 * 1024;
/// So much may wait for one destination, counting the chunk that is being written.
pub(crate) const CAP: usize = 8 * 1024 * 1024;

/// The lines that wait for one destination.
///
/// [`push`](Queue::push) holds the lock for as long as copying one line takes and never waits for
/// the destination; the writer takes all lines at once by swapping buffers.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Told to the writer: there is something to do.
    wake: Condvar,
    /// Told to those who flush: a chunk was written.
    written: Condvar,
    /// The size of each of the two buffers.
    half: usize,
    /// How much ends the wait of the writer.
    plenty: usize,
}

#[derive(Debug, Default)]
struct State {
    filling: Vec<u8>,
    /// Bytes ever taken in, and how many of them the writer is done with.
    accepted: u64,
    done: u64,
    /// Lines that found no room since the last chunk, and ever.
    shed: u64,
    shed_ever: u64,
    /// Lines that the writer could not write, ever.
    lost_ever: u64,
    urgent: bool,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            written: Condvar::new(),
            half: cap / 2,
            plenty: PLENTY.min(cap / 4),
        }
    }

    /// Appends a line, or counts it as shed when there is no room.
    pub(crate) fn push(&self, line: &[u8], urgent: bool) {
        let mut state = self.state.lock();
        let before = state.filling.len();
        if state.closed || before + line.len() > self.half {
            state.shed += 1;
            state.shed_ever += 1;
            return;
        }
        state.filling.extend_from_slice(line);
        state.accepted += line.len() as u64;
        state.urgent |= urgent;
        let plenty = before < self.plenty && state.filling.len() >= self.plenty;
        if before == 0 || urgent || plenty {
            self.wake.notify_one();
        }
    }

    /// Waits for lines, swaps them into the empty `chunk`, and tells how many were shed.
    ///
    /// `None` when the queue is closed and empty.
    pub(crate) fn take(&self, chunk: &mut Vec<u8>) -> Option<u64> {
        let mut state = self.state.lock();
        while state.filling.is_empty() && !state.closed {
            self.wake.wait(&mut state);
        }
        let deadline = Instant::now() + INTERVAL;
        while !state.urgent && !state.closed && state.filling.len() < self.plenty {
            if self.wake.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.urgent = false;
        std::mem::swap(&mut state.filling, chunk);
        (!chunk.is_empty()).then(|| std::mem::take(&mut state.shed))
    }

    /// The writer is done with so many bytes.
    pub(crate) fn done(&self, bytes: usize) {
        self.state.lock().done += bytes as u64;
        self.written.notify_all();
    }

    /// Waits until all lines pushed before are written; `false` when the deadline comes first.
    pub(crate) fn flush(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        let goal = state.accepted;
        while state.done < goal {
            state.urgent = true;
            self.wake.notify_one();
            if self.written.wait_until(&mut state, deadline).timed_out() {
                return state.done >= goal;
            }
        }
        true
    }

    /// Takes no more lines; the writer ends when it has written those that wait.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// The writer could not write so many lines.
    pub(crate) fn lost(&self, lines: u64) {
        self.state.lock().lost_ever += lines;
    }

    /// How many lines could not be written since the start.
    pub(crate) fn lost_ever(&self) -> u64 {
        self.state.lock().lost_ever
    }

    /// How many lines were shed since the start.
    pub(crate) fn shed_ever(&self) -> u64 {
        self.state.lock().shed_ever
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_03_lines_are_taken_together_and_in_order() {
        let queue = Queue::new(100);
        queue.push(b"one\n", false);
        queue.push(b"two\n", true);

        let mut chunk = Vec::new();

        assert_eq!(queue.take(&mut chunk), Some(0));
        assert_eq!(chunk, b"one\ntwo\n");
    }

    #[test]
    fn log_03_a_line_without_room_is_shed_and_counted() {
        let queue = Queue::new(20);
        for line in ["12345\n", "12345\n", "123\n"] {
            queue.push(line.as_bytes(), true);
        }

        let mut chunk = Vec::new();

        assert_eq!(queue.take(&mut chunk), Some(1));
        assert_eq!(chunk, b"12345\n123\n");
        assert_eq!(queue.shed_ever(), 1);
    }

    #[test]
    fn log_03_a_closed_queue_gives_its_last_lines_and_ends() {
        let queue = Queue::new(100);
        queue.push(b"last\n", false);
        queue.close();
        queue.push(b"too late\n", false);

        let mut chunk = Vec::new();

        assert_eq!(queue.take(&mut chunk), Some(1));
        chunk.clear();
        assert_eq!(queue.take(&mut chunk), None);
    }

    #[test]
    fn log_03_a_flush_gives_up_at_its_deadline() {
        let queue = Queue::new(100);
        assert!(queue.flush(Instant::now()));

        queue.push(b"nobody writes this\n", false);

        assert!(!queue.flush(Instant::now()));
    }
}
