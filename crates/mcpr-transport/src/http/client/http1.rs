//! A connection of HTTP/1.1 to a server (RFC 9112), run by the task that uses it.
//!
//! It knows requests and answers and nothing of what they mean. One request at a time is on it; its answer is
//! read to the end before the next.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Bytes, BytesMut};
use futures_util::task::AtomicWaker;
use http::StatusCode;
use mcpr_protocol::Rope;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::io::poll_read_buf;

pub(super) use broken::{Broken, Lost};
pub(super) use head::{Head, is_coding};
use outgoing::Outgoing;

use crate::http::http1::{Body, Chunks, Fields, Length, NotChunked, Piece, Transfer, blank, end_of_head};

mod broken;
mod head;
mod outgoing;
#[cfg(test)]
mod tests;

/// How much is read at once where nothing is known of what comes, in bytes.
const LITTLE: usize = 4 * 1024;
/// How much is read at once at most.
const MUCH: usize = 256 * 1024;
/// How much is read before other tasks have their turn, in bytes.
const TURN: usize = 512 * 1024;
/// How many answers may come that only tell of another one.
const INFORMED: u32 = 32;

/// What bytes go to and fro on.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// One connection. Nothing happens on it but within a poll, and dropping it closes it.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    going: Outgoing,
    /// What came and was not taken yet.
    came: BytesMut,
    stage: Stage,
    /// Whether another request can follow the answer that comes.
    persistent: bool,
    /// How much is read at once.
    pace: usize,
    /// How much was read in this turn.
    turn: usize,
    end: Arc<End>,
}

#[derive(Debug)]
enum Stage {
    /// No request is under way.
    Rest,
    /// A request is; so much of what came was `seen`, and so many answers told of the one to come.
    Asked { seen: usize, informed: u32 },
    /// An answer comes.
    Answered(Body),
    /// It cannot be used any more.
    Over,
}

/// The connections that there are, to end them all.
#[derive(Debug, Default)]
pub(super) struct Open(Mutex<Vec<Weak<End>>>);

/// Where a connection is told to end.
#[derive(Debug, Default)]
struct End {
    told: AtomicBool,
    user: AtomicWaker,
}

impl Connection {
    /// A connection at rest, that ends with `all`.
    pub(super) fn new(stream: impl Stream, all: &Open) -> Self {
        let end = Arc::<End>::default();
        all.add(&end);
        Self {
            stream: Box::new(stream),
            going: Outgoing::default(),
            came: BytesMut::new(),
            stage: Stage::Rest,
            persistent: true,
            pace: LITTLE,
            turn: 0,
            end,
        }
    }

    /// Sends a request on a connection at rest: as much of it as is taken at once, and what is left while its
    /// answer is waited for.
    ///
    /// `head` is all of the request before its body.
    pub(super) fn send(&mut self, head: Vec<u8>, body: &Rope) {
        debug_assert!(matches!(self.stage, Stage::Rest), "one request at a time");
        self.going = Outgoing::new(head, body);
        self.stage = Stage::Asked { seen: 0, informed: 0 };
        self.pace = LITTLE;
        self.turn = 0;
        // Whoever waits for the answer is woken from then on.
        self.going
            .write(&mut self.stream, &mut Context::from_waker(Waker::noop()));
    }

    /// The head of the answer.
    pub(super) fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, Lost>> {
        let head = ready!(self.poll_final_head(cx));
        Poll::Ready(head.map_err(|why| {
            self.stage = Stage::Over;
            let unsent = !self.going.has_begun();
            Lost { why, unsent }
        }))
    }

    /// Answers that only tell of another to come (1xx) are passed over.
    fn poll_final_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, Broken>> {
        loop {
            let Stage::Asked { seen, informed } = &mut self.stage else {
                return Poll::Ready(Err(Broken::Closed));
            };
            match Head::take(&mut self.came, seen)? {
                Some((head, _)) if head.status == StatusCode::SWITCHING_PROTOCOLS => {
                    return Poll::Ready(Err(Broken::Switched));
                }
                Some((head, _)) if head.status.is_informational() => {
                    *informed += 1;
                    if *informed > INFORMED {
                        return Poll::Ready(Err(Broken::Informed));
                    }
                }
                Some((head, frame)) => {
                    self.stage = Stage::Answered(frame.body);
                    self.persistent = frame.persistent;
                    return Poll::Ready(Ok(head));
                }
                None => ready!(self.poll_go_on(cx, None))?,
            }
        }
    }

