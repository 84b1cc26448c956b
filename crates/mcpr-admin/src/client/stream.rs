//! An answer that comes one thing after the other.

use std::fmt;
use std::marker::PhantomData;

use bytes::{Buf, Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use super::ClientError;
use super::deadline::Deadline;
use super::exchange::Answer;

/// The media type of a stream of events.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// What comes back for a [`Streamed`](crate::Streamed) operation, one thing after the other.
///
/// Dropping it breaks the connection, and with it off a call that is under way.
pub struct Stream<T> {
    source: Source,
    deadline: Deadline,
    things: PhantomData<fn() -> T>,
}

enum Source {
    Events(Box<Answer>, Events),
    /// From a gateway that does not stream this: the one thing there is.
    Whole(Option<Bytes>),
}

/// Takes a stream of server-sent events apart as far as gateways use their grammar (HTML standard,
/// section 9.2): nothing but the data counts, and lines end with LF or CR LF.
#[derive(Default)]
struct Events {
    unread: BytesMut,
    /// How much of it holds no line end.
    looked: usize,
    /// The data of the event that is being read.
    data: Vec<u8>,
}

impl<T: DeserializeOwned> Stream<T> {
    pub(super) async fn of(answer: Answer, deadline: Deadline) -> Result<Self, ClientError> {
        let kind = answer.head.headers.get(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM.as_bytes()));
        let source = match is_stream {
            true => Source::Events(Box::new(answer), Events::default()),
            false => Source::Whole(Some(deadline.keep(answer.rest()).await?)),
        };
        Ok(Self {
            source,
            deadline,
            things: PhantomData,
        })
    }

    /// The next thing; nothing at the end of the stream. Cancel-safe.
    ///
    /// # Errors
    ///
    /// When the connection breaks, the time is over, or what came has another shape.
    pub async fn next(&mut self) -> Result<Option<T>, ClientError> {
        let text = self.deadline.keep(self.source.next()).await?;
        let thing = text.map(|text| serde_json::from_slice(&text));
        thing.transpose().map_err(ClientError::Unreadable)
    }
}

impl<T> fmt::Debug for Stream<T> {
    /// Nothing of what comes through it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream(..)")
    }
}

impl Source {
    async fn next(&mut self) -> hyper::Result<Option<Bytes>> {
        let (answer, events) = match self {
            Self::Events(answer, events) => (answer, events),
            Self::Whole(text) => return Ok(text.take()),
        };
        loop {
            if let Some(data) = events.next() {
                return Ok(Some(data.into()));
            }
            match answer.piece().await? {
                Some(piece) => events.unread.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }
}

impl Events {
    /// The data of the next event, if it is complete.
    fn next(&mut self) -> Option<Vec<u8>> {
        while let Some(line) = self.line() {
            if line.is_empty() && !self.data.is_empty() {
                return Some(std::mem::take(&mut self.data));
            }
            if let Some(data) = line.strip_prefix(b"data:") {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data.trim_ascii_start());
            }
        }
        None
    }

    fn line(&mut self) -> Option<Bytes> {
        let Some(end) = self.unread[self.looked..].iter().position(|byte| *byte == b'\n') else {
            self.looked = self.unread.len();
            return None;
        };
        let mut line = self.unread.split_to(self.looked + end).freeze();
        self.unread.advance(1);
        self.looked = 0;
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ":\n\nevent: message\ndata: {\"n\":1}\n\nid: 7\r\ndata:{\"n\":\r\ndata: 2}\r\n\r\n\
                          retry: 5\n\ndata: {\"n\":3";

    fn read(pieces: impl Iterator<Item = impl AsRef<[u8]>>) -> Vec<String> {
        let mut events = Events::default();
        let mut data = Vec::new();
        for piece in pieces {
            events.unread.extend_from_slice(piece.as_ref());
            data.extend(std::iter::from_fn(|| events.next()));
        }
        data.into_iter()
            .map(|data| String::from_utf8(data).unwrap())
            .collect()
    }

    #[test]
    fn events_are_read_wherever_the_stream_is_cut() {
        let whole = read(std::iter::once(STREAM));

        assert_eq!(
            whole,
            ["{\"n\":1}", "{\"n\":\n2}"],
            "and what is incomplete is none"
        );
        for length in 1..STREAM.len() {
            assert_eq!(
                read(STREAM.as_bytes().chunks(length)),
                whole,
                "in pieces of {length}"
            );
        }
    }
}
