//! A stream of events that a client can come back to.

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::client::Voice;

/// Everything that was ever said on it, and who hears it now.
pub(crate) struct Stream {
    /// What tells it from the other streams of its session.
    number: usize,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    said: Vec<Bytes>,
    listener: Option<UnboundedSender<Bytes>>,
    finished: bool,
}

/// How soon a client should come back, in milliseconds.
const RETRY_MS: u32 = 100;

impl Stream {
    /// A stream; a primed one can be come back to before anything was said.
    pub(crate) fn new(number: usize, primed: bool) -> Self {
        let stream = Self {
            number,
            now: Mutex::default(),
        };
        if primed {
            stream.push(&format!("retry: {RETRY_MS}\ndata: \n\n"));
        }
        stream
    }

    /// What is said from the event with this index on.
    pub(crate) fn hear(&self, from: usize) -> UnboundedReceiver<Bytes> {
        let (sender, receiver) = unbounded_channel();
        let mut now = self.now.lock();
        for event in now.said.iter().skip(from) {
            // The receiver is here.
            let _ = sender.send(event.clone());
        }
        now.listener = Some(sender).filter(|_| !now.finished);
        receiver
    }

    /// What is said from now on, unless somebody hears it already.
    pub(crate) fn hear_alone(&self) -> Option<UnboundedReceiver<Bytes>> {
        let now = self.now.lock();
        let heard = now
            .listener
            .as_ref()
            .is_some_and(|listener| !listener.is_closed());
        let end = now.said.len();
        drop(now);
        (!heard).then(|| self.hear(end))
    }

    /// Says no more.
    pub(crate) fn finish(&self) {
        let mut now = self.now.lock();
        now.finished = true;
        now.listener = None;
    }

    fn push(&self, event: &str) {
        let mut now = self.now.lock();
        let event = Bytes::from(format!("id: {}-{}\n{event}", self.number, now.said.len()));
        now.said.push(event.clone());
        if let Some(listener) = &now.listener {
            // Who has left may come back.
            let _ = listener.send(event);
        }
    }
}

impl Voice for Stream {
    fn say(&self, message: &Value) {
        self.push(&format!("event: message\ndata: {message}\n\n"));
    }

    fn hang_up(&self) {
        self.now.lock().listener = None;
    }
}

/// The stream of an event's id, and the index of the next event.
pub(crate) fn after(event_id: &str) -> Option<(usize, usize)> {
    let (number, index) = event_id.split_once('-')?;
    Some((number.parse().ok()?, index.parse::<usize>().ok()? + 1))
}