    /// The next data of the body, `None` at its end. A body that is known to be no longer than `whole` bytes
    /// comes in one piece.
    pub(super) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
        whole: usize,
    ) -> Poll<Option<Result<Bytes, Broken>>> {
        let data = ready!(self.poll_part(cx, whole));
        if data.is_err() {
            self.stage = Stage::Over;
        }
        Poll::Ready(data.transpose())
    }

    fn poll_part(&mut self, cx: &mut Context<'_>, whole: usize) -> Poll<Result<Option<Bytes>, Broken>> {
        loop {
            let Stage::Answered(body) = &mut self.stage else {
                return Poll::Ready(Ok(None));
            };
            let missing = body.missing(self.came.len(), whole);
            if missing.is_none() {
                let data = body.take(&mut self.came)?;
                if data.is_some() || body.is_at_end() {
                    return Poll::Ready(Ok(data));
                }
            }
            let goes_on = matches!(body, Body::UntilEnd);
            match ready!(self.poll_go_on(cx, missing)) {
                Err(Broken::Closed) if goes_on => {
                    self.stage = Stage::Over;
                    return Poll::Ready(Ok(None));
                }
                gone_on => gone_on?,
            }
        }
    }

    /// Whether the body of the answer has been taken to its end.
    pub(super) fn is_at_end(&self) -> bool {
        match &self.stage {
            Stage::Answered(body) => body.is_at_end(),
            _ => true,
        }
    }

    /// How many bytes of the body are still to be taken, where that was said.
    pub(super) fn left(&self) -> Option<u64> {
        match &self.stage {
            Stage::Answered(body) => body.left(),
            _ => Some(0),
        }
    }

    /// Gets it ready for the next request, once the answer was taken to its end; `stir` is woken when
    /// something happens to it until then. Whether it can be used again.
    pub(super) fn rest(&mut self, stir: &Waker) -> bool {
        // What came without having been asked for is nobody's answer.
        let clean = self.persistent && self.going.is_done() && self.came.is_empty() && self.is_at_end();
        if !clean || matches!(self.stage, Stage::Over) {
            self.stage = Stage::Over;
            return false;
        }
        self.came = BytesMut::new();
        self.going = Outgoing::default();
        self.stage = Stage::Rest;
        self.is_still(stir)
    }

    /// Whether it rests still and can take a request; `stir` is woken when something happens to it.
    pub(super) fn is_still(&mut self, stir: &Waker) -> bool {
        let mut room = [0];
        let mut room = ReadBuf::new(&mut room);
        let read = Pin::new(&mut self.stream).poll_read(&mut Context::from_waker(stir), &mut room);
        // Whatever it says now, it does not say it to anybody.
        if read.is_ready() || self.end.is_told() {
            self.stage = Stage::Over;
        }
        matches!(self.stage, Stage::Rest)
    }

    /// The stream behind an answer that has no body, unless something came on it already.
    pub(super) fn into_stream(self) -> Option<Box<dyn Stream>> {
        self.came.is_empty().then_some(self.stream)
    }

    /// Writes what is left of the request, and reads; ready when something came.
    ///
    /// `missing` is how much is known to come.
    fn poll_go_on(&mut self, cx: &mut Context<'_>, missing: Option<usize>) -> Poll<Result<(), Broken>> {
        self.going.write(&mut self.stream, cx);
        if let Some(error) = self.going.take_refusal() {
            return Poll::Ready(Err(error.into()));
        }
        if self.turn >= TURN {
            self.turn = 0;
            if self.end.is_told() {
                return Poll::Ready(Err(Broken::Stopped));
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.make_room(missing);
        let room = self.came.capacity() - self.came.len();
        match poll_read_buf(Pin::new(&mut self.stream), cx, &mut self.came) {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(Broken::Closed)),
            Poll::Ready(Ok(count)) => {
                self.turn += count;
                if count == room {
                    self.pace = (self.pace * 4).min(MUCH);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error.into())),
            Poll::Pending if self.end.is_told_to(cx) => Poll::Ready(Err(Broken::Stopped)),
            Poll::Pending => {
                self.turn = 0;
                Poll::Pending
            }
        }
    }

    /// What is announced gets its place step by step: an announcement costs a server nothing.
    fn make_room(&mut self, missing: Option<usize>) {
        let room = self.came.capacity() - self.came.len();
        let wanted = missing.map_or(self.pace, |missing| missing.min(self.came.len().max(MUCH)));
        let enough = if missing.is_some() { wanted } else { wanted / 2 };
        if room < enough {
            self.came.reserve(wanted);
        }
    }
}

impl Open {
    /// Ends all connections that there are; what is under way on them fails.
    pub(super) fn end(&self) {
        let ends = std::mem::take(&mut *self.0.lock());
        ends.iter().filter_map(Weak::upgrade).for_each(|end| end.tell());
    }

    fn add(&self, end: &Arc<End>) {
        let mut ends = self.0.lock();
        if ends.len() == ends.capacity() {
            ends.retain(|end| end.strong_count() > 0);
        }
        ends.push(Arc::downgrade(end));
    }
}

impl End {
    fn tell(&self) {
        self.told.store(true, Ordering::Release);
        self.user.wake();
    }

    fn is_told(&self) -> bool {
        self.told.load(Ordering::Acquire)
    }

    /// Whether it is told already; if not, the task is woken when it is.
    fn is_told_to(&self, cx: &Context<'_>) -> bool {
        self.user.register(cx.waker());
        self.is_told()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({:?})", self.stage)
    }
}
