//! The head of an answer (RFC 9112, sections 4 to 6).

use std::mem::MaybeUninit;
use std::ops::Range;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use httparse::{Header, ParserConfig, Response, Status};

use super::{Body, Broken, Chunks, Fields, Length, Transfer, blank, end_of_head};

/// The longest head that is read, in bytes.
const LONGEST: usize = 256 * 1024;
/// The most header fields that are read.
const FIELDS: usize = 128;
/// What a head begins with, so that what is none is found out before its end.
const BEGINNING: &[u8] = b"HTTP/1.";

/// What a server says before the body of its answer.
#[derive(Debug)]
pub(in super::super) struct Head {
    pub(in super::super) status: StatusCode,
    /// All of it, as it came.
    text: Bytes,
    content_type: Option<Range<usize>>,
    keep_alive: Option<Range<usize>>,
    /// Whether a coding is named that is not `identity`.
    pub(in super::super) is_packed: bool,
}

/// How the body of an answer is marked off, and what comes after it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) body: Body,
    /// Whether another request can follow.
    pub(super) persistent: bool,
}

impl Head {
    /// Takes the head off what came, once all of it is there. `seen` is how much of it was looked through
    /// before, and is for this function alone.
    pub(super) fn take(came: &mut BytesMut, seen: &mut usize) -> Result<Option<(Self, Frame)>, Broken> {
        came.advance(blank(came));
        let may_be_blank = came[..] == *b"\r";
        if !may_be_blank && !came.starts_with(&BEGINNING[..BEGINNING.len().min(came.len())]) {
            return Err(Broken::Head(httparse::Error::Version));
        }
        let Some(length) = end_of_head(came, seen) else {
            return if came.len() < LONGEST {
                Ok(None)
            } else {
                Err(Broken::LongHead)
            };
        };
        *seen = 0;
        let text = came.split_to(length).freeze();
        Self::read(text).map(Some)
    }

    fn read(text: Bytes) -> Result<(Self, Frame), Broken> {
        let mut room = [const { MaybeUninit::uninit() }; FIELDS];
        let mut parsed = Response::new(&mut []);
        let read = ParserConfig::default().parse_response_with_uninit_headers(&mut parsed, &text, &mut room);
        let (Status::Complete(_), Some(status), Some(minor)) = (read?, parsed.code, parsed.version) else {
            return Err(Broken::Head(httparse::Error::Status));
        };
        let mut head = Self {
            status: StatusCode::from_u16(status).map_err(|_| Broken::Head(httparse::Error::Status))?,
            text: text.clone(),
            content_type: None,
            keep_alive: None,
            is_packed: false,
        };
        let mut fields = Fields::default();
        for field in &*parsed.headers {
            fields.note(field.name, field.value);
            head.note(field);
        }
        let frame = Frame::of(&fields, head.status, minor)?;
        Ok((head, frame))
    }

    /// Looks at one field; names differ in length, so that one comparison decides for most.
    fn note(&mut self, field: &Header<'_>) {
        let (name, value) = (field.name, field.value);
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            10 if is("keep-alive") => self.keep_alive = Some(self.place_of(value)),
            12 if is("content-type") => {
                self.content_type.get_or_insert(place(&self.text, value));
            }
            16 if is("content-encoding") => self.is_packed |= is_coding(value),
            _ => {}
        }
    }

    fn place_of(&self, value: &[u8]) -> Range<usize> {
        place(&self.text, value)
    }

    /// What the body is said to be.
    pub(in super::super) fn content_type(&self) -> Option<&[u8]> {
        self.content_type.clone().map(|place| &self.text[place])
    }

    /// How the server keeps connections.
    pub(in super::super) fn keep_alive(&self) -> Option<&[u8]> {
        self.keep_alive.clone().map(|place| &self.text[place])
    }

    /// All fields, which is more than most need.
    pub(in super::super) fn headers(&self) -> HeaderMap {
        let mut room = [httparse::EMPTY_HEADER; FIELDS];
        let mut parsed = Response::new(&mut room);
        let _ = parsed.parse(&self.text); // As it was when the head was read.
        let fields = parsed.headers.iter();
        fields
            .filter_map(|field| {
                let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
                let value = HeaderValue::from_bytes(field.value).ok()?;
                Some((name, value))
            })
            .collect()
    }
}

impl Frame {
    /// Where the body ends (RFC 9112, section 6.3); an answer that says it twice is the last one.
    fn of(fields: &Fields, status: StatusCode, minor: u8) -> Result<Self, Broken> {
        let stays = fields.stays(minor);
        let (body, persistent) = match (fields.transfer, fields.length) {
            _ if has_no_body(status) => (Body::Sized(0), stays),
            (Some(Transfer::Chunked | Transfer::Packed), length) => {
                let plain = matches!(length, Length::Unsaid) && minor > 0;
                (Body::Chunked(Chunks::of_answer()), stays && plain)
            }
            (Some(Transfer::Other), _) | (None, Length::Unsaid) => (Body::UntilEnd, false),
            (None, Length::Said(length)) => (Body::Sized(length), stays),
            (None, Length::Senseless) => return Err(Broken::Length),
        };
        Ok(Self { body, persistent })
    }
}

