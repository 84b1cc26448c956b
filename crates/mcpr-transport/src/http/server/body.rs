//! The body of an answer, as the connection reads it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Frame, SizeHint};
use mcpr_protocol::Rope;
use tokio::time::{Instant, Sleep, sleep_until};

use super::pulse::Pulse;
use super::{Content, EventStream};
use crate::sse;

/// The body of one answer; marks the connection as idle when it is gone.
pub(super) struct Body {
    rest: Rest,
    pulse: Arc<Pulse>,
}

/// What is still to be sent.
enum Rest {
    Nothing,
    Text(Rope),
    Events(EventStream, Silence),
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
    pub(super) fn new(content: Content, keep_alive: Duration, pulse: Arc<Pulse>) -> Self {
        let rest = match content {
            Content::Empty => Rest::Nothing,
            Content::Json(text) | Content::Text(text, _) => Rest::Text(text),
            Content::Events(events) => Rest::Events(events, Silence::new(keep_alive)),
        };
        Self { rest, pulse }
    }
}

impl hyper::body::Body for Body {
    type Data = Rope;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Rope>, Infallible>>> {
        let piece = match &mut self.rest {
            Rest::Nothing => None,
            Rest::Text(text) => Some(std::mem::take(text)),
            Rest::Events(events, silence) => ready!(poll_events(events, silence, cx)),
        };
        if !matches!(self.rest, Rest::Events(..)) || piece.is_none() {
            self.rest = Rest::Nothing;
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.rest {
            Rest::Nothing => true,
            Rest::Text(text) => text.is_empty(),
            Rest::Events(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.rest {
            Rest::Nothing => SizeHint::with_exact(0),
            Rest::Text(text) => SizeHint::with_exact(text.len() as u64),
            Rest::Events(..) => SizeHint::default(),
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.pulse.answered();
    }
}

/// The next event as text, or a sign of life when there was none for a while.
fn poll_events(events: &mut EventStream, silence: &mut Silence, cx: &mut Context<'_>) -> Poll<Option<Rope>> {
    if let Poll::Ready(event) = events.as_mut().poll_next(cx) {
        silence.broken();
        return Poll::Ready(event);
    }
    ready!(silence.poll_over(cx));
    let mut comment = Rope::new();
    comment.push_static(sse::KEEP_ALIVE);
    Poll::Ready(Some(comment))
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
