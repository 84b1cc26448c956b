//! Messages that wait for the stream of a session that belongs to no request.

use std::collections::VecDeque;

use mcpr_protocol::Rope;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many wait; the oldest give way (SEC-05).
const MOST: usize = 64;

/// How many bytes of them; one alone may be larger.
const BYTES: usize = 1024 * 1024;

/// The messages for one session.
#[derive(Default)]
pub(crate) struct Post {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Rope>,
    bytes: usize,
}

impl Post {
    /// Adds a message.
    pub(crate) fn put(&self, message: Rope) {
        self.waiting.lock().put(message);
        self.bell.notify_one();
    }

    /// The next message. Cancel-safe.
    pub(crate) async fn next(&self) -> Rope {
        loop {
            let rung = self.bell.notified();
            let next = self.waiting.lock().take();
            match next {
                Some(message) => return message,
                None => rung.await,
            }
        }
    }
}

impl Waiting {
    fn put(&mut self, message: Rope) {
        self.bytes += message.len();
        self.messages.push_back(message);
        while self.messages.len() > MOST || (self.bytes > BYTES && self.messages.len() > 1) {
            self.take();
        }
    }

    fn take(&mut self) -> Option<Rope> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_05_the_oldest_of_too_many_or_too_long_messages_give_way() {
        let mut waiting = Waiting::default();
        (0..2 * MOST).for_each(|_| waiting.put(Rope::from("x".to_owned())));
        assert_eq!((waiting.messages.len(), waiting.bytes), (MOST, MOST));

        waiting.put(Rope::from("x".repeat(BYTES)));
        assert_eq!((waiting.messages.len(), waiting.bytes), (1, BYTES));
        waiting.put(Rope::from("y".to_owned()));
        assert_eq!(waiting.take().unwrap().into_bytes(), "y");
        assert!(waiting.take().is_none() && waiting.bytes == 0);
    }
}
