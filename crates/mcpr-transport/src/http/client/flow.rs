//! The bytes of an answer, read as one text or as a stream of events.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame};
use hyper::body::Incoming;

use super::pool::Wire;
use super::verdict;
use crate::sse::{Event, Parser};
use crate::{Failed, FailedKind};

/// The bytes of an answer, and the connection that they come from.
#[derive(Debug)]
pub(super) struct Flow {
    incoming: Incoming,
    wire: Option<Wire>,
    keep: Option<Duration>,
    ended: bool,
}

/// A body that is read to its end.
#[derive(Debug)]
pub(super) struct Whole {
    flow: Flow,
    read: BytesMut,
    limit: usize,
    /// Whether the limit is an error, or just where reading stops.
    strict: bool,
    given: bool,
}

/// A body that is a stream of events.
#[derive(Debug)]
pub(super) struct Events {
    flow: Flow,
    pub(super) parser: Parser,
}

/// Why a body cannot be read on.
#[derive(Debug)]
pub(super) enum Fault {
    Broken(hyper::Error),
    TooLong(String),
}

impl Flow {
    /// `keep` is how long the server keeps the connection afterwards, where it says so.
    pub(super) fn new(incoming: Incoming, wire: Wire, keep: Option<Duration>) -> Self {
        Self {
            incoming,
            wire: Some(wire),
            keep,
            ended: false,
        }
    }

    /// The next piece; at the end the connection goes back.
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Fault>>> {
        while !self.ended {
            match ready!(self.poll_frame(cx)) {
                None => self.end(),
                Some(Err(error)) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(Fault::Broken(error))));
                }
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Some(Ok(piece)));
                    }
                }
            }
        }
        Poll::Ready(None)
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let incoming = &mut self.incoming;
        match &mut self.wire {
            Some(wire) => wire
                .carrier
                .poll_for(cx, |cx| Pin::new(&mut *incoming).poll_frame(cx)),
            None => Pin::new(incoming).poll_frame(cx),
        }
    }

    /// Whether the end is here already; the connection goes back then.
    pub(super) fn is_at_end(&mut self) -> bool {
        if !self.ended && self.incoming.is_end_stream() {
            self.end();
        }
        self.ended
    }

    /// Takes what is there; whether that was the end.
    pub(super) fn drain(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.is_at_end() || matches!(self.poll_data(&mut cx), Poll::Ready(None | Some(Err(_))))
    }

    fn end(&mut self) {
        self.ended = true;
        if let Some(wire) = self.wire.take() {
            wire.give_back(self.keep);
        }
    }

    /// How many bytes the server announces beyond those read.
    fn expected(&self) -> usize {
        usize::try_from(self.incoming.size_hint().lower()).unwrap_or(usize::MAX)
    }
}

impl Whole {
    /// A text that must not be longer than `limit`.
    pub(super) fn strict(flow: Flow, limit: usize) -> Self {
        Self {
            flow,
            read: BytesMut::new(),
            limit,
            strict: true,
            given: false,
        }
    }

    /// The first `limit` bytes of a text.
    pub(super) fn excerpt(flow: Flow, limit: usize) -> Self {
        Self {
            strict: false,
            ..Self::strict(flow, limit)
        }
    }

    /// The text once, if there is any.
    pub(super) fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Fault>>> {
        if self.given {
            return Poll::Ready(None);
        }
        let text = ready!(self.poll_text(cx));
        self.given = true;
        Poll::Ready(match text {
            Ok(text) if text.is_empty() => None,
            text => Some(text),
        })
    }

    /// Reads to the end; what comes in one piece is not copied.
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, Fault>> {
        while let Some(piece) = ready!(self.flow.poll_data(cx)) {
            match piece {
                Err(fault) if self.strict => return Poll::Ready(Err(fault)),
                Err(_) => break,
                Ok(piece) if self.read.len() + piece.len() > self.limit => {
                    if self.strict {
                        let fault = format!("the answer is longer than {} bytes", self.limit);
                        return Poll::Ready(Err(Fault::TooLong(fault)));
                    }
                    self.read
                        .extend_from_slice(&piece[..self.limit - self.read.len()]);
                    break;
                }
                Ok(piece) if self.read.is_empty() && self.flow.is_at_end() => return Poll::Ready(Ok(piece)),
                Ok(piece) => self.add(&piece),
            }
        }
        Poll::Ready(Ok(self.read.split().freeze()))
    }

    fn add(&mut self, piece: &[u8]) {
        let rest = self.limit - self.read.len() - piece.len();
        self.read.reserve(piece.len() + self.flow.expected().min(rest));
        self.read.extend_from_slice(piece);
    }

    pub(super) fn into_flow(self) -> Flow {
        self.flow
    }
}

impl Events {
    pub(super) fn new(flow: Flow, limit: usize) -> Self {
        Self {
            flow,
            parser: Parser::new(limit),
        }
    }

    /// The next event that has data; `None` at the end of the stream.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Fault>>> {
        loop {
            match self.parser.next() {
                Ok(Some(event)) => return Poll::Ready(Some(Ok(event))),
                Err(error) => return Poll::Ready(Some(Err(Fault::TooLong(error.to_string())))),
                Ok(None) => {}
            }
            match ready!(self.flow.poll_data(cx)) {
                Some(Ok(piece)) => self.parser.push(piece),
                Some(Err(fault)) => return Poll::Ready(Some(Err(fault))),
                None => return Poll::Ready(None),
            }
        }
    }

    pub(super) fn into_flow(self) -> Flow {
        self.flow
    }
}

impl Fault {
    pub(super) fn failed(&self, origin: &dyn std::fmt::Display) -> Failed {
        match self {
            Self::Broken(error) => {
                let detail = format!("{origin} broke off its answer: {}", verdict::innermost(error));
                Failed::maybe_sent(FailedKind::Closed, detail)
            }
            Self::TooLong(what) => Failed::maybe_sent(FailedKind::TooLarge, format!("{origin}: {what}")),
        }
    }
}
