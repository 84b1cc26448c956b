//! Messages on their way to a client on a pipe.
//!
//! So many wait, and so many bytes of them; then those who have something to say wait with it. A
//! client that does not read holds up what is said to it and nothing else (SEC-05).

use std::io;
use std::sync::Arc;

use mcpr_protocol::Rope;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many messages wait to be written.
const MESSAGES: usize = 256;

/// The bytes that may wait, in pieces of this many.
const PIECE: usize = 16 * 1024;

/// How many pieces there are: 16 MiB. One message alone may be larger.
const PIECES: u32 = 1024;

/// Where messages are said.
pub(super) struct Lines {
    queue: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// What was said and is not written yet.
pub(super) struct Queue(mpsc::Receiver<Waiting>);

struct Waiting {
    message: Rope,
    _room: OwnedSemaphorePermit,
}

/// The way from those who say something to [`Queue::write`].
pub(super) fn channel() -> (Lines, Queue) {
    let (queue, waiting) = mpsc::channel(MESSAGES);
    let room = Arc::new(Semaphore::new(PIECES as usize));
    (Lines { queue, room }, Queue(waiting))
}

impl Lines {
    /// Says a message, once there is room for it. A client that is gone hears nothing.
    pub(super) async fn say(&self, message: Rope) {
        let room = tokio::select! {
            room = self.room_for(message.len()) => room,
            () = self.queue.closed() => return,
        };
        let waiting = Waiting { message, _room: room };
        let _ = self.queue.send(waiting).await;
    }

    /// Waits until there is room for a small message, or the client is gone.
    pub(super) async fn has_room(&self) {
        let room = async {
            drop(self.room_for(0).await);
            drop(self.queue.reserve().await);
        };
        tokio::select! {
            () = room => {}
            () = self.queue.closed() => {}
        }
    }

    /// Resolves when the client no longer reads.
    pub(super) async fn closed(&self) {
        self.queue.closed().await;
    }

    async fn room_for(&self, bytes: usize) -> OwnedSemaphorePermit {
        let pieces = u32::try_from(bytes / PIECE).unwrap_or(PIECES).saturating_add(1);
        let room = self.room.clone().acquire_many_owned(pieces.min(PIECES));
        room.await.expect("the room is never closed")
    }
}

impl Queue {
    /// Writes messages as lines, flushed when no other waits; ends with the last of those who say
    /// something, or when the client no longer reads.
    pub(super) async fn write(mut self, mut output: impl AsyncWrite + Unpin) {
        while let Some(Waiting { message, _room }) = self.0.recv().await {
            let written = write_line(&mut output, message).await;
            if written.is_err() || (self.0.is_empty() && output.flush().await.is_err()) {
                return;
            }
        }
    }
}

async fn write_line(output: &mut (impl AsyncWrite + Unpin), message: Rope) -> io::Result<()> {
    let mut line = message.on_one_line();
    line.push_static("\n");
    output.write_all_buf(&mut line).await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    fn message(bytes: usize) -> Rope {
        Rope::from("x".repeat(bytes))
    }

    #[tokio::test]
    async fn sec_05_who_speaks_waits_where_so_much_waits_already() {
        let (lines, queue) = channel();
        for _ in 0..15 {
            lines.say(message(1 << 20)).await;
        }
        assert!(lines.has_room().now_or_never().is_some());
        assert!(
            lines.say(message(1 << 20)).now_or_never().is_none(),
            "16 MiB and what each line needs are more than there is room for"
        );
        drop(queue);
        lines.say(message(1)).await;
    }

    #[tokio::test]
    async fn one_message_may_be_larger_than_the_room() {
        let (lines, queue) = channel();
        let (output, mut client) = duplex(1 << 20);
        let said = async {
            lines.say(message(20 << 20)).await;
            lines.say(message(1)).await;
            drop(lines);
        };
        let mut read = Vec::new();

        let (_, read_all, ()) = tokio::join!(said, client.read_to_end(&mut read), queue.write(output));

        assert_eq!((read_all.unwrap(), read.len()), ((20 << 20) + 3, (20 << 20) + 3));
    }

    #[tokio::test]
    async fn a_client_that_is_gone_holds_nobody_up() {
        let (lines, queue) = channel();
        for _ in 0..MESSAGES {
            lines.say(message(1)).await;
        }
        assert!(lines.has_room().now_or_never().is_none());
        drop(queue);
        lines.has_room().await;
        lines.say(message(PIECE * 2000)).await;
        lines.closed().await;
    }
}
