//! The thread that carries the lines of one queue to its destination.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::level::Level;
use crate::line::Voice;
use crate::queue::Queue;

/// A destination that takes nothing now is asked again after this time.
const RETRY: Duration = Duration::from_millis(10);
/// A buffer that a burst made larger than this is made smaller again.
const KEEP: usize = 256 * 1024;
/// Deep enough for `write`, which is all the thread does.
const STACK: usize = 128 * 1024;

/// Writes whole chunks until the queue is closed.
///
/// Each destination has a thread of its own: one that stalls (a client that never reads our
/// stderr, a network file system) must not keep the lines of the other.
pub(crate) struct Writer {
    pub(crate) queue: Arc<Queue>,
    pub(crate) out: Box<dyn Write + Send>,
    pub(crate) voice: Voice,
    /// The destination as reports call it, as in "the disk".
    pub(crate) name: &'static str,
    /// Where to tell that this destination fails.
    pub(crate) other: Option<Arc<Queue>>,
}

/// What is still to be reported, and how the last write ended.
#[derive(Default)]
struct Debt {
    shed: u64,
    lost: u64,
    failing: bool,
    /// The last line that was written lacks its end.
    torn: bool,
}

impl Writer {
    /// Starts the thread; it ends when the queue is closed.
    pub(crate) fn start(self) -> io::Result<()> {
        let builder = thread::Builder::new().name("mcpr-log".into()).stack_size(STACK);
        builder.spawn(|| self.run()).map(drop)
    }

    fn run(mut self) {
        let mut debt = Debt::default();
        let mut chunk = Vec::new();
        while let Some(shed) = self.queue.take(&mut chunk) {
            debt.shed += shed;
            if self.write(&chunk, &mut debt) {
                self.settle(&mut debt);
            }
            self.queue.done(chunk.len());
            chunk.clear();
            chunk.shrink_to(KEEP);
        }
    }

    /// Reports what was not written, now that something was.
    fn settle(&mut self, debt: &mut Debt) {
        if debt.shed > 0 {
            let report = format!("shed {}: {} was too slow", log_lines(debt.shed), self.name);
            debt.shed = 0;
            self.report(&report, debt);
        }
        if debt.lost > 0 {
            let report = format!(
                "lost {}: {} could not be written",
                log_lines(debt.lost),
                self.name
            );
            debt.lost = 0;
            self.report(&report, debt);
        }
    }

    fn report(&mut self, report: &str, debt: &mut Debt) {
        let mut line = Vec::new();
        self.voice.own(Level::Warn, &mut line, report);
        self.write(&line, debt);
    }

    fn write(&mut self, lines: &[u8], debt: &mut Debt) -> bool {
        let end = if debt.torn {
            put_all(&mut *self.out, b"\n").map_err(|(_, error)| (0, error))
        } else {
            Ok(())
        };
        match end.and_then(|()| put_all(&mut *self.out, lines)) {
            Ok(()) => {
                debt.torn = false;
                self.recovered(debt);
                true
            }
            Err((written, error)) => {
                self.failed(&error, debt);
                let (told, untold) = lines.split_at(written);
                debt.torn = told.last().map_or(debt.torn, |byte| *byte != b'\n');
                let lost = untold.iter().filter(|byte| **byte == b'\n').count() as u64;
                debt.lost += lost;
                self.queue.lost(lost);
                false
            }
        }
    }

    /// Tells the first of a row of failures where it can still be read.
    fn failed(&self, error: &io::Error, debt: &mut Debt) {
        if std::mem::replace(&mut debt.failing, true) {
            return;
        }
        let complaint = format!(
            "{} cannot be written, its log lines are lost until it can: {error}",
            self.name
        );
        self.tell_elsewhere(Level::Error, &complaint);
    }

    /// Tells the end of a row of failures in the same place, and what it has cost.
    fn recovered(&self, debt: &mut Debt) {
        if std::mem::replace(&mut debt.failing, false) {
            let relief = format!(
                "{} can be written again, {} were lost",
                self.name,
                log_lines(debt.lost)
            );
            self.tell_elsewhere(Level::Warn, &relief);
        }
    }

    fn tell_elsewhere(&self, level: Level, message: &str) {
        if let Some(other) = &self.other {
            let mut line = Vec::new();
            self.voice.own(level, &mut line, message);
            other.push(&line, true);
        }
    }
}

/// Writes everything, or tells how far it came.
fn put_all(out: &mut dyn Write, mut rest: &[u8]) -> Result<(), (usize, io::Error)> {
    let size = rest.len();
    while !rest.is_empty() {
        match out.write(rest) {
            Ok(0) => return Err((size - rest.len(), ErrorKind::WriteZero.into())),
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Whoever gave us this descriptor made it non-blocking, as Node does with its pipes.
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY),
            Err(error) => return Err((size - rest.len(), error)),
        }
    }
    Ok(())
}

