//! The heads of requests (RFC 9112, sections 2, 3 and 5).

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version};
use httparse::{Header, ParserConfig, Status};

use super::{Asked, Body, Chunks, Fields, Manner, Refusal, blank, end_of_head};

/// The most header fields that are read.
const FIELDS: usize = 100;
/// Heads are remembered up to this length, in bytes.
const USUAL: usize = 8 * 1024;
/// How long a method may be.
const METHOD: usize = 32;

/// Takes heads off what comes, and remembers the last one: a client mostly says the same again.
pub(super) struct Heads {
    /// The longest head that is read, in bytes.
    most: usize,
    /// How much of what came was looked through.
    seen: usize,
    last: Option<(Bytes, Known)>,
}

/// What a head says.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) asked: Asked,
    /// How long the body is; none of one in chunks.
    length: Option<u64>,
    /// Whether the client waits to be told to send the body.
    pub(super) continues: bool,
}

impl Heads {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            seen: 0,
            last: None,
        }
    }

    /// Takes the head of a request off what came, once all of it is there.
    pub(super) fn take(&mut self, came: &mut BytesMut) -> Result<Option<Known>, Refusal> {
        came.advance(blank(came));
        if came.len() <= self.seen {
            return Ok(None); // Nothing new.
        }
        if let Some((text, known)) = &self.last
            && came.get(..text.len()).is_some_and(|begin| are_alike(begin, text))
        {
            came.advance(text.len());
            self.seen = 0;
            return Ok(Some(known.clone()));
        }
        let Some(length) = end_of_head(came, &mut self.seen) else {
            check_beginning(came)?;
            return match came.len() < self.most {
                true => Ok(None),
                false => Err(self.too_long()),
            };
        };
        self.seen = 0;
        if length > self.most {
            return Err(self.too_long());
        }
        let known = self.read(&came[..length])?;
        came.advance(length);
        Ok(Some(known))
    }

    /// Reads a copy, so that what is remembered of it does not hold what came behind it.
    fn read(&mut self, text: &[u8]) -> Result<Known, Refusal> {
        let text = Bytes::copy_from_slice(text);
        let known = Known::read(&text).map_err(|error| match error {
            Wrong::Many => self.too_long(),
            Wrong::Refused(refusal) => refusal,
        })?;
        self.last = (text.len() <= USUAL).then(|| (text, known.clone()));
        Ok(known)
    }

    fn too_long(&self) -> Refusal {
        Refusal::LongHead {
            limit: self.most,
            fields: FIELDS,
        }
    }
}

/// Why a head is not taken.
enum Wrong {
    /// It has too many fields.
    Many,
    Refused(Refusal),
}

/// Whether two texts of one length are the same, in a time that does not tell where they differ: heads hold tokens, and
/// what stands before this server may send requests of several clients on one connection.
fn are_alike(one: &[u8], other: &[u8]) -> bool {
    let (ones, others) = (one.as_chunks(), other.as_chunks());
    let words = ones.0.iter().zip(others.0);
    let differs = |one: &[u8; 8], other: &[u8; 8]| u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other);
    let seen = words.fold(0, |seen, (one, other)| seen | differs(one, other));
    let rest = ones
        .1
        .iter()
        .zip(others.1)
        .fold(0, |seen, (one, other)| seen | (one ^ other));
    // Nothing is decided before all was looked at.
    black_box(seen | u64::from(rest)) == 0
}

impl Known {
    fn read(text: &Bytes) -> Result<Self, Wrong> {
        let mut room = [const { MaybeUninit::uninit() }; FIELDS];
        let mut parsed = httparse::Request::new(&mut []);
        let read = ParserConfig::default().parse_request_with_uninit_headers(&mut parsed, text, &mut room);
        let (Ok(Status::Complete(_)), Some(method), Some(path), Some(minor)) =
            (read, parsed.method, parsed.path, parsed.version)
        else {
            return Err(read.err().map_or(malformed("it has no end"), Wrong::from));
        };
        let mut fields = Fields::default();
        let mut continues = false;
        for field in &*parsed.headers {
            fields.note(field.name, field.value);
            continues |= field.name.eq_ignore_ascii_case("expect")
                && field.value.eq_ignore_ascii_case(b"100-continue");
        }
        let (mut head, ()) = Request::new(()).into_parts();
        head.method = Method::from_bytes(method.as_bytes()).map_err(|_| malformed("its method is none"))?;
        head.uri = Uri::from_maybe_shared(text.slice_ref(path.as_bytes()))
            .map_err(|_| malformed("its target is no URI"))?;
        head.version = if minor == 0 {
            Version::HTTP_10
        } else {
            Version::HTTP_11
        };
        head.headers = headers(text, parsed.headers)?;
        let length = match fields.body(minor)? {
            Body::Sized(length) => Some(length),
            _ => None,
        };
        let manner = Manner {
            persistent: fields.stays(minor),
            old: minor == 0,
            head_only: head.method == Method::HEAD,
        };
        Ok(Self {
            continues: continues && minor > 0 && length != Some(0),
            length,
            asked: Asked {
                head: Arc::new(head),
                manner,
            },
        })
    }

