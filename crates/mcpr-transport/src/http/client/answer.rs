//! The answer to an HTTP request: its head, and its messages as they come.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderValue};
use tokio::time::timeout;

use super::flow::{Events, Flow, Whole};
use super::http1::{Head, is_coding};
use super::link::Link;
use super::pool::{self, Wire};
use crate::Failed;
use crate::compact::compact;
use crate::sse::{Event, Parser};

/// How much is read of an answer that nobody parses.
const EXCERPT: usize = 4096;
/// How long a stream may take to end after its last message, so that its connection can be used again.
const ENDING: Duration = Duration::from_secs(1);

/// The answer to a request.
///
/// Reading it to the end gives its connection back; dropping it before closes the connection.
#[derive(Debug)]
pub struct Answer {
    /// What the server says about the request.
    pub status: StatusCode,
    media: Media,
    /// Boxed, because an answer is handed on several times before it is read.
    parts: Box<(Head, Body)>,
    link: Link,
}

/// What a body is said to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Media {
    /// One JSON text.
    Json,
    /// A stream of events.
    Events,
    /// Something else, or not said.
    Other,
}

#[derive(Debug)]
enum Body {
    Whole(Whole),
    Events(Events),
}

impl Media {
    /// What a content type names, in any case and whatever its parameters are (RFC 9110, section 8.3.1).
    fn named(content_type: &[u8]) -> Self {
        let essence = content_type
            .split(|&byte| byte == b';')
            .next()
            .unwrap_or_default();
        match essence.trim_ascii() {
            json if json.eq_ignore_ascii_case(b"application/json") => Self::Json,
            events if events.eq_ignore_ascii_case(b"text/event-stream") => Self::Events,
            _ => Self::Other,
        }
    }
}

/// How a body is packed, where it is.
pub(super) struct Coding<'h>(&'h HeaderValue);

impl<'h> Coding<'h> {
    /// The coding that a server says its body has, such as `gzip` (RFC 9110, section 8.4).
    pub(super) fn of(headers: &'h HeaderMap) -> Option<Self> {
        let codings = headers.get_all(header::CONTENT_ENCODING).iter();
        let mut packed = codings.filter(|coding| is_coding(coding.as_bytes()));
        packed.next().map(Self)
    }
}

impl fmt::Display for Coding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = self.0.as_bytes().iter().filter(|byte| byte.is_ascii_graphic());
        let shown: String = letters.take(40).map(|byte| char::from(*byte)).collect();
        f.write_str(&shown)
    }
}

impl Answer {
    pub(super) fn new(head: Head, wire: Wire, link: &Link) -> Self {
        let media = match head.content_type() {
            Some(content_type) if !head.is_packed => Media::named(content_type),
            _ => Media::Other, // Nobody asked for a coding, and what it unpacks to has no bound.
        };
        let flow = Flow::new(wire, head.keep_alive().and_then(pool::keep_alive));
        let body = match media {
            Media::Events if head.status.is_success() => Body::Events(Events::new(flow, link.limits().event)),
            Media::Json if head.status.is_success() => Body::Whole(Whole::strict(flow, link.limits().body)),
            Media::Json => Body::Whole(Whole::strict(flow, link.limits().body).soon()),
            _ => Body::Whole(Whole::excerpt(flow, EXCERPT).soon()),
        };
        Self {
            status: head.status,
            media,
            parts: Box::new((head, body)),
            link: link.clone(),
        }
    }

    /// The header fields.
    pub fn headers(&self) -> HeaderMap {
        self.parts.0.headers()
    }

    /// What the body is said to be.
    pub fn media(&self) -> Media {
        self.media
    }

    /// Whether messages come one by one.
    pub fn is_stream(&self) -> bool {
        matches!(self.parts.1, Body::Events(_))
    }

    /// The next message, unparsed; `None` at the end. Cancel-safe.
    ///
    /// Of a stream of events only those with the name `message`, or none, are messages. Of a body
    /// that is neither a stream nor JSON, this is the first part.
    ///
    /// # Errors
    ///
    /// When the connection breaks, or the message is over its limit.
    pub async fn next(&mut self) -> Option<Result<Bytes, Failed>> {
        poll_fn(|cx| self.poll_message(cx)).await
    }

    /// The next message, for those who poll.
    pub fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failed>>> {
        loop {
            match ready!(self.poll_event(cx)) {
                Some(Ok(event)) if !event.is_message() => {}
                event => return Poll::Ready(event.map(|event| event.map(|event| event.data))),
            }
        }
    }

    /// From where the stream can be resumed.
    pub fn last_event_id(&self) -> Option<&Bytes> {
        self.parser()?.last_id()
    }

    /// How long the server asks to wait before that.
    pub fn retry(&self) -> Option<Duration> {
        self.parser()?.retry()
    }

    /// The next event, whatever its name; a body that is no stream is one event.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Failed>>> {
        let next = match &mut self.parts.1 {
            Body::Events(events) => ready!(events.poll_event(cx)),
            Body::Whole(whole) => {
                let text = ready!(whole.poll_once(cx));
                text.map(|text| {
                    text.map(|data| Event {
                        name: None,
                        data: compact(data),
                    })
                })
            }
        };
        Poll::Ready(next.map(|event| event.map_err(|fault| fault.failed(self.link.origin()))))
    }

    /// Whether any event came, be it one without data.
    pub(super) fn is_stirring(&self) -> bool {
        self.parser().is_some_and(|parser| parser.events() > 0)
    }

    /// Makes this the continuation of a stream that had got to `last_id`.
    pub(super) fn continues(&mut self, last_id: Bytes, retry: Option<Duration>) {
        if let Body::Events(events) = &mut self.parts.1 {
            events.parser = Parser::resumed(self.link.limits().event, last_id, retry);
        }
    }

    /// Takes no more from the answer, and gives its connection back if the end is near.
    pub(super) fn release(self) {
        let mut flow = match self.parts.1 {
            Body::Whole(whole) => whole.into_flow(),
            Body::Events(events) => events.into_flow(),
        };
        if flow.drain() {
            return;
        }
        let end = async move { while let Some(Ok(_)) = poll_fn(|cx| flow.poll_data(cx, 0)).await {} };
        let stop = self.link.stop().child_token();
        self.link
            .tasks()
            .spawn(stop.run_until_cancelled_owned(timeout(ENDING, end)));
    }

    fn parser(&self) -> Option<&Parser> {
        match &self.parts.1 {
            Body::Events(events) => Some(&events.parser),
            Body::Whole(_) => None,
        }
    }
}
