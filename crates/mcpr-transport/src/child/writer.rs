//! Writes messages to a child's stdin.
//!
//! A message is written by its sender when the pipe has room, which costs one system call and no
//! change of task. When the pipe is full, messages wait in a bounded queue and one task writes
//! them, many with one call.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use mcpr_protocol::Rope;
use parking_lot::Mutex;
use tokio::net::unix::pipe::Sender;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Writes messages, each on a line of its own.
#[derive(Clone, Debug)]
pub struct Writer(Arc<Shared>);

/// Tells one message from all others of the same [`Writer`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Receipt(u64);

/// Why a message could not be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WriteError {
    /// The writer has been closed. Nothing of the message has been written.
    #[error("the connection is closed")]
    Closed,
    /// The child no longer reads: it has ended or closed its stdin.
    #[error("the server no longer reads")]
    Broken {
        /// Whether a part of the message has been written before.
        begun: bool,
    },
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Permits for what may wait, in units of [`UNIT`] bytes.
    room: Arc<Semaphore>,
    /// Wakes the task.
    work: Notify,
}

#[derive(Debug)]
struct State {
    /// `None` when stdin is closed.
    pipe: Option<Arc<Sender>>,
    queue: VecDeque<Waiting>,
    /// No more messages are taken; the pipe closes after those that wait.
    closing: bool,
    broken: bool,
    /// How many messages have been taken, and of how many the first byte has been written.
    taken: u64,
    begun: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    text: Rope,
    _room: Option<OwnedSemaphorePermit>,
}

const UNIT: usize = 16 << 10;
/// 16 MiB or 1024 messages, whichever is less.
const ROOM: u32 = 1024;
/// How many pieces go into one system call.
const SLICES: usize = 64;
/// How many calls the task makes before it lets others run.
const ROUNDS: usize = 16;

impl Writer {
    /// A writer to `pipe`; [`Writer::run`] must be run beside it.
    pub(super) fn new(pipe: Sender) -> Self {
        let state = State {
            pipe: Some(Arc::new(pipe)),
            queue: VecDeque::new(),
            closing: false,
            broken: false,
            taken: 0,
            begun: 0,
        };
        let room = Arc::new(Semaphore::new(ROOM as usize));
        Self(Arc::new(Shared {
            state: Mutex::new(state),
            room,
            work: Notify::new(),
        }))
    }

    /// Writes `message` on one line, or queues it; waits while the queue is full.
    ///
    /// Line ends within the message become spaces, so that no message can be read as two. Messages
    /// are written in the order in which they were taken. Dropping the future before it is ready
    /// takes the message back.
    ///
    /// # Errors
    ///
    /// When the child's stdin is closed, by us or by the child. A message that was queued can fail
    /// later: then the child is gone, and [`Writer::is_unsent`] tells whether it can have seen it.
    pub async fn send(&self, message: Rope) -> Result<Receipt, WriteError> {
        let mut text = Some(line(message));
        if let Some(done) = self.change(|state| state.take_if_first(&mut text)) {
            return done;
        }
        let text = text.unwrap_or_default();
        let units = u32::try_from(text.len() / UNIT).unwrap_or(ROOM) + 1;
        let room = self.0.room.clone().acquire_many_owned(units.min(ROOM)).await;
        self.change(|state| match room {
            Ok(room) => state.take(text, Some(room)),
            Err(_) => Err(state.refusal()),
        })
    }

    /// Whether it is certain that nothing of the message has been written, nor ever will be.
    pub fn is_unsent(&self, message: Receipt) -> bool {
        let state = self.0.state.lock();
        state.pipe.is_none() && message.0 > state.begun
    }

    /// Takes no more messages, and closes the child's stdin when those that wait are written.
    pub fn close(&self) {
        self.change(State::close);
    }

    /// Closes the child's stdin now.
    pub(super) fn abandon(&self) {
        self.change(|state| {
            state.closing = true;
            state.drop_pipe();
        });
    }

    /// Writes what waits, until stdin is closed.
    pub(super) async fn run(self) {
        while let Some(pipe) = self.work().await {
            // An error shows again when writing.
            let _ = pipe.writable().await;
            self.change(State::flush);
        }
    }

    /// Waits until there is something to write, and gives the pipe for it.
    async fn work(&self) -> Option<Arc<Sender>> {
        loop {
            {
                let state = self.0.state.lock();
                let pipe = state.pipe.clone()?;
                if !state.queue.is_empty() {
                    return Some(pipe);
                }
            }
            self.0.work.notified().await;
        }
    }

    /// Changes the state, and tells those who wait what that means for them.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.state.lock();
        let result = change(&mut state);
        let over = state.closing || state.broken;
        let work = !state.queue.is_empty() || state.pipe.is_none();
        drop(state);
        if over {
            self.0.room.close();
        }
        if work {
            self.0.work.notify_one();
        }
        result
    }
}

impl WriteError {
    /// Whether the child cannot have seen any of the message.
    pub fn is_unsent(self) -> bool {
        !matches!(self, Self::Broken { begun: true })
    }
}

impl State {
    /// Takes the message if none waits before it.
    fn take_if_first(&mut self, text: &mut Option<Rope>) -> Option<Result<Receipt, WriteError>> {
        let text = text.take_if(|_| self.queue.is_empty())?;
        Some(self.take(text, None))
    }

