//! The bytes of an answer, read as one text or as a stream of events.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::{Sleep, sleep};

use super::http1::Broken;
use super::pool::Wire;
use crate::sse::{Event, Parser};
use crate::{Failed, FailedKind};

/// How long a server may take to say why it refuses: that it does is known already.
const REASONS: Duration = Duration::from_secs(2);

/// The bytes of an answer, and the connection that they come from.
#[derive(Debug)]
pub(super) struct Flow {
    /// None once it was read to its end.
    wire: Option<Wire>,
    keep: Option<Duration>,
}

/// A body that is read to its end.
#[derive(Debug)]
pub(super) struct Whole {
    flow: Flow,
    read: BytesMut,
    limit: usize,
    /// Whether the limit is an error, or just where reading stops.
    strict: bool,
    patience: Patience,
    given: bool,
}

/// How long the end of a text is waited for.
#[derive(Debug)]
enum Patience {
    /// As long as whoever waits for it does.
    Endless,
    /// So long from when there is first nothing; what came by then is all.
    Short(Option<Pin<Box<Sleep>>>),
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
    Broken(Broken),
    TooLong(String),
}

impl Flow {
    /// `keep` is how long the server keeps the connection afterwards, where it says so.
    pub(super) fn new(wire: Wire, keep: Option<Duration>) -> Self {
        Self {
            wire: Some(wire),
            keep,
        }
    }

    /// The next piece; at the end the connection goes back. What is known to be no longer than `whole` bytes
    /// comes in one.
    pub(super) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
        whole: usize,
    ) -> Poll<Option<Result<Bytes, Fault>>> {
        let Some(wire) = &mut self.wire else {
            return Poll::Ready(None);
        };
        Poll::Ready(match ready!(wire.poll_data(cx, whole)) {
            Some(Ok(piece)) => Some(Ok(piece)),
            Some(Err(broken)) => {
                self.wire = None;
                Some(Err(Fault::Broken(broken)))
            }
            None => {
                self.end();
                None
            }
        })
    }

    /// Whether the end is here already; the connection goes back then.
    pub(super) fn is_at_end(&mut self) -> bool {
        if self.wire.as_ref().is_some_and(Wire::is_at_end) {
            self.end();
        }
        self.wire.is_none()
    }

    /// Takes what is there; whether that was the end.
    pub(super) fn drain(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.is_at_end() || matches!(self.poll_data(&mut cx, 0), Poll::Ready(None | Some(Err(_))))
    }

    fn end(&mut self) {
        if let Some(wire) = self.wire.take() {
            wire.give_back(self.keep);
        }
    }

    /// How many bytes the server announces beyond those read.
    fn expected(&self) -> usize {
        let left = self.wire.as_ref().and_then(Wire::left);
        usize::try_from(left.unwrap_or(0)).unwrap_or(usize::MAX)
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
            patience: Patience::Endless,
            given: false,
        }
    }

    /// The same of what is no result: its end is not waited for for long.
    pub(super) fn soon(self) -> Self {
        Self {
            patience: Patience::Short(None),
            ..self
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
        let limit = self.limit;
        let too_long = || Fault::TooLong(format!("the answer is longer than {limit} bytes"));
        if self.strict && self.flow.expected() > self.limit - self.read.len() {
            return Poll::Ready(Err(too_long()));
        }
        let whole = if self.patience.is_endless() { limit } else { 0 };
        loop {
            let piece = match self.flow.poll_data(cx, whole) {
                Poll::Ready(Some(piece)) => piece,
                Poll::Ready(None) => break,
                Poll::Pending => {
                    ready!(self.patience.poll_end(cx));
                    break;
                }
            };
            match piece {
                Err(fault) if self.strict => return Poll::Ready(Err(fault)),
                Err(_) => break,
                Ok(piece) if piece.len() > self.limit - self.read.len() => {
                    if self.strict {
                        return Poll::Ready(Err(too_long()));
                    }
                    self.read
                        .extend_from_slice(&piece[..self.limit - self.read.len()]);
                    break;
                }
                Ok(piece) if self.read.is_empty() && self.flow.is_at_end() => return Poll::Ready(Ok(piece)),
                Ok(piece) => self.read.extend_from_slice(&piece),
            }
        }
        Poll::Ready(Ok(self.read.split().freeze()))
    }

    pub(super) fn into_flow(self) -> Flow {
        self.flow
    }
}

impl Patience {
    fn is_endless(&self) -> bool {
        matches!(self, Self::Endless)
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Endless => Poll::Pending,
            Self::Short(end) => end
                .get_or_insert_with(|| Box::pin(sleep(REASONS)))
                .as_mut()
                .poll(cx),
        }
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
            match ready!(self.flow.poll_data(cx, 0)) {
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
                let detail = format!("{origin} broke off its answer: {error}");
                Failed::maybe_sent(FailedKind::Closed, detail)
            }
            Self::TooLong(what) => Failed::maybe_sent(FailedKind::TooLarge, format!("{origin}: {what}")),
        }
    }
}
