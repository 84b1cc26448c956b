//! An answer on its way out.

use std::future::poll_fn;
use std::io;
use std::ops::ControlFlow;
use std::task::{Context, Poll};
use std::time::Duration;

use http::StatusCode;
use http::header::{CONNECTION, DATE};
use mcpr_protocol::Rope;

use super::{Line, Manner, Piece, date};
use crate::http::server::body::Events;
use crate::http::server::{Content, Reply};

/// How long a head usually is at most.
const HEAD: usize = 320;
/// How many bytes of events go out at once, if they are there.
const BATCH: usize = 16 * 1024;
/// The end of a body in chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// How an answer is told.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Telling {
    pub(in super::super) manner: Manner,
    /// Whether it is the last one on the connection.
    pub(in super::super) last: bool,
    /// After how long a silence an event stream gets a comment.
    pub(in super::super) keep_alive: Duration,
}

/// How the body is marked off.
#[derive(Clone, Copy)]
enum Framing {
    /// There is none, and none can be.
    Bodiless,
    Sized(usize),
    Chunked,
    /// It goes on until the connection ends.
    UntilEnd,
}

impl Telling {
    /// Tells all of an answer; whether another request can follow.
    pub(in super::super) async fn tell(mut self, line: &Line, reply: Reply) -> bool {
        self.last |= reply
            .headers
            .get(CONNECTION)
            .is_some_and(|option| option == "close");
        let framing = self.framing(&reply);
        self.last |= matches!(framing, Framing::UntilEnd);
        let head = self.head(&reply, framing);
        let told = match reply.content {
            Content::Events(_) if self.manner.head_only => write(line, head, &Rope::new()).await,
            Content::Events(events) => {
                let events = Events::new(events, self.keep_alive);
                stream(line, head, events, framing).await
            }
            Content::Json(text) | Content::Text(text, _) if !self.manner.head_only => {
                write(line, head, &text).await
            }
            _ => write(line, head, &Rope::new()).await,
        };
        told.is_ok() && !self.last
    }

    fn framing(self, reply: &Reply) -> Framing {
        match &reply.content {
            Content::Empty if is_bodiless(reply.status) => Framing::Bodiless,
            Content::Empty => Framing::Sized(0),
            Content::Json(text) | Content::Text(text, _) => Framing::Sized(text.len()),
            Content::Events(_) if self.manner.old => Framing::UntilEnd,
            Content::Events(_) => Framing::Chunked,
        }
    }

    /// All of an answer before its body.
    fn head(self, reply: &Reply, framing: Framing) -> Vec<u8> {
        let mut head = Vec::with_capacity(HEAD + room(&reply.content));
        head.extend_from_slice(b"HTTP/1.1 ");
        head.extend_from_slice(reply.status.as_str().as_bytes());
        head.push(b' ');
        head.extend_from_slice(reply.status.canonical_reason().unwrap_or_default().as_bytes());
        head.extend_from_slice(b"\r\n");
        for (name, value) in reply.content.fields() {
            push(&mut head, name, value.as_bytes());
        }
        match framing {
            Framing::Sized(length) => push(
                &mut head,
                "content-length",
                itoa::Buffer::new().format(length).as_bytes(),
            ),
            Framing::Chunked => push(&mut head, "transfer-encoding", b"chunked"),
            Framing::Bodiless | Framing::UntilEnd => {}
        }
        for (name, value) in reply.headers.iter().filter(|(name, _)| *name != CONNECTION) {
            push(&mut head, name.as_str(), value.as_bytes());
        }
        match (self.last, self.manner.old) {
            (true, _) => push(&mut head, CONNECTION.as_str(), b"close"),
            (false, true) => push(&mut head, CONNECTION.as_str(), b"keep-alive"),
            (false, false) => {}
        }
        push(&mut head, DATE.as_str(), &date::now());
        head.extend_from_slice(b"\r\n");
        head
    }
}

/// How much room is made behind the head for a body that is copied there.
fn room(content: &Content) -> usize {
    match content {
        Content::Json(text) | Content::Text(text, _) => text.len().min(4 * 1024),
        Content::Empty | Content::Events(_) => 0,
    }
}

/// Whether an answer of this status has no body, not even an empty one (RFC 9110, section 8.6).
fn is_bodiless(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

fn push(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    head.extend_from_slice(name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(value);
    head.extend_from_slice(b"\r\n");
}

/// What a client hears that asks whether it should send the body.
pub(super) fn go_on() -> Piece {
    Piece::new(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), &Rope::new())
}

async fn write(line: &Line, head: Vec<u8>, body: &Rope) -> io::Result<()> {
    let mut piece = Piece::new(head, body);
    poll_fn(|cx| line.poll_tell(cx, &mut piece)).await
}

/// Tells events as they come, the head at once, until they end or the client leaves.
async fn stream(line: &Line, head: Vec<u8>, mut events: Events, framing: Framing) -> io::Result<()> {
    let chunked = matches!(framing, Framing::Chunked);
    let mut going = Going {
        piece: None,
        text: head,
        ended: false,
    };
    poll_fn(|cx| {
        loop {
            if let Some(piece) = &mut going.piece {
                match line.poll_tell(cx, piece) {
                    Poll::Ready(Ok(())) => going.piece = None,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return gone(line, cx),
                }
            }
            if going.gather(&mut events, chunked, cx).is_break() {
                return match going.ended {
                    true => Poll::Ready(Ok(())),
                    false => gone(line, cx),
                };
            }
        }
    })
    .await
}

/// What of a stream goes out next.
struct Going {
    piece: Option<Piece>,
    /// What is not yet a piece.
    text: Vec<u8>,
    ended: bool,
}

impl Going {
    /// Makes a piece of what there is to tell; stops where there is nothing.
    fn gather(&mut self, events: &mut Events, chunked: bool, cx: &mut Context<'_>) -> ControlFlow<()> {
        let mut large = Rope::new();
        while !self.ended && large.is_empty() && self.text.len() < BATCH {
            match events.poll_next(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => {
                    self.ended = true;
                    if chunked {
                        self.text.extend_from_slice(LAST_CHUNK);
                    }
                }
                Poll::Ready(Some(event)) if event.is_empty() => {}
                Poll::Ready(Some(event)) => large = self.add(event, chunked),
            }
        }
        if self.text.is_empty() && large.is_empty() {
            return ControlFlow::Break(());
        }
        self.piece = Some(Piece::new(std::mem::take(&mut self.text), &large));
        ControlFlow::Continue(())
    }

    /// Adds an event; what of it is too large to be copied is given back, to go out behind the text.
    fn add(&mut self, mut event: Rope, chunked: bool) -> Rope {
        if chunked {
            self.text
                .extend_from_slice(format!("{:x}\r\n", event.len()).as_bytes());
            event.push_static("\r\n");
        }
        if event.len() > BATCH {
            return event;
        }
        event.parts().for_each(|part| self.text.extend_from_slice(part));
        Rope::new()
    }
}

/// Waits, or ends because the client has left.
fn gone(line: &Line, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    line.poll_gone(cx)
        .map(|()| Err(io::ErrorKind::ConnectionReset.into()))
}