    fn take(&mut self, text: Rope, room: Option<OwnedSemaphorePermit>) -> Result<Receipt, WriteError> {
        if self.closing || self.broken {
            return Err(self.refusal());
        }
        self.taken += 1;
        let number = self.taken;
        self.queue.push_back(Waiting {
            number,
            text,
            _room: room,
        });
        if self.queue.len() == 1 {
            self.flush();
        }
        if self.broken {
            Err(WriteError::Broken {
                begun: self.begun >= number,
            })
        } else {
            Ok(Receipt(number))
        }
    }

    fn refusal(&self) -> WriteError {
        if self.broken {
            WriteError::Broken { begun: false }
        } else {
            WriteError::Closed
        }
    }

    /// Writes as much as the pipe takes.
    fn flush(&mut self) {
        for _ in 0..ROUNDS {
            match self.write_some() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return self.fail(),
            }
        }
        if self.closing && self.queue.is_empty() {
            self.pipe = None;
        }
    }

    /// Writes once; false when there is nothing to write.
    fn write_some(&mut self) -> io::Result<bool> {
        let Some(pipe) = self.pipe.as_ref().filter(|_| !self.queue.is_empty()) else {
            return Ok(false);
        };
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut filled = 0;
        for waiting in &self.queue {
            filled += waiting.text.chunks_vectored(&mut slices[filled..]);
        }
        let written = pipe.try_write_vectored(&slices[..filled])?;
        self.advance(written);
        Ok(true)
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(first) = self.queue.front_mut().filter(|_| written > 0) {
            let step = written.min(first.text.remaining());
            first.text.advance(step);
            written -= step;
            self.begun = first.number;
            if !first.text.has_remaining() {
                self.queue.pop_front();
            }
        }
    }

    /// The child no longer reads.
    fn fail(&mut self) {
        self.broken = true;
        self.drop_pipe();
    }

    fn close(&mut self) {
        self.closing = true;
        if self.queue.is_empty() {
            self.pipe = None;
        }
    }

    fn drop_pipe(&mut self) {
        self.pipe = None;
        self.queue.clear();
    }
}

/// The message as a line.
fn line(message: Rope) -> Rope {
    let mut line = message.on_one_line();
    line.push(Bytes::from_static(b"\n"));
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe::{self, Receiver};
    use tokio::time::timeout;

    use super::*;

    /// A writer at work, and the other end of its pipe.
    fn writer() -> (Writer, Receiver) {
        let (sender, receiver) = pipe::pipe().unwrap();
        let writer = Writer::new(sender);
        tokio::spawn(writer.clone().run());
        (writer, receiver)
    }

    fn rope(parts: &[&'static str]) -> Rope {
        parts
            .iter()
            .map(|part| Bytes::from_static(part.as_bytes()))
            .collect()
    }

    async fn read_all(mut receiver: Receiver) -> String {
        let mut text = String::new();
        let read = receiver.read_to_string(&mut text);
        timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
        text
    }

    #[tokio::test]
    async fn each_message_is_one_line() {
        let (writer, receiver) = writer();
        writer.send(rope(&["{\"a\":", "1\r\n", "}"])).await.unwrap();
        writer.send(rope(&["{}"])).await.unwrap();
        writer.close();
        assert_eq!(read_all(receiver).await, "{\"a\":1  }\n{}\n");
    }

    #[tokio::test]
    async fn b36_messages_beyond_the_pipe_buffer_arrive_whole_and_in_order() {
        let (writer, receiver) = writer();
        let reading = tokio::spawn(read_all(receiver));
        let mut expected = String::new();
        for n in 0..300 {
            let message = n.to_string().repeat(10_000);
            writer.send(message.clone().into()).await.unwrap();
            expected += &message;
            expected.push('\n');
        }
        writer.close();
        assert!(reading.await.unwrap() == expected);
    }

    #[tokio::test]
    async fn a_full_queue_makes_senders_wait_and_a_dropped_send_is_taken_back() {
        let (writer, receiver) = writer();
        let huge = || Rope::from("x".repeat(20 << 20));
        writer.send(huge()).await.unwrap();
        writer.send(huge()).await.unwrap();
        let mut third = Box::pin(writer.send(rope(&["third"])));
        assert!(futures_util::poll!(&mut third).is_pending());
        drop(third);
        writer.close();
        let text = read_all(receiver).await;
        assert_eq!(text.len(), 2 * ((20 << 20) + 1));
    }

    #[tokio::test]
    async fn b66_a_child_that_no_longer_reads_is_an_ordinary_error() {
        let (writer, receiver) = writer();
        drop(receiver);
        let mut queued = Vec::new();
        let error = loop {
            match writer.send(rope(&["{}"])).await {
                Ok(receipt) => queued.push(receipt),
                Err(error) => break error,
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(error, WriteError::Broken { begun: false });
        assert!(queued.into_iter().all(|receipt| writer.is_unsent(receipt)));
    }

    #[tokio::test]
    async fn lb_03_what_the_pipe_never_took_is_certainly_unsent() {
        let (writer, receiver) = writer();
        let begun = writer.send(Rope::from("x".repeat(1 << 20))).await.unwrap();
        receiver.readable().await.unwrap();
        let queued = writer.send(rope(&["{}"])).await.unwrap();
        assert!(!writer.is_unsent(queued), "it may still be written");
        drop(receiver);
        writer.abandon();
        assert!(writer.is_unsent(queued));
        assert!(!writer.is_unsent(begun));
    }

    #[tokio::test]
    async fn a_closed_writer_refuses() {
        let (writer, receiver) = writer();
        writer.close();
        assert_eq!(writer.send(rope(&["{}"])).await, Err(WriteError::Closed));
        assert_eq!(read_all(receiver).await, "");
    }
}
