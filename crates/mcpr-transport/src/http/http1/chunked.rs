//! A body that comes in chunks (RFC 9112, section 7.1).

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderName, HeaderValue};
use memchr::memchr;

/// How long a line may be that says how long a chunk is.
const LINE: usize = 4 * 1024;
/// How many digits the longest size has.
const SIZE: usize = 16;
/// How much may come as chunk extensions, and how much behind the last chunk, in bytes.
const ASIDE: usize = 16 * 1024;

/// What came is not chunked as HTTP/1.1 wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its body is not chunked as HTTP/1.1 wants it")]
pub(in super::super) struct NotChunked;

/// What has been read of such a body.
#[derive(Debug)]
pub(in super::super) struct Chunks {
    next: Next,
    /// How much came that is neither data nor size.
    aside: usize,
    /// Whether a line behind the last chunk may end without a return.
    lenient: bool,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// The line that begins a chunk.
    Size,
    /// So many bytes of data.
    Data(u64),
    /// The line end behind the data.
    LineEnd,
    /// A line behind the last chunk.
    Trailer,
    Nothing,
    /// What came is no chunk.
    Wrong,
}

impl Chunks {
    /// The body of an answer: other clients are not strict about what follows its last chunk either.
    pub(in super::super) fn of_answer() -> Self {
        Self {
            next: Next::Size,
            aside: 0,
            lenient: true,
        }
    }

    /// The body of a request, behind which another may follow.
    pub(in super::super) fn of_request() -> Self {
        Self {
            lenient: false,
            ..Self::of_answer()
        }
    }

    /// Whether the last chunk has been read and what follows it.
    pub(in super::super) fn is_at_end(&self) -> bool {
        self.next == Next::Nothing
    }

    /// The next data of what came; `None` where more has to come, or nothing does.
    pub(in super::super) fn take(&mut self, came: &mut BytesMut) -> Result<Option<Bytes>, NotChunked> {
        self.skip_frame(came)?;
        let Next::Data(left) = self.next else {
            return Ok(None);
        };
        let count = usize::try_from(left).map_or(came.len(), |left| left.min(came.len()));
        if count == 0 {
            return Ok(None);
        }
        let data = came.split_to(count).freeze();
        self.next = match left - count as u64 {
            0 => Next::LineEnd,
            left => Next::Data(left),
        };
        // So that the end of the body is known with its last data, if it came with it.
        if self.skip_frame(came).is_err() {
            self.next = Next::Wrong; // Which is told when there is no more data before it.
        }
        Ok(Some(data))
    }

    /// Reads what is not data as far as it came.
    fn skip_frame(&mut self, came: &mut BytesMut) -> Result<(), NotChunked> {
        loop {
            self.next = match self.next {
                Next::Data(_) | Next::Nothing => return Ok(()),
                Next::Wrong => return Err(NotChunked),
                Next::LineEnd if came.len() < 2 => return Ok(()),
                Next::LineEnd => {
                    let is_line_end = came.starts_with(b"\r\n");
                    came.advance(2);
                    is_line_end.then_some(Next::Size).ok_or(NotChunked)?
                }
                Next::Size => match line(came)? {
                    None => return Ok(()),
                    Some(line) => self.begin(&line)?,
                },
                Next::Trailer => match self.trailer(came)? {
                    None => return Ok(()),
                    Some(line) if line.is_empty() => Next::Nothing,
                    Some(line) => self.pass_over(line.len(), Next::Trailer)?,
                },
            };
        }
    }

    /// A chunk begins; what a server says about it beside its size is passed over.
    fn begin(&mut self, line: &[u8]) -> Result<Next, NotChunked> {
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (size, rest) = line.split_at(digits);
        let blank = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let said = &rest[blank..];
        if !(said.is_empty() || said.starts_with(b";")) {
            return Err(NotChunked);
        }
        let size = std::str::from_utf8(size).ok();
        let size = size.and_then(|size| u64::from_str_radix(size, 16).ok());
        let next = match size.ok_or(NotChunked)? {
            0 => Next::Trailer,
            size => Next::Data(size),
        };
        // Leading zeros say nothing either.
        self.pass_over(digits.saturating_sub(SIZE) + rest.len(), next)
    }

    /// The next line behind the last chunk.
    fn trailer(&self, came: &mut BytesMut) -> Result<Option<Bytes>, NotChunked> {
        if !self.lenient {
            let line = line(came)?;
            let wrong = line
                .as_ref()
                .is_some_and(|line| !line.is_empty() && !is_field(line));
            return if wrong { Err(NotChunked) } else { Ok(line) };
        }
        let line = any_line(came)?;
        Ok(line.map(|line| line.slice_ref(line.trim_ascii_end())))
    }

    fn pass_over(&mut self, count: usize, next: Next) -> Result<Next, NotChunked> {
        self.aside += count;
        if self.aside > ASIDE {
            Err(NotChunked)
        } else {
            Ok(next)
        }
    }
}