/// As in "1 log line" and "1,234 log lines".
fn log_lines(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    format!(
        "{} log line{}",
        groups.join(","),
        if count == 1 { "" } else { "s" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::level::Format;
    use crate::redact::Secrets;
    use parking_lot::Mutex;
    use std::collections::VecDeque;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Instant;

    /// A destination that takes what it is told to take, write by write.
    #[derive(Clone, Default)]
    struct Disk {
        text: Arc<Mutex<String>>,
        answers: Arc<Mutex<VecDeque<io::Result<usize>>>>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let takes = self.answers.lock().pop_front().unwrap_or(Ok(bytes.len()))?;
            self.text
                .lock()
                .push_str(std::str::from_utf8(&bytes[..takes]).unwrap());
            Ok(takes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A destination that takes nothing until it is told to go on.
    struct Stalled {
        reached: Sender<()>,
        go: Receiver<()>,
        disk: Disk,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.reached.send(());
            let _ = self.go.recv();
            self.disk.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn voice() -> Voice {
        Voice {
            format: Format::Pretty,
            clock: clock::fixed,
            secrets: Secrets::default(),
        }
    }

    fn start(out: impl Write + Send + 'static, cap: usize, other: Option<Arc<Queue>>) -> Arc<Queue> {
        let queue = Arc::new(Queue::new(cap));
        let out = Box::new(out);
        let writer = Writer {
            queue: Arc::clone(&queue),
            out,
            voice: voice(),
            name: "the disk",
            other,
        };
        writer.start().unwrap();
        queue
    }

    fn flushed(queue: &Queue) {
        assert!(queue.flush(Instant::now() + Duration::from_secs(20)));
    }

    #[test]
    fn log_03_a_stalled_disk_sheds_lines_and_their_number_is_reported() {
        let disk = Disk::default();
        let ((reached, at_disk), (release, go)) = (channel(), channel());
        let queue = start(
            Stalled {
                reached,
                go,
                disk: disk.clone(),
            },
            40,
            None,
        );
        queue.push(b"first\n", true);
        at_disk.recv().unwrap();

        (0..1237).for_each(|_| queue.push(b"later\n", false));
        drop(release);
        flushed(&queue);

        insta::assert_snapshot!(*disk.text.lock(), @r"
        first
        later
        later
        later
        2025-01-15T10:30:45.123Z  WARN mcpr_telemetry: shed 1,234 log lines: the disk was too slow
        ");
        assert_eq!(queue.shed_ever(), 1234);
    }

    #[test]
    fn log_02_a_full_disk_is_told_once_elsewhere_and_its_lost_lines_later() {
        let full = || Err(io::Error::other("no space left"));
        let disk = Disk::default();
        disk.answers.lock().extend([Ok(4), full(), full()]);
        let elsewhere = Disk::default();
        let stderr = start(elsewhere.clone(), 1000, None);
        let queue = start(disk.clone(), 1000, Some(Arc::clone(&stderr)));

        for line in ["a\nbcd\ne\n", "f\n", "g\n"] {
            queue.push(line.as_bytes(), true);
            flushed(&queue);
        }
        flushed(&stderr);

        insta::assert_snapshot!(*disk.text.lock(), @r"
        a
        bc
        g
        2025-01-15T10:30:45.123Z  WARN mcpr_telemetry: lost 3 log lines: the disk could not be written
        ");
        insta::assert_snapshot!(*elsewhere.text.lock(), @r"
        2025-01-15T10:30:45.123Z ERROR mcpr_telemetry: the disk cannot be written, its log lines are lost until it can: no space left
        2025-01-15T10:30:45.123Z  WARN mcpr_telemetry: the disk can be written again, 3 log lines were lost
        ");
        assert_eq!(queue.lost_ever(), 3);
    }

    #[test]
    fn b55_a_pipe_that_is_full_for_now_is_waited_for() {
        let disk = Disk::default();
        disk.answers.lock().extend([
            Err(ErrorKind::WouldBlock.into()),
            Err(ErrorKind::Interrupted.into()),
            Ok(1),
        ]);
        let queue = start(disk.clone(), 1000, None);

        queue.push(b"line\n", true);
        flushed(&queue);

        assert_eq!(*disk.text.lock(), "line\n");
    }

    #[test]
    fn counts_are_told_with_separators() {
        let told = [1, 999, 1000, 1_234_567].map(log_lines);
        assert_eq!(
            told,
            [
                "1 log line",
                "999 log lines",
                "1,000 log lines",
                "1,234,567 log lines"
            ]
        );
    }
}