fn has_no_body(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Whether a coding changes a body (RFC 9110, section 8.4).
pub(in super::super) fn is_coding(value: &[u8]) -> bool {
    let plain = value.trim_ascii();
    !plain.is_empty() && !plain.eq_ignore_ascii_case(b"identity")
}

/// Where a part of a text is in it.
fn place(text: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Head, Frame), Broken> {
        let mut came = BytesMut::from(text);
        Head::take(&mut came, &mut 0).map(|head| head.expect("a whole head"))
    }

    /// How the body of an answer with these fields is marked off, and whether the connection stays.
    fn frame(status: &str, fields: &[&str]) -> String {
        let text = format!(
            "{status}\r\n{}\r\n",
            fields
                .iter()
                .map(|field| format!("{field}\r\n"))
                .collect::<String>()
        );
        match read(&text) {
            Ok((_, Frame { body, persistent })) => {
                let body = match body {
                    Body::Sized(length) => length.to_string(),
                    Body::Chunked(_) => "chunked".to_owned(),
                    Body::UntilEnd => "until the end".to_owned(),
                };
                format!("{body}{}", if persistent { ", stays" } else { "" })
            }
            Err(broken) => broken.to_string(),
        }
    }

    #[test]
    fn the_end_of_a_body_is_where_rfc_9112_says() {
        let ok = "HTTP/1.1 200 OK";
        assert_eq!(frame(ok, &["Content-Length: 12"]), "12, stays");
        assert_eq!(
            frame(ok, &["content-length: 12, 12", "CONTENT-LENGTH:12"]),
            "12, stays"
        );
        assert_eq!(frame(ok, &["Transfer-Encoding: gzip, Chunked"]), "chunked, stays");
        assert_eq!(
            frame(ok, &["transfer-encoding: chunked", "content-length: 3"]),
            "chunked"
        );
        assert_eq!(
            frame(ok, &["transfer-encoding: chunked, gzip", "content-length: 3"]),
            "until the end"
        );
        assert_eq!(frame(ok, &["x: y"]), "until the end");
        assert_eq!(
            frame("HTTP/1.1 204 No Content", &["content-length: five"]),
            "0, stays"
        );
        assert_eq!(
            frame("HTTP/1.1 304 Not Modified", &["content-length: five"]),
            "0, stays"
        );
        assert_eq!(
            frame(ok, &["content-length: 1", "connection: Upgrade, close"]),
            "1"
        );
        assert_eq!(frame("HTTP/1.0 200 OK", &["content-length: 1"]), "1");
        assert_eq!(
            frame(
                "HTTP/1.0 200 OK",
                &["content-length: 1", "connection: Keep-Alive"]
            ),
            "1, stays"
        );
        assert_eq!(
            frame(
                "HTTP/1.0 200 OK",
                &["transfer-encoding: chunked", "connection: keep-alive"]
            ),
            "chunked"
        );
    }

    #[test]
    fn lengths_that_are_none_are_refused() {
        for length in ["1, 2", "-1", "+1", "0x1", "1 2", "", "99999999999999999999"] {
            let said = frame("HTTP/1.1 200 OK", &[&format!("content-length: {length}")]);
            assert_eq!(said, "the length of its answer makes no sense", "{length:?}");
        }
        assert_eq!(
            frame("HTTP/1.1 200 OK", &["content-length: 1", "content-length: 2"]),
            "the length of its answer makes no sense"
        );
    }

    #[test]
    fn what_is_said_of_the_body_is_found_in_any_case() {
        let (head, _) = read(
            "HTTP/1.1 200\r\nContent-Type:  text/event-stream; charset=utf-8 \r\nKeep-Alive: timeout=5\r\n\
             Content-Encoding: identity\r\nMcp-Session-Id: a\r\ncontent-length: 0\r\n\r\n",
        )
        .unwrap();
        assert_eq!(head.content_type().unwrap(), b"text/event-stream; charset=utf-8");
        assert_eq!(head.keep_alive().unwrap(), b"timeout=5");
        assert!(!head.is_packed);
        let headers = head.headers();
        assert_eq!(
            (headers.len(), &headers["mcp-session-id"]),
            (5, &HeaderValue::from_static("a"))
        );
        assert!(
            read("HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n")
                .unwrap()
                .0
                .is_packed
        );
    }

    #[test]
    fn a_head_is_taken_when_all_of_it_came_and_nothing_more() {
        let text = b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-length: 2\r\n\r\n";
        for step in 1..text.len() {
            let (mut came, mut seen) = (BytesMut::from(&text[..step]), 0);
            assert!(Head::take(&mut came, &mut seen).unwrap().is_none());
            came.extend_from_slice(&text[step..]);
            came.extend_from_slice(b"{}");
            let (head, _) = Head::take(&mut came, &mut seen).unwrap().unwrap();
            assert_eq!((head.status.as_u16(), &came[..]), (200, &b"{}"[..]));
        }
        assert!(
            read("HTTP/1.1 200 OK\nA: b\n\n").is_ok(),
            "as other clients take it"
        );
    }

    #[test]
    fn what_is_no_head_is_found_out_at_once_and_a_long_one_has_a_bound() {
        let take = |text: &[u8]| Head::take(&mut BytesMut::from(text), &mut 0);
        for text in [
            &b"SSH-2.0-OpenSSH_9.6"[..],
            b"HTTP/2",
            b"h",
            b"\r\nx",
            b"HTTP/1.1 20x OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nno field\r\n\r\n",
        ] {
            assert!(take(text).is_err(), "{text:?}");
        }
        assert!(
            read("\r\nHTTP/1.1 200 OK\r\n\r\n").is_ok(),
            "as other clients take it"
        );
        assert!(take(b"HTT").unwrap().is_none() && take(b"").unwrap().is_none());
        let long = [&b"HTTP/1.1 200 OK\r\nx: "[..], &vec![b'y'; LONGEST]].concat();
        assert!(matches!(take(&long), Err(Broken::LongHead)));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(FIELDS + 1));
        assert!(take(many.as_bytes()).is_err());
    }
}