/// The next line, without its end.
fn line(came: &mut BytesMut) -> Result<Option<Bytes>, NotChunked> {
    let Some(line) = any_line(came)? else {
        return Ok(None);
    };
    match line.strip_suffix(b"\r\n") {
        Some(text) if memchr(b'\r', text).is_none() => Ok(Some(line.slice_ref(text))),
        _ => Err(NotChunked),
    }
}

/// Whether a line is a header field (RFC 9110, section 5).
fn is_field(line: &[u8]) -> bool {
    let colon = memchr(b':', line);
    colon.is_some_and(|colon| {
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        HeaderName::from_bytes(name).is_ok() && HeaderValue::from_bytes(value).is_ok()
    })
}

fn any_line(came: &mut BytesMut) -> Result<Option<Bytes>, NotChunked> {
    match memchr(b'\n', &came[..came.len().min(LINE)]) {
        Some(end) => Ok(Some(came.split_to(end + 1).freeze())),
        None if came.len() < LINE => Ok(None),
        None => Err(NotChunked),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a body that comes in pieces of `step` bytes; its data, and whether it has ended.
    fn read(text: &[u8], step: usize) -> Result<(Vec<u8>, bool), NotChunked> {
        let (mut chunks, mut came, mut data) = (Chunks::of_answer(), BytesMut::new(), Vec::new());
        for piece in text.chunks(step) {
            came.extend_from_slice(piece);
            while let Some(part) = chunks.take(&mut came)? {
                data.extend_from_slice(&part);
            }
        }
        Ok((data, chunks.is_at_end()))
    }

    #[test]
    fn data_is_told_from_its_frame_however_it_comes() {
        let text = b"5\r\nhello\r\n6;who=\"x\"\r\n world\r\n00\r\nx-sum: 1\r\n\r\n";
        for step in 1..=text.len() {
            let (data, ended) = read(text, step).unwrap();
            assert_eq!(
                (&data[..], ended),
                (&b"hello world"[..], true),
                "in steps of {step}"
            );
        }
    }

    #[test]
    fn the_end_is_known_with_the_last_data() {
        let mut came = BytesMut::from(&b"2\r\n{}\r\n0\r\n\r\n"[..]);
        let mut chunks = Chunks::of_answer();
        assert_eq!(chunks.take(&mut came).unwrap().unwrap(), "{}");
        assert!(chunks.is_at_end() && came.is_empty());
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for text in [
            "\r\n",
            "x\r\n",
            "5 5\r\nhello\r\n",
            "5\x0c\r\nhello\r\n",
            "+5\r\nhello\r\n",
            "-1\r\n",
            "5\nhello\r\n",
            "5;\r;\r\nhello\r\n",
            "5\r\nhello!!0\r\n\r\n",
            "5\r\nhello\n\n0\r\n\r\n",
            "10000000000000000\r\n",
        ] {
            assert!(read(text.as_bytes(), 3).is_err(), "{text:?}");
        }
    }

    #[test]
    fn sec_05_behind_the_last_chunk_of_a_request_there_are_fields_or_nothing() {
        let read = |behind: &str| {
            let mut came = BytesMut::from(format!("0\r\n{behind}\r\n").as_str());
            let mut chunks = Chunks::of_request();
            chunks.take(&mut came).map(|_| chunks.is_at_end())
        };
        assert_eq!(read(""), Ok(true));
        assert_eq!(read("a: b\r\nC:d\te\r\n"), Ok(true));
        for wrong in [
            " a: b\r\n",
            "a\r\n",
            "a b: c\r\n",
            ": c\r\n",
            "a: b\n",
            "a: \0\r\n",
            "a:\x0c b\r\n",
        ] {
            assert_eq!(read(wrong), Err(NotChunked), "{wrong:?}");
        }
    }

    #[test]
    fn what_is_beside_the_data_has_a_bound() {
        let long = format!("1;{}\r\n", "x".repeat(LINE));
        assert!(read(long.as_bytes(), 512).is_err());
        let many = format!("1;{}\r\n.\r\n", "x".repeat(1000)).repeat(20);
        assert!(read(many.as_bytes(), 512).is_err());
        let trailers = format!("0\r\n{}", format!("x: {}\r\n", "y".repeat(1000)).repeat(20));
        assert!(read(trailers.as_bytes(), 512).is_err());
    }

    proptest! {
        #[test]
        fn steps_make_no_difference(text in "[0-3]?\r?\n?[ab;\r\n0-9]{0,20}(0\r\n\r\n)?", step in 1usize..8) {
            let (whole, stepwise) = (read(text.as_bytes(), text.len().max(1)), read(text.as_bytes(), step));
            prop_assert_eq!(whole.is_ok(), stepwise.is_ok());
            if let (Ok(whole), Ok(stepwise)) = (whole, stepwise) {
                prop_assert_eq!(whole, stepwise);
            }
        }
    }
}
