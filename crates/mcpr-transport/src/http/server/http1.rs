//! A connection of HTTP/1.1 from a client (RFC 9112), run by the task that answers on it.
//!
//! It knows requests and answers and nothing of what they mean. One request at a time is answered; what comes of the
//! next is kept until then. Where the RFC leaves it open how a doubtful request is read, it is refused: what stands
//! before this server may read it in another way, and take the end of it for a request of somebody else.

mod arrival;
mod date;
mod head;
mod told;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::request::Parts;
use parking_lot::Mutex;
use tokio_util::io::poll_read_buf;

pub(super) use arrival::Arrival;
pub(super) use told::Telling;

use super::Refusal;
use super::wire::Wire;
use crate::http::http1::{Body, Chunks, Fields, Length, NotChunked, Piece, Transfer, blank, end_of_head};
use head::Heads;

/// How much is read at once where nothing is known of what comes, in bytes.
const LITTLE: usize = 4 * 1024;
/// How much is read at once at most; an announcement alone costs no more.
const MUCH: usize = 64 * 1024;
/// An answer may not have been read to its end if it was larger, in bytes: as much goes out at once on any connection.
const LARGE: usize = 16 * 1024;
/// How much is kept of what comes before the answer to what came before, in bytes.
const AHEAD: usize = 16 * 1024;

/// One connection, as whoever answers on it and the body of its request share it: they have their turns in one task.
/// Nothing happens on it but within a poll, and dropping it closes it.
pub(super) struct Line(Mutex<State>);

struct State {
    wire: Wire,
    /// What came and was not taken yet.
    came: BytesMut,
    /// How large the buffer of that was made.
    reserved: usize,
    /// How much was written of the answer.
    written: usize,
    heads: Heads,
    /// What is still to come of the request that is answered.
    body: Body,
    /// What the client wants to be told before it sends the body.
    interim: Option<Piece>,
    /// Whether whoever takes the body waits for more of it.
    wanted: bool,
}

/// A request without its body.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) head: Arc<Parts>,
    pub(super) manner: Manner,
}

/// How a request wants to be answered, as far as the connection is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    /// Whether another request can follow.
    pub(super) persistent: bool,
    /// Whether it is of HTTP/1.0, which knows no chunks.
    pub(super) old: bool,
    /// Whether it wants the head of the answer only.
    pub(super) head_only: bool,
}

/// Why there is no more of a body.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the client closed the connection before the end of its request")]
    Closed,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Chunk(#[from] NotChunked),
}

impl Manner {
    /// Of what cannot be understood.
    pub(super) const LAST: Self = Self {
        persistent: false,
        old: false,
        head_only: false,
    };
}

impl Line {
    /// A connection; heads longer than `most` bytes are refused.
    pub(super) fn new(wire: Wire, most: usize) -> Self {
        Self(Mutex::new(State::new(wire, most)))
    }

    /// The head of the next request; none when the client has left.
    pub(super) fn poll_asked(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Asked, Refusal>>> {
        self.0.lock().poll_asked(cx)
    }

    /// Whether nothing has come of a next request.
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.lock().came.is_empty()
    }

    /// Waits for the client to leave; what it sends meanwhile is kept, up to a bound.
    ///
    /// While a part of the body is waited for, that is who hears of it.
    pub(super) fn poll_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.lock().poll_gone(cx)
    }

    /// Writes a piece of an answer.
    pub(super) fn poll_tell(&self, cx: &mut Context<'_>, piece: &mut Piece) -> Poll<io::Result<()>> {
        self.0.lock().poll_tell(cx, piece)
    }

    /// What was told is taken to have been read.
    pub(super) fn forget_told(&self) {
        self.0.lock().written = 0;
    }

    /// Says that it ends, and waits for what must come before that.
    pub(super) fn poll_end(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = &mut *self.0.lock();
        if state.written > LARGE || !state.came.is_empty() {
            state.wire.ends_gently();
        }
        tokio::io::AsyncWrite::poll_shutdown(Pin::new(&mut state.wire), cx)
    }
}

impl State {
    fn new(wire: Wire, most: usize) -> Self {
        Self {
            wire,
            came: BytesMut::new(),
            reserved: 0,
            written: 0,
            heads: Heads::new(most),
            body: Body::Sized(0),
            interim: None,
            wanted: false,
        }
    }

