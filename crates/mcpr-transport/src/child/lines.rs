//! Reads a stream line by line, with a limit and without copies.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line that is taken unless said otherwise: 16 MiB.
pub const LINE_MAX: usize = 16 << 20;

/// One line of a stream, without its end. Blank lines are not reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// A line of UTF-8 text. Its bytes are a slice of the buffer that they were read into.
    Text(Bytes),
    /// A line that is not UTF-8.
    NotUtf8(Bytes),
    /// A line over the limit, which was thrown away while it was read.
    TooLong(TooLong),
}

/// What is known of a line over the limit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TooLong {
    /// How long it was.
    pub bytes: u64,
    /// Its first bytes, at most 256.
    pub head: Bytes,
    /// Its last bytes, at most 256: together with the head they often tell which call it answered.
    pub tail: Bytes,
}

/// Reads lines from `R`.
///
/// Lines end with LF or CRLF, the last one also with the stream. A byte order mark before a line
/// is dropped. Memory is bounded by twice the limit, whatever the peer writes.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    splitter: Splitter,
    ended: bool,
}

/// Takes lines out of the bytes that have been read so far.
#[derive(Debug)]
struct Splitter {
    bytes: BytesMut,
    /// How many of them are known to hold no line end.
    scanned: usize,
    max: usize,
    /// How much to make room for before a read.
    chunk: usize,
    /// The line being thrown away.
    too_long: Option<TooLong>,
}

const CHUNK_MIN: usize = 8 << 10;
const CHUNK_MAX: usize = 64 << 10;
/// A buffer that a line as long as this has stretched is not kept.
const KEPT: usize = 4 * CHUNK_MAX;
const EXCERPT: usize = 256;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of up to [`LINE_MAX`] bytes.
    pub fn new(source: R) -> Self {
        Self::with_max(source, LINE_MAX)
    }

    /// Reads lines of up to `max` bytes.
    pub fn with_max(source: R, max: usize) -> Self {
        Self {
            source,
            splitter: Splitter::new(max),
            ended: false,
        }
    }

    /// The next line, or `None` at the end of the stream.
    ///
    /// Cancel-safe: what has been read is kept. Lines that are already here are given without
    /// yielding to the runtime.
    ///
    /// # Errors
    ///
    /// When reading fails; the stream is then at its end.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.splitter.line() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            self.fill().await?;
        }
    }

    /// A line that has already been read, if there is one.
    pub fn try_next(&mut self) -> Option<Line> {
        self.splitter.line()
    }

    async fn fill(&mut self) -> io::Result<()> {
        let read = self.source.read_buf(self.splitter.room()).await;
        self.ended = !matches!(read, Ok(1..));
        match read? {
            0 => self.splitter.end(),
            count => self.splitter.has_read(count),
        }
        Ok(())
    }
}

impl Splitter {
    fn new(max: usize) -> Self {
        Self {
            bytes: BytesMut::new(),
            scanned: 0,
            max,
            chunk: CHUNK_MIN,
            too_long: None,
        }
    }

    /// The buffer, with room for a read. A long line gets as much room again as it already has,
    /// so that it is moved only a few times.
    fn room(&mut self) -> &mut BytesMut {
        if self.bytes.capacity() - self.bytes.len() < CHUNK_MIN / 2 {
            self.bytes.reserve(self.chunk.max(self.bytes.len()));
        }
        &mut self.bytes
    }

    /// Makes the next room larger when this one was too small for what was there.
    fn has_read(&mut self, count: usize) {
        if self.bytes.len() == self.bytes.capacity() && count >= self.chunk / 2 {
            self.chunk = (self.chunk * 2).min(CHUNK_MAX);
        }
    }

    /// Ends the last line where the stream ends.
    fn end(&mut self) {
        if !self.bytes.is_empty() || self.too_long.is_some() {
            self.bytes.extend_from_slice(b"\n");
        }
    }

    fn line(&mut self) -> Option<Line> {
        while let Some(at) = memchr(b'\n', &self.bytes[self.scanned..]) {
            let line = self.cut(self.scanned + at);
            if let Some(line) = self.finish(line) {
                return Some(line);
            }
        }
        self.scanned = self.bytes.len();
        if self.too_long.is_some() || self.scanned > self.max {
            self.throw_away();
        }
        None
    }

    /// Takes the line that ends at `end`, and its end.
    fn cut(&mut self, end: usize) -> Bytes {
        let line = self.bytes.split_to(end);
        self.bytes.advance(1);
        self.scanned = 0;
        if end > KEPT {
            self.bytes = BytesMut::from(&self.bytes[..]);
        }
        line.freeze()
    }

    fn finish(&mut self, line: Bytes) -> Option<Line> {
        if let Some(too_long) = self.too_long.take() {
            return Some(Line::TooLong(too_long.and(&line)));
        }
        if line.len() > self.max {
            return Some(Line::TooLong(TooLong::default().and(&line)));
        }
        let line = trimmed(line);
        match str::from_utf8(&line) {
            Ok(text) if text.trim_ascii().is_empty() => None,
            Ok(_) => Some(Line::Text(line)),
            Err(_) => Some(Line::NotUtf8(line)),
        }
    }

    fn throw_away(&mut self) {
        let too_long = self.too_long.take().unwrap_or_default();
        self.too_long = Some(too_long.and(&self.bytes));
        self.bytes = BytesMut::new();
        self.scanned = 0;
    }
}

