//! The body of an answer, as whoever sends it reads it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Frame, SizeHint};
use mcpr_protocol::Rope;
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Content, EventStream};
use crate::sse;

/// The body of one answer.
pub(super) enum Body {
    Nothing,
    Text(Rope),
    Events(Events),
}

/// The events of an answer, with a sign of life where there is none for a while.
pub(super) struct Events {
    stream: EventStream,
    silence: Silence,
}

/// Tells when nothing was said for a while.
///
/// The timer is armed when there is first nothing to send, and again only when it fires: an event
/// just notes the time.
struct Silence {
    limit: Duration,
    due: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Body {
    pub(super) fn new(content: Content, keep_alive: Duration) -> Self {
        match content {
            Content::Empty => Self::Nothing,
            Content::Json(text) | Content::Text(text, _) => Self::Text(text),
            Content::Events(stream) => Self::Events(Events::new(stream, keep_alive)),
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Rope;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Rope>, Infallible>>> {
        let piece = match &mut *self {
            Self::Nothing => None,
            Self::Text(text) => Some(std::mem::take(text)),
            Self::Events(events) => ready!(events.poll_next(cx)),
        };
        if !matches!(*self, Self::Events(_)) || piece.is_none() {
            *self = Self::Nothing;
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Text(text) => text.is_empty(),
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Nothing => SizeHint::with_exact(0),
            Self::Text(text) => SizeHint::with_exact(text.len() as u64),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

impl Events {
    pub(super) fn new(stream: EventStream, keep_alive: Duration) -> Self {
        Self {
            stream,
            silence: Silence::new(keep_alive),
        }
    }

    /// The next event as text, or a sign of life when there was none for a while.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Rope>> {
        if let Poll::Ready(event) = self.stream.as_mut().poll_next(cx) {
            self.silence.broken();
            return Poll::Ready(event);
        }
        ready!(self.silence.poll_over(cx));
        let mut comment = Rope::new();
        comment.push_static(sse::KEEP_ALIVE);
        Poll::Ready(Some(comment))
    }
}

impl Silence {
    fn new(limit: Duration) -> Self {
        Self {
            limit,
            due: Instant::now() + limit,
            timer: None,
        }
    }

    /// Something is being said.
    fn broken(&mut self) {
        self.due = Instant::now() + self.limit;
    }

    /// Waits until it is time to say something.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let due = self.due;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        loop {
            ready!(timer.as_mut().poll(cx));
            if self.due <= timer.deadline() {
                self.due = Instant::now() + self.limit;
                timer.as_mut().reset(self.due);
                return Poll::Ready(());
            }
            timer.as_mut().reset(self.due);
        }
    }
}