    fn poll_asked(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Asked, Refusal>>> {
        loop {
            match self.heads.take(&mut self.came) {
                Err(refusal) => return Poll::Ready(Some(Err(refusal))),
                Ok(Some(known)) => {
                    self.body = known.body();
                    self.written = 0;
                    self.interim = known.continues.then(told::go_on);
                    return Poll::Ready(Some(Ok(known.asked)));
                }
                Ok(None) if self.came.is_empty() => {}
                Ok(None) => self.wire.heard(),
            }
            match ready!(self.poll_read(cx, LITTLE)) {
                Ok(count) if count > 0 => {}
                _ => return Poll::Ready(None),
            }
        }
    }

    /// The next data of the body of the request, `None` at its end.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        self.wanted = false;
        loop {
            match self.body.take(&mut self.came) {
                Ok(Some(data)) => return Poll::Ready(Some(Ok(data))),
                Ok(None) if self.body.is_at_end() => return Poll::Ready(None),
                Ok(None) => {}
                Err(wrong) => return Poll::Ready(Some(Err(wrong.into()))),
            }
            self.wanted = true;
            ready!(self.poll_go_on(cx))?;
            let most = self
                .body
                .left()
                .map_or(LITTLE, |left| usize::try_from(left).unwrap_or(MUCH));
            match ready!(self.poll_read(cx, most.clamp(LITTLE, MUCH))) {
                Ok(0) => return Poll::Ready(Some(Err(Broken::Closed))),
                Ok(_) => self.wanted = false,
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }

    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.wanted && self.came.len() < AHEAD {
            match ready!(self.poll_read(cx, 1)) {
                Ok(count) if count > 0 => {}
                _ => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    fn poll_tell(&mut self, cx: &mut Context<'_>, piece: &mut Piece) -> Poll<io::Result<()>> {
        // What was begun must be ended before something else is said.
        if self.interim.as_ref().is_some_and(Piece::has_begun) {
            ready!(self.poll_go_on(cx))?;
        }
        let told = piece.poll_write(&mut self.wire, cx);
        self.written += piece.take_written();
        told
    }

    /// Tells a client that asks first to send the body, if none of it came.
    fn poll_go_on(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(interim) = &mut self.interim else {
            return Poll::Ready(Ok(()));
        };
        if self.came.is_empty() || interim.has_begun() {
            ready!(interim.poll_write(&mut self.wire, cx))?;
        }
        self.interim = None;
        Poll::Ready(Ok(()))
    }

    /// Reads what comes, with room for at least a quarter of what is wanted; 0 is the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, wanted: usize) -> Poll<io::Result<usize>> {
        self.make_room(wanted);
        poll_read_buf(Pin::new(&mut self.wire), cx, &mut self.came)
    }

    fn make_room(&mut self, wanted: usize) {
        // What is left of its capacity says nothing of a buffer whose beginning was taken.
        if self.came.is_empty() && self.reserved > 2 * LITTLE && wanted <= LITTLE {
            (self.came, self.reserved) = (BytesMut::new(), 0);
        }
        let room = self.came.capacity() - self.came.len();
        if room <= wanted / 4 {
            self.came.reserve(wanted.max(LITTLE / 4));
            self.reserved = self.reserved.max(self.came.capacity());
        }
    }
}

impl Fields {
    /// Where the body of a request ends (section 6.3), or why that cannot be said.
    fn body(&self, minor: u8) -> Result<Body, Refusal> {
        let doubtful = |what| Err(Refusal::Malformed(what));
        match (self.transfer, self.length) {
            _ if self.listed => doubtful("its Content-Length is a list"),
            (None, Length::Unsaid) => Ok(Body::Sized(0)),
            (None, Length::Said(length)) => Ok(Body::Sized(length)),
            (_, Length::Senseless) => doubtful("its Content-Length is no number, or several"),
            (Some(_), Length::Said(_)) => doubtful("it has a Content-Length and a Transfer-Encoding"),
            (Some(_), _) if minor == 0 => doubtful("HTTP/1.0 knows no Transfer-Encoding"),
            (Some(Transfer::Chunked), _) => Ok(Body::Chunked(Chunks::of_request())),
            (Some(Transfer::Packed), _) => Err(Refusal::Coding),
            (Some(Transfer::Other), _) => doubtful("its Transfer-Encoding does not end with `chunked`"),
        }
    }
}
