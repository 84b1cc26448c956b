//! Where both roads meet: writes a line and hands it to every destination.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::clock::STAMP;
use crate::level::Level;
use crate::line::{Line, Voice};
use crate::queue::Queue;

/// The log of this process.
pub(crate) struct Journal {
    voice: Voice,
    level: AtomicU8,
    sinks: Vec<Sink>,
}

/// One destination.
pub(crate) enum Sink {
    /// A thread writes it; colour is only for the pretty format.
    Queue { queue: Arc<Queue>, colour: bool },
    /// A test reads it.
    Memory(Arc<Mutex<String>>),
}

thread_local! {
    // Taken out while in use, so that a `Debug` that logs finds an empty one instead of a line half done.
    static LINE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static PAINTED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Journal {
    pub(crate) fn new(voice: Voice, level: Level, sinks: Vec<Sink>) -> Self {
        Self {
            voice,
            level: AtomicU8::new(level as u8),
            sinks,
        }
    }

    pub(crate) fn level(&self) -> Level {
        Level::ALL[usize::from(self.level.load(Ordering::Relaxed))]
    }

    pub(crate) fn set_level(&self, level: Level) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    pub(crate) fn wants(&self, level: Level) -> bool {
        self.level() <= level
    }

    pub(crate) fn voice(&self) -> &Voice {
        &self.voice
    }

    /// Writes one line; never waits for a destination.
    pub(crate) fn write(&self, level: Level, fill: impl FnOnce(&mut Line<'_>)) {
        with(&LINE, |line| {
            self.voice.line(level, line, fill);
            self.sinks.iter().for_each(|sink| sink.push(line, level));
        });
    }

    /// Waits until what was written so far has left the process; `false` when it takes too long.
    pub(crate) fn flush(&self, deadline: Instant) -> bool {
        // Every queue is asked, whatever became of the one before.
        self.queues().filter(|queue| !queue.flush(deadline)).count() == 0
    }

    /// How many lines did not find room, over all destinations.
    pub(crate) fn shed(&self) -> u64 {
        self.queues().map(|queue| queue.shed_ever()).sum()
    }

    /// How many lines could not be written, over all destinations.
    pub(crate) fn lost(&self) -> u64 {
        self.queues().map(|queue| queue.lost_ever()).sum()
    }

    fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.sinks.iter().filter_map(|sink| match sink {
            Sink::Queue { queue, .. } => Some(&**queue),
            Sink::Memory(_) => None,
        })
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.queues().for_each(Queue::close);
    }
}

impl Sink {
    fn push(&self, line: &[u8], level: Level) {
        let urgent = level >= Level::Error;
        match self {
            Self::Queue { queue, colour: false } => queue.push(line, urgent),
            Self::Queue { queue, colour: true } => with(&PAINTED, |painted| {
                paint(line, level, painted);
                queue.push(painted, urgent);
            }),
            Self::Memory(text) => text.lock().push_str(&String::from_utf8_lossy(line)),
        }
    }
}

/// Lends out the buffer of this thread; a fresh one when the thread is ending.
fn with(buffer: &'static std::thread::LocalKey<Cell<Vec<u8>>>, work: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = buffer.try_with(Cell::take).unwrap_or_default();
    work(&mut bytes);
    // Fails only for an ending thread, which needs no buffer any more.
    let _ = buffer.try_with(|buffer| buffer.set(bytes));
}

/// Dims the time and colours the level of a pretty line, which stand at known places.
fn paint(line: &[u8], level: Level, out: &mut Vec<u8>) {
    let colour: &[u8] = match level {
        Level::Trace => b"\x1b[35m",
        Level::Debug => b"\x1b[34m",
        Level::Info => b"\x1b[32m",
        Level::Warn => b"\x1b[33m",
        Level::Error | Level::Fatal => b"\x1b[1;31m",
    };
    let (time, rest) = line.split_at(STAMP);
    let (level, rest) = rest.split_at(" LEVEL".len());
    out.clear();
    out.extend(
        [b"\x1b[2m", time, b"\x1b[0m", colour, level, b"\x1b[0m", rest]
            .into_iter()
            .flatten(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_01_colour_marks_the_level_and_nothing_else() {
        let mut painted = Vec::new();
        paint(
            b"2025-01-15T10:30:45.123Z  WARN mcpr: gone\n",
            Level::Warn,
            &mut painted,
        );

        let painted = String::from_utf8(painted).unwrap();

        let expected = "\x1b[2m2025-01-15T10:30:45.123Z\x1b[0m\x1b[33m  WARN\x1b[0m mcpr: gone\n";
        assert_eq!(painted, expected);
    }
}
