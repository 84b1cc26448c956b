//! Messages that wait for the stream of a session that belongs to no request.

use std::collections::VecDeque;

use mcpr_protocol::Rope;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many wait; the oldest give way (SEC-05).
const MOST: usize = 64;

/// The messages for one session.
#[derive(Default)]
pub(crate) struct Post {
    waiting: Mutex<VecDeque<Rope>>,
    bell: Notify,
}

impl Post {
    /// Adds a message.
    pub(crate) fn put(&self, message: Rope) {
        let mut waiting = self.waiting.lock();
        if waiting.len() >= MOST {
            waiting.pop_front();
        }
        waiting.push_back(message);
        drop(waiting);
        self.bell.notify_one();
    }

    /// The next message. Cancel-safe.
    pub(crate) async fn next(&self) -> Rope {
        loop {
            let rung = self.bell.notified();
            let next = self.waiting.lock().pop_front();
            match next {
                Some(message) => return message,
                None => rung.await,
            }
        }
    }
}