impl TooLong {
    /// The same line with `more` at its end.
    fn and(self, more: &[u8]) -> Self {
        let head = &more[..more.len().min(EXCERPT - self.head.len())];
        let tail = &more[more.len().saturating_sub(EXCERPT)..];
        let kept = self.tail.len().min(EXCERPT - tail.len());
        Self {
            bytes: self.bytes + more.len() as u64,
            head: [&self.head, head].concat().into(),
            tail: [&self.tail[self.tail.len() - kept..], tail].concat().into(),
        }
    }
}

/// The line without a byte order mark before it and the carriage return of a CRLF after it.
fn trimmed(mut line: Bytes) -> Bytes {
    if line.starts_with(BYTE_ORDER_MARK) {
        line.advance(BYTE_ORDER_MARK.len());
    }
    if line.ends_with(b"\r") {
        line.truncate(line.len() - 1);
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// All lines of `input`, of at most `max` bytes, when it arrives in pieces of `step`.
    fn lines(input: &[u8], max: usize, step: usize) -> Vec<Line> {
        let mut splitter = Splitter::new(max);
        let mut lines = Vec::new();
        for piece in input.chunks(step) {
            splitter.room().extend_from_slice(piece);
            splitter.has_read(piece.len());
            lines.extend(std::iter::from_fn(|| splitter.line()));
        }
        splitter.end();
        lines.extend(std::iter::from_fn(|| splitter.line()));
        lines
    }

    fn text(text: &str) -> Line {
        Line::Text(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn b90_bom_crlf_and_blank_lines_leave_the_text_alone() {
        let input = b"\xef\xbb\xbf\n\xef\xbb\xbf{\"a\":1}\r\n\r\n  \n{\"b\":2}\n{\"c\":3}";
        assert_eq!(
            lines(input, 100, 3),
            [text("{\"a\":1}"), text("{\"b\":2}"), text("{\"c\":3}")]
        );
    }

    #[test]
    fn b90_a_line_that_is_not_utf8_is_reported_and_the_next_is_read() {
        let expected = [
            text("a"),
            Line::NotUtf8(Bytes::from_static(b"\xb4\xd8 ")),
            text("b"),
        ];
        assert_eq!(lines(b"a\n\xb4\xd8 \nb\n", 100, 2), expected);
    }

    #[test]
    fn b89_a_line_over_the_limit_is_thrown_away_up_to_its_end() {
        let long: String = ('a'..='z').cycle().take(1000).collect();
        let input = format!("before\n{long}\nafter\n");
        let too_long = TooLong {
            bytes: 1000,
            head: Bytes::copy_from_slice(&long.as_bytes()[..EXCERPT]),
            tail: Bytes::copy_from_slice(&long.as_bytes()[1000 - EXCERPT..]),
        };
        for step in [1, 7, 100, 5000] {
            let expected = [text("before"), Line::TooLong(too_long.clone()), text("after")];
            assert_eq!(lines(input.as_bytes(), 300, step), expected, "in steps of {step}");
        }
    }

    #[test]
    fn b89_an_endless_line_takes_no_memory() {
        let mut splitter = Splitter::new(1 << 20);
        for _ in 0..640 {
            splitter.room().extend_from_slice(&[b'x'; CHUNK_MAX]);
            assert_eq!(splitter.line(), None);
            assert!(splitter.bytes.capacity() <= 2 << 20);
        }
        splitter.end();
        assert!(matches!(
            splitter.line(),
            Some(Line::TooLong(TooLong {
                bytes: 41_943_040,
                ..
            }))
        ));
    }

    #[test]
    fn a_long_line_does_not_leave_a_long_buffer() {
        let mut splitter = Splitter::new(LINE_MAX);
        splitter.room().extend_from_slice(&[b'x'; 2 * KEPT]);
        splitter.end();
        assert!(splitter.line().is_some());
        assert!(splitter.bytes.capacity() < KEPT);
    }

    #[tokio::test]
    async fn b36_ten_megabytes_arrive_whole_through_small_chunks() {
        let (mut peer, source) = tokio::io::duplex(4096);
        let write = async {
            peer.write_all(&[b'x'; 10 << 20]).await.unwrap();
            peer.write_all(b"\nnext\n").await.unwrap();
            drop(peer);
        };
        let mut reader = LineReader::new(source);
        let read = async {
            (
                reader.next().await.unwrap(),
                reader.next().await.unwrap(),
                reader.next().await.unwrap(),
            )
        };
        let ((), (long, next, end)) = tokio::join!(write, read);
        assert!(matches!(long, Some(Line::Text(line)) if line.len() == 10 << 20));
        assert_eq!((next, end), (Some(text("next")), None));
    }

    #[tokio::test]
    async fn lines_are_slices_of_one_buffer() {
        let mut reader = LineReader::new(&b"one\ntwo\n"[..]);
        let (Some(Line::Text(one)), Some(Line::Text(two))) =
            (reader.next().await.unwrap(), reader.try_next())
        else {
            panic!("two lines of text");
        };
        assert_eq!(two.as_ptr() as usize - one.as_ptr() as usize, 4);
    }

    proptest! {
        #[test]
        fn where_chunks_end_does_not_matter(input in prop::collection::vec(prop::sample::select(b"ab\r\n\xef\xbb\xbf".to_vec()), 0..60), step in 1usize..9) {
            prop_assert_eq!(lines(&input, 5, step), lines(&input, 5, 1000));
        }

        #[test]
        fn without_limits_it_splits_as_the_standard_library_does(parts in prop::collection::vec("[a-z]{1,9}", 0..9)) {
            let input = parts.join("\n");
            let expected: Vec<_> = input.lines().map(text).collect();
            prop_assert_eq!(lines(input.as_bytes(), 100, 4), expected);
        }
    }
}
