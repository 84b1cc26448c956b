//! What the event streams of a session said, kept for a client that lost its connection.
//!
//! A stream outlives the connections it is read on: a [`Writer`] says what there is to say, and the
//! [`Reader`] of the moment passes it on. A reader that comes back begins behind the last event its
//! client has seen; the one before it ends.

mod ring;
mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

pub(crate) use self::ring::Budget;
pub(crate) use self::stream::{Reader, Stream, Writer};

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

/// The session, the stream and the event that an id of ours names.
fn read_id(id: &str) -> Option<(&str, u64, u64)> {
    let mut parts = id.splitn(3, '-');
    let session = parts.next()?;
    Some((session, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests;
