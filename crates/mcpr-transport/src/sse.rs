//! Server-sent events: the parser of a stream, and what a server writes into one.
//!
//! The grammar is that of the HTML standard, section 9.2 (lines end with LF, CRLF or CR; comments;
//! data over several lines; an event counts only when an empty line ends it).

use std::borrow::Cow;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use mcpr_protocol::Rope;

/// One event with data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// What kind of event; `None` stands for `message`.
    pub name: Option<Box<str>>,
    /// Its data, lines joined by LF; never empty.
    pub data: Bytes,
}

/// An event is longer than the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an event of the stream is longer than {limit} bytes")]
pub struct EventTooLong {
    /// How long one may be.
    pub limit: usize,
}

/// Reads a stream of events as its bytes come in.
///
/// Give it a piece with [`Parser::push`], then call [`Parser::next`] until it gives nothing. An
/// event that lies in one piece on one line is a slice of that piece, not a copy.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    /// What is still to be read of the current piece.
    piece: Bytes,
    /// The beginning of a line whose end has not come yet.
    partial: BytesMut,
    after_cr: bool,
    started: bool,
    name: Option<Box<str>>,
    data: Data,
    id: Option<Bytes>,
    last_id: Option<Bytes>,
    retry: Option<Duration>,
    events: u64,
}

/// The data lines of the event that is being read.
#[derive(Debug)]
enum Data {
    None,
    Line(Bytes),
    Lines(BytesMut),
}

impl Event {
    /// Whether this is an ordinary message.
    pub fn is_message(&self) -> bool {
        self.name.as_deref().is_none_or(|name| name == "message")
    }
}

impl Parser {
    /// A parser for events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            piece: Bytes::new(),
            partial: BytesMut::new(),
            after_cr: false,
            started: false,
            name: None,
            data: Data::None,
            id: None,
            last_id: None,
            retry: None,
            events: 0,
        }
    }

    /// A parser for the continuation of a stream.
    pub fn resumed(limit: usize, last_id: Bytes, retry: Option<Duration>) -> Self {
        Self {
            last_id: Some(last_id),
            retry,
            ..Self::new(limit)
        }
    }

    /// Takes the next piece of the stream.
    pub fn push(&mut self, piece: Bytes) {
        if self.piece.is_empty() {
            self.piece = piece;
        } else {
            self.piece = [std::mem::take(&mut self.piece), piece].concat().into();
        }
    }

    /// The next event with data, if it is complete.
    ///
    /// # Errors
    ///
    /// When an event is over the limit; the parser is of no more use then.
    #[expect(clippy::should_implement_trait, reason = "nothing now is not nothing ever")]
    pub fn next(&mut self) -> Result<Option<Event>, EventTooLong> {
        while let Some(line) = self.line()? {
            if !line.is_empty() {
                self.field(&line)?;
            } else if let Some(event) = self.dispatch() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The id of the last complete event that had one: from where the stream can be resumed.
    pub fn last_id(&self) -> Option<&Bytes> {
        self.last_id.as_ref()
    }

    /// How long the server asks to wait before reconnecting.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// How many events came, those without data included.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn line(&mut self) -> Result<Option<Bytes>, EventTooLong> {
        if std::mem::take(&mut self.after_cr) && !self.skip_line_feed() {
            return Ok(None);
        }
        let Some(end) = memchr::memchr2(b'\n', b'\r', &self.piece) else {
            return self.keep().map(|()| None);
        };
        let head = self.piece.split_to(end);
        self.after_cr = self.piece[0] == b'\r';
        self.piece.advance(1);
        self.check(head.len())?;
        Ok(Some(self.complete(head)))
    }

    /// Passes over the second half of a CRLF; false if it is not known yet whether there is one.
    fn skip_line_feed(&mut self) -> bool {
        match self.piece.first() {
            Some(b'\n') => self.piece.advance(1),
            Some(_) => {}
            None => self.after_cr = true,
        }
        !self.after_cr
    }

    /// Puts the rest of the piece aside, as the beginning of a line.
    fn keep(&mut self) -> Result<(), EventTooLong> {
        self.check(self.piece.len())?;
        self.partial.extend_from_slice(&self.piece);
        self.piece.clear();
        Ok(())
    }

    fn check(&self, more: usize) -> Result<(), EventTooLong> {
        let whole = self.data.len() + self.partial.len() + more;
        let limit = self.limit;
        if whole <= limit {
            Ok(())
        } else {
            Err(EventTooLong { limit })
        }
    }

    fn complete(&mut self, rest: Bytes) -> Bytes {
        let mut line = rest;
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(&line);
            line = self.partial.split().freeze();
        }
        if !std::mem::replace(&mut self.started, true) && line.starts_with("\u{feff}".as_bytes()) {
            line.advance("\u{feff}".len());
        }
        line
    }

    fn field(&mut self, line: &Bytes) -> Result<(), EventTooLong> {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        match &line[..colon] {
            b"data" => self.data.add(value),
            b"event" => self.name = Some(lossy(&value).into()),
            b"id" if !value.contains(&0) => self.id = Some(value),
            b"retry" => self.retry = milliseconds(&value).or(self.retry),
            _ => {} // A comment, or a field of the future.
        }
        self.check(0)
    }

    fn dispatch(&mut self) -> Option<Event> {
        self.events += 1;
        if let Some(id) = self.id.take() {
            self.last_id = (!id.is_empty()).then_some(id);
        }
        let name = self.name.take().filter(|name| !name.is_empty());
        let data = std::mem::replace(&mut self.data, Data::None).into_bytes();
        // Events without data only set the id and the time to wait (MCP 2025-11-25, transports).
        (!data.is_empty()).then_some(Event { name, data })
    }
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Line(line) => line.len(),
            Self::Lines(lines) => lines.len(),
        }
    }

    fn add(&mut self, line: Bytes) {
        match self {
            Self::None => *self = Self::Line(line),
            Self::Line(first) => *self = Self::Lines([&first[..], b"\n", &line].concat().as_slice().into()),
            Self::Lines(lines) => {
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&line);
            }
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::None => Bytes::new(),
            Self::Line(line) => line,
            Self::Lines(lines) => lines.freeze(),
        }
    }
}

fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

fn milliseconds(text: &[u8]) -> Option<Duration> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(text).ok().filter(|_| digits)?;
    text.parse().ok().map(Duration::from_millis)
}

/// A comment, which keeps a silent stream alive.
pub const KEEP_ALIVE: &str = ":\n\n";

/// The event that carries one JSON text, with an id where the stream can be resumed.
pub fn message(id: Option<&str>, json: Rope) -> Rope {
    let mut event = Rope::new();
    event.push_static("event: message\n");
    if let Some(id) = id {
        event.push(format!("id: {id}\n"));
    }
    event.push_static("data: ");
    event.append(json.on_one_line());
    event.push_static("\n\n");
    event
}

/// The event without data that a resumable stream begins with (MCP 2025-11-25, transports).
pub fn priming(id: &str, retry: Option<Duration>) -> Rope {
    let retry = retry.map_or_else(String::new, |retry| format!("retry: {}\n", retry.as_millis()));
    Rope::from(format!("id: {id}\n{retry}data:\n\n"))
}

/// An event with a name and one line of data, such as the `endpoint` of HTTP+SSE (2024-11-05).
pub fn named(name: &str, line: &str) -> Rope {
    Rope::from(format!("event: {name}\ndata: {line}\n\n"))
}

#[cfg(test)]
mod tests;
