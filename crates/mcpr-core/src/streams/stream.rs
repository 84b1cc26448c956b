//! One stream: who says something on it, and who reads it.

use std::sync::Arc;

use bytes::Bytes;
use mcpr_protocol::Rope;
use mcpr_transport::sse;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::ring::{Budget, Ring};

/// One stream of events.
pub(crate) struct Stream {
    /// What its event ids begin with.
    name: Box<str>,
    state: Mutex<State>,
    /// Wakes readers: there is something new, a newer reader, or an end.
    told: Notify,
    /// Wakes the writer: something was read, or nobody reads any more.
    read: Notify,
}

struct State {
    ring: Ring,
    reader: Option<Position>,
    /// How many readers there were.
    readers: u64,
    /// The number behind the last event that any reader was given.
    given: u64,
    ended: Option<Instant>,
}

/// How far the reader of the moment has got.
#[derive(Clone, Copy)]
struct Position {
    reader: u64,
    next: u64,
}

/// The right to say something on a stream. The stream ends when it is dropped.
pub(crate) struct Writer(pub(super) Arc<Stream>);

/// The right to pass on what a stream says, until a newer reader comes.
pub(crate) struct Reader {
    stream: Arc<Stream>,
    /// Which of its readers this is.
    number: u64,
    /// The number of its first event.
    first: u64,
}

/// What a reader finds.
enum Found {
    Event(Bytes),
    Nothing,
    End,
}

impl Stream {
    pub(super) fn new(name: String, budget: &Arc<Budget>, closed: bool) -> Arc<Self> {
        let state = State {
            ring: Ring::new(budget.clone()),
            reader: None,
            readers: 0,
            given: 1,
            ended: closed.then(Instant::now),
        };
        Arc::new(Self {
            name: name.into(),
            state: Mutex::new(state),
            told: Notify::new(),
            read: Notify::new(),
        })
    }

    /// Says a message; the oldest goes where there is no room.
    pub(crate) fn say(&self, message: Rope) {
        {
            let mut state = self.state.lock();
            if state.ended.is_some() {
                return;
            }
            let id = self.id(state.ring.next());
            state.ring.push(sse::message(Some(&id), message).into_bytes());
            state.settle();
        }
        self.told.notify_waiters();
    }

    /// A reader of all that no reader was given yet, or of what follows an event of that number.
    pub(crate) fn read_after(self: &Arc<Self>, event: Option<u64>) -> Reader {
        let (given, next) = {
            let state = self.state.lock();
            (state.given, state.ring.next())
        };
        let asked = event
            .map(|event| event.saturating_add(1))
            .filter(|asked| *asked <= next);
        self.read_from(asked.unwrap_or(given))
    }

    /// A reader of what follows an event; `None` if nothing follows any more, or there is no such event.
    pub(super) fn resume(self: &Arc<Self>, event: u64) -> Option<Reader> {
        let follows = {
            let state = self.state.lock();
            let (asked, next) = (event.saturating_add(1), state.ring.next());
            asked <= next && (state.ended.is_none() || state.kept_from(asked) < next)
        };
        follows.then(|| self.read_from(event + 1))
    }

    pub(super) fn read_from(self: &Arc<Self>, next: u64) -> Reader {
        let number = {
            let mut state = self.state.lock();
            state.readers += 1;
            let reader = state.readers;
            state.reader = Some(Position { reader, next });
            reader
        };
        self.told.notify_waiters();
        self.read.notify_waiters();
        Reader {
            stream: self.clone(),
            number,
            first: next,
        }
    }

    fn id(&self, event: u64) -> String {
        format!("{}{event}", self.name)
    }

    /// Says a message unless the reader would lose an event by it.
    fn offer(&self, message: &Rope) -> bool {
        {
            let mut state = self.state.lock();
            if state.ended.is_some() {
                return true;
            }
            let id = self.id(state.ring.next());
            let event = sse::message(Some(&id), message.clone()).into_bytes();
            let unread = state.reader.map(|reader| reader.next);
            if unread.is_some_and(|unread| !state.ring.has_room_for(event.len(), unread)) {
                return false;
            }
            state.ring.push(event);
            state.settle();
        }
        self.told.notify_waiters();
        true
    }

    /// Whether nothing is lost to the reader by saying this much more.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        let state = self.state.lock();
        let Some(reader) = &state.reader else { return true };
        state.ended.is_some() || state.ring.has_room_for(bytes, reader.next)
    }

    fn find(&self, reader: u64) -> Found {
        let mut state = self.state.lock();
        let Some(position) = state.reader.filter(|position| position.reader == reader) else {
            return Found::End; // A newer one has come.
        };
        let number = state.kept_from(position.next);
        let Some(event) = state.ring.get(number).cloned() else {
            return if state.ended.is_some() {
                Found::End
            } else {
                Found::Nothing
            };
        };
        let next = number + 1;
        state.reader = Some(Position { reader, next });
        state.given = state.given.max(next);
        Found::Event(event)
    }

    fn leave(&self, reader: u64) {
        {
            let mut state = self.state.lock();
            if state.reader.is_none_or(|position| position.reader != reader) {
                return;
            }
            state.reader = None;
            state.settle();
        }
        self.read.notify_waiters();
    }

    fn end(&self) {
        self.state.lock().ended.get_or_insert_with(Instant::now);
        self.told.notify_waiters();
    }

    /// Ends it; who reads still gets what was said, and nobody else does.
    pub(super) fn close(&self) {
        {
            let mut state = self.state.lock();
            state.ended.get_or_insert_with(Instant::now);
            if state.reader.is_none() {
                state.ring.clear();
            }
        }
        self.told.notify_waiters();
        self.read.notify_waiters();
    }

    pub(super) fn ended_at(&self) -> Option<Instant> {
        self.state.lock().ended
    }
}

impl State {
    /// The number of the first event from this one on that is kept.
    fn kept_from(&self, number: u64) -> u64 {
        number.max(self.ring.oldest())
    }

    /// Keeps nothing for a reader that may never come where memory is short.
    fn settle(&mut self) {
        if self.reader.is_none() && self.ring.is_over_budget() {
            self.ring.clear();
        }
    }
}

impl Writer {
    /// Says a message. Waits for as long as the one who reads would lose an event by it; while nobody
    /// reads, the oldest goes.
    pub(crate) async fn say(&self, message: Rope) {
        loop {
            let read = self.0.read.notified();
            if self.0.offer(&message) {
                return;
            }
            read.await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Reader {
    /// The next event, as it goes out; `None` at the end, or when a newer reader has come. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let told = self.stream.told.notified();
            match self.stream.find(self.number) {
                Found::Event(event) => {
                    self.stream.read.notify_waiters();
                    return Some(event);
                }
                Found::End => return None,
                Found::Nothing => told.await,
            }
        }
    }

    /// The id of the event before the first that it reads.
    pub(crate) fn before(&self) -> String {
        self.stream.id(self.first - 1)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.leave(self.number);
    }
}
