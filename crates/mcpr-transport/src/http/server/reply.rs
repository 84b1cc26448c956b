//! What goes back to a client.

use std::fmt;
use std::pin::Pin;

use futures_util::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use mcpr_protocol::Rope;

/// The answer to one request.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// Headers beside those that follow from the content (`Content-Type`, `Content-Length`, the
    /// ones of an event stream) and from the `Origin`.
    pub headers: HeaderMap,
    /// The body.
    pub content: Content,
}

/// The body of an answer.
pub enum Content {
    /// None.
    Empty,
    /// One JSON text, written in one go.
    Json(Rope),
    /// Another text, and its media type.
    Text(Rope, &'static str),
    /// Server-sent events, each written when it comes.
    ///
    /// The headers go out at once, and a comment whenever nothing was sent for
    /// [`Limits::keep_alive`](super::Limits::keep_alive). The answer ends with the stream.
    Events(EventStream),
}

/// The events of an answer, each as the text that [`sse::message`](crate::sse::message) or
/// [`sse::priming`](crate::sse::priming) writes.
pub type EventStream = Pin<Box<dyn Stream<Item = Rope> + Send>>;

impl Reply {
    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self::new(status, Content::Empty)
    }

    /// An answer with one JSON text.
    pub fn json(status: StatusCode, body: impl Into<Rope>) -> Self {
        Self::new(status, Content::Json(body.into()))
    }

    /// An answer with a text of that media type; its status is 200.
    pub fn text(text: String, kind: &'static str) -> Self {
        Self::new(
            StatusCode::OK,
            Content::Text(bytes::Bytes::from(text).into(), kind),
        )
    }

    /// An answer that is a stream of events; its status is 200.
    pub fn events(events: impl Stream<Item = Rope> + Send + 'static) -> Self {
        Self::new(StatusCode::OK, Content::Events(Box::pin(events)))
    }

    /// The same answer with one more header.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    fn new(status: StatusCode, content: Content) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            content,
        }
    }
}

/// What makes an event stream pass through what stands between.
const UNDELAYED: &[(&str, &str)] = &[("cache-control", "no-cache"), ("x-accel-buffering", "no")];

impl Content {
    /// The header fields that follow from what the body is.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (kind, more) = match self {
            Self::Empty => (None, &[][..]),
            Self::Json(_) => (Some("application/json"), &[][..]),
            Self::Text(_, kind) => (Some(*kind), &[][..]),
            Self::Events(_) => (Some("text/event-stream"), UNDELAYED),
        };
        let kind = kind.map(|kind| ("content-type", kind));
        kind.into_iter().chain(more.iter().copied())
    }
}

impl fmt::Debug for Content {
    /// Only the kind and the size; payloads never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Json(text) | Self::Text(text, _) => write!(f, "Text({} bytes)", text.len()),
            Self::Events(_) => f.write_str("Events(..)"),
        }
    }
}