    pub(super) fn body(&self) -> Body {
        self.length
            .map_or_else(|| Body::Chunked(Chunks::of_request()), Body::Sized)
    }
}

fn headers(text: &Bytes, parsed: &[Header<'_>]) -> Result<HeaderMap, Wrong> {
    let mut headers = HeaderMap::with_capacity(parsed.len());
    for field in parsed {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        let value = HeaderValue::from_maybe_shared(text.slice_ref(field.value));
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(malformed("one of its header fields is none"));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

/// Looks whether it can become a head: who does not speak HTTP at all should hear so before it has said much.
fn check_beginning(came: &[u8]) -> Result<(), Refusal> {
    if came == b"\r" {
        return Ok(()); // It may become an empty line.
    }
    let begun = &came[..came.len().min(METHOD + 1)];
    let word = begun.split(|&byte| byte == b' ').next().unwrap_or_default();
    if word.len() <= METHOD && word.iter().all(|&byte| is_of_token(byte)) && came.first() != Some(&b' ') {
        return Ok(());
    }
    Err(Refusal::Malformed("it does not begin with a method"))
}

/// Whether a method can have it (RFC 9110, section 5.6.2).
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn malformed(what: &'static str) -> Wrong {
    Wrong::Refused(Refusal::Malformed(what))
}

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<httparse::Error> for Wrong {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::TooManyHeaders => Self::Many,
            httparse::Error::Version => Refusal::Version.into(),
            httparse::Error::HeaderName => malformed("the name of a header field is none"),
            httparse::Error::HeaderValue => malformed("the value of a header field is none"),
            httparse::Error::NewLine => malformed("one of its lines does not end as lines do"),
            _ => malformed("its first line is none of a request"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// What is made of a head, in words.
    fn read(text: &str) -> String {
        let mut came = BytesMut::from(text);
        match Heads::new(2048).take(&mut came) {
            Ok(None) => "more".to_owned(),
            Err(refusal) => refusal.status().as_u16().to_string(),
            Ok(Some(known)) => {
                let Manner {
                    persistent,
                    old,
                    head_only,
                } = known.asked.manner;
                let body = known
                    .length
                    .map_or("chunks".to_owned(), |length| length.to_string());
                let notes = [
                    (persistent, " stays"),
                    (old, " old"),
                    (head_only, " head"),
                    (known.continues, " continues"),
                ];
                let notes = notes.iter().filter_map(|(is, note)| is.then_some(*note));
                body + &notes.collect::<String>()
            }
        }
    }

    fn with(fields: &str) -> String {
        read(&format!("POST /mcp HTTP/1.1\r\n{fields}\r\n"))
    }

    #[test]
    fn what_a_head_says_of_the_body_and_the_connection() {
        assert_eq!(with(""), "0 stays");
        assert_eq!(with("Content-Length: 12\r\n"), "12 stays");
        assert_eq!(with("content-length: 12\r\ncontent-length: 12\r\n"), "12 stays");
        assert_eq!(
            with("Transfer-Encoding: chunked\r\nConnection: close\r\n"),
            "chunks"
        );
        assert_eq!(
            with("Expect: 100-Continue\r\nContent-Length: 1\r\n"),
            "1 stays continues"
        );
        assert_eq!(
            with("Expect: 100-continue\r\n"),
            "0 stays",
            "there is nothing to send"
        );
        assert_eq!(
            read("HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            "0 stays old head"
        );
        assert_eq!(
            read("\r\n\n\r\nGET / HTTP/1.0\n\n"),
            "0 old",
            "as other servers take it"
        );
    }

    #[test]
    fn sec_05_what_could_be_read_in_two_ways_is_refused() {
        for fields in [
            "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "Content-Length: 1, 2\r\n",
            "Content-Length: 1, 1\r\n",
            "Content-Length: +1\r\n",
            "Content-Length:\r\n",
            "Transfer-Encoding: chunked, identity\r\n",
            "Transfer-Encoding: \x0bchunked\r\n",
            "Transfer-Encoding : chunked\r\n",
            "A: b\r\n c\r\n",
            " A: b\r\n",
            "A: b\rC: d\r\n",
            "A\0: b\r\n",
        ] {
            assert_eq!(with(fields), "400", "{fields:?}");
        }
        assert_eq!(with("Transfer-Encoding: gzip, chunked\r\n"), "501");
        assert_eq!(
            with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
            "501"
        );
        assert_eq!(
            read("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "400"
        );
    }

    #[test]
    fn other_versions_and_what_is_no_http_hear_so() {
        assert_eq!(read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "505");
        for text in [
            "GET /\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET http://[ HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(read(text), "400", "{text:?}");
        }
        for begun in [
            "\x16\x03\x01",
            " ",
            "{\"jsonrpc\"",
            "SSH-2.0-OpenSSH_9.6-and-so-on-and-on-and-on-and",
        ] {
            assert_eq!(read(begun), "400", "{begun:?} is told before its end");
        }
        for begun in ["", "\r\n", "\n\r", "G", "DELETE /", "M-SEARCH * HTTP/1.1\r\nA"] {
            assert_eq!(read(begun), "more", "{begun:?}");
        }
    }

    #[test]
    fn sec_05_a_head_has_bounds() {
        assert_eq!(with(&format!("A: {}\r\n", "x".repeat(3000))), "431");
        assert_eq!(read(&format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(3000))), "431");
        assert_eq!(with(&"A: b\r\n".repeat(FIELDS)), "0 stays");
        assert_eq!(with(&"A: b\r\n".repeat(FIELDS + 1)), "431");
    }

    #[test]
    fn a_head_that_is_said_again_is_known_and_another_is_read() {
        let text = "POST /a HTTP/1.1\r\nA: b\r\nContent-Length: 0\r\n\r\n";
        let other = text.replace("/a", "/c");
        let mut heads = Heads::new(2048);
        let mut came = BytesMut::from(format!("{text}{text}{other}{text}").as_str());
        let mut take = || heads.take(&mut came).ok().flatten().map(|known| known.asked.head);
        let taken = [take(), take(), take(), take()].map(Option::unwrap);
        let paths = taken.each_ref().map(|head| head.uri.path());
        assert_eq!(paths, ["/a", "/a", "/c", "/a"]);
        assert!(Arc::ptr_eq(&taken[0], &taken[1]) && !Arc::ptr_eq(&taken[0], &taken[3]));
    }

    #[test]
    fn sec_02_two_heads_are_compared_in_a_time_that_does_not_tell_where_they_differ() {
        let text = vec![b'x'; (1 << 20) + 3];
        let other = |place: usize| {
            let mut other = text.clone();
            other[place] = b'y';
            other
        };
        // Of many rounds the quickest is the one that nothing else got in the way of.
        let time = |other: &[u8]| {
            let rounds = (0..50).map(|_| {
                let begun = Instant::now();
                assert!(!are_alike(black_box(&text), black_box(other)));
                begun.elapsed()
            });
            rounds.min().unwrap()
        };
        let places = [0, 7, 8, text.len() / 2, text.len() - 4, text.len() - 1];
        let times = places.map(|place| time(&other(place)));
        assert!(times[5] < 10 * times[0], "{times:?}");
        assert!(are_alike(&text, &text) && are_alike(b"", b"") && are_alike(b"a", b"a"));
    }

    #[test]
    fn a_head_is_taken_when_all_of_it_came_and_nothing_more() {
        let text = b"POST / HTTP/1.1\r\nA: b\r\ncontent-length: 2\r\n\r\n";
        for step in 1..text.len() {
            let mut heads = Heads::new(2048);
            let mut came = BytesMut::from(&text[..step]);
            assert!(heads.take(&mut came).unwrap().is_none());
            came.extend_from_slice(&text[step..]);
            came.extend_from_slice(b"{}");
            let known = heads.take(&mut came).unwrap().unwrap();
            assert_eq!((known.asked.head.headers.len(), &came[..]), (2, &b"{}"[..]));
        }
    }
}
