//! What the event streams of a session said, kept for a client that lost its connection.
//!
//! A stream outlives the connections it is read on: a [`Writer`] says what there is to say, and the
//! [`Reader`] of the moment passes it on. A reader that comes back begins behind the last event its
//! client has seen; the one before it ends.

mod ring;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcpr_protocol::Rope;
use mcpr_transport::sse;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use self::ring::Ring;

pub(crate) use self::ring::Budget;

/// How long a stream is kept after its end.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);

/// How many streams of requests a session has at the most, those that are kept after their end included.
const STREAMS: usize = 64;

/// The number of the stream for what belongs to no request.
const GENERAL: u64 = 0;

/// The streams of one session.
pub(crate) struct Streams {
    /// What the event ids of the session begin with, so that those of another are recognised.
    session: Box<str>,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    /// The number of the stream that was opened last.
    last: u64,
    streams: BTreeMap<u64, Arc<Stream>>,
    closed: bool,
}

/// What an event id leads to.
pub(crate) enum Resumed {
    /// The rest of the stream of a request.
    Request(Reader),
    /// The stream for what belongs to no request, behind the event of that number.
    General(Option<u64>),
    /// Nothing: all was seen, or it is not kept any more, or it never was of this session.
    Nothing,
}

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
pub(crate) struct Writer(Arc<Stream>);

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

impl Streams {
    /// No streams yet.
    pub(crate) fn new(session: &str) -> Self {
        Self {
            session: session.chars().take(8).collect(),
            all: Mutex::default(),
        }
    }

    /// Opens the stream of a request; `None` if there are too many already, or the session has ended.
    pub(crate) fn open(&self, budget: &Arc<Budget>) -> Option<(Writer, Reader)> {
        let mut all = self.all.lock();
        all.forget_old();
        if all.closed || !all.make_room() {
            return None;
        }
        all.last += 1;
        let number = all.last;
        let stream = self.enter(&mut all, number, budget);
        let reader = stream.read_from(1);
        Some((Writer(stream), reader))
    }

    /// The stream for what belongs to no request.
    pub(crate) fn general(&self, budget: &Arc<Budget>) -> Arc<Stream> {
        let mut all = self.all.lock();
        let known = all.streams.get(&GENERAL).cloned();
        known.unwrap_or_else(|| self.enter(&mut all, GENERAL, budget))
    }

    /// What follows the event of this id.
    pub(crate) fn resume(&self, id: &str) -> Resumed {
        let Some((session, stream, event)) = read_id(id) else {
            return Resumed::General(None);
        };
        let own = session == &*self.session;
        if stream == GENERAL {
            return Resumed::General(own.then_some(event));
        }
        let mut all = self.all.lock();
        all.forget_old();
        let known = all.streams.get(&stream).filter(|_| own);
        known
            .and_then(|stream| stream.resume(event))
            .map_or(Resumed::Nothing, Resumed::Request)
    }

    /// Forgets streams that ended long ago.
    pub(crate) fn forget_old(&self) {
        self.all.lock().forget_old();
    }

    /// Ends all streams at once and forgets what they said.
    pub(crate) fn close(&self) {
        let streams = {
            let mut all = self.all.lock();
            all.closed = true;
            std::mem::take(&mut all.streams)
        };
        streams.values().for_each(|stream| stream.close());
    }

    fn enter(&self, all: &mut All, number: u64, budget: &Arc<Budget>) -> Arc<Stream> {
        let name = format!("{}-{number}-", self.session);
        let stream = Stream::new(name, budget, all.closed);
        if !all.closed {
            all.streams.insert(number, stream.clone());
        }
        stream
    }
}

impl All {
    /// Makes room for one more stream of a request: the one that ended first goes.
    fn make_room(&mut self) -> bool {
        if self.streams.range(1..).count() < STREAMS {
            return true;
        }
        let ended = |(number, stream): (&u64, &Arc<Stream>)| Some((stream.ended_at()?, *number));
        let Some((_, first)) = self.streams.iter().filter_map(ended).min() else {
            return false;
        };
        self.streams.remove(&first);
        true
    }

    fn forget_old(&mut self) {
        let is_old = |stream: &Stream| stream.ended_at().is_some_and(|at| at.elapsed() >= KEPT_FOR);
        self.streams.retain(|_, stream| !is_old(stream));
    }
}

impl Stream {
    fn new(name: String, budget: &Arc<Budget>, closed: bool) -> Arc<Self> {
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
        let asked = event.map(|event| event.saturating_add(1)).filter(|asked| *asked <= next);
        self.read_from(asked.unwrap_or(given))
    }

    /// A reader of what follows an event; `None` if nothing follows any more, or there is no such event.
    fn resume(self: &Arc<Self>, event: u64) -> Option<Reader> {
        let follows = {
            let state = self.state.lock();
            let (asked, next) = (event.saturating_add(1), state.ring.next());
            asked <= next && (state.ended.is_none() || state.kept_from(asked) < next)
        };
        follows.then(|| self.read_from(event + 1))
    }

    fn read_from(self: &Arc<Self>, next: u64) -> Reader {
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

    /// Whether nothing is lost to the reader by saying this much more.
    fn has_room_for(&self, bytes: usize) -> bool {
        let state = self.state.lock();
        let is_behind = |reader: &Position| reader.next < state.ring.next();
        state.ended.is_some() || state.ring.has_room_for(bytes) || !state.reader.as_ref().is_some_and(is_behind)
    }

    fn find(&self, reader: u64) -> Found {
        let mut state = self.state.lock();
        let Some(position) = state.reader.filter(|position| position.reader == reader) else {
            return Found::End; // A newer one has come.
        };
        let number = state.kept_from(position.next);
        let Some(event) = state.ring.get(number).cloned() else {
            return if state.ended.is_some() { Found::End } else { Found::Nothing };
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
    fn close(&self) {
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

    fn ended_at(&self) -> Option<Instant> {
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
            if self.0.has_room_for(message.len()) {
                return self.0.say(message);
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

/// The session, the stream and the event that an id of ours names.
fn read_id(id: &str) -> Option<(&str, u64, u64)> {
    let mut parts = id.splitn(3, '-');
    let session = parts.next()?;
    Some((session, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests;
