//! The reader of lines: wherever a read ends, it gives the same lines.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use mcpr_transport::child::{Line, LineReader, TooLong};
use proptest::prop_assert_eq;
use tokio::io::{AsyncRead, ReadBuf};

/// The longest line, more than what is shown of a longer one at both ends.
const LIMIT: usize = 600;
const SHOWN: usize = 256;

const WORDS: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"\xef\xbb",
    b"{\"a\":1}",
    b" \t ",
    b"\xff\xfe",
    b"\xc3",
    b"\x0c",
    &[b'x'; LIMIT],
];

/// A stream whose reads end where the pieces end.
struct Source(std::vec::IntoIter<Bytes>);

impl AsyncRead for Source {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(piece) = self.0.find(|piece| !piece.is_empty()) {
            buffer.put_slice(&piece);
        }
        Poll::Ready(Ok(()))
    }
}

fn read(pieces: Vec<Bytes>) -> Vec<Line> {
    let mut reader = LineReader::with_max(Source(pieces.into_iter()), LIMIT);
    let mut next = || {
        reader
            .next()
            .now_or_never()
            .expect("all is there")
            .expect("nothing fails")
    };
    std::iter::from_fn(&mut next).collect()
}

/// The same, of all bytes at once.
fn plainly(bytes: &[u8]) -> Vec<Line> {
    bytes.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn line(bytes: &[u8]) -> Option<Line> {
    if bytes.len() > LIMIT {
        let end = |part: &[u8]| Bytes::copy_from_slice(part);
        return Some(Line::TooLong(TooLong {
            bytes: bytes.len() as u64,
            head: end(&bytes[..SHOWN]),
            tail: end(&bytes[bytes.len() - SHOWN..]),
        }));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let kept = Bytes::copy_from_slice(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => (!text.trim_ascii().is_empty()).then_some(Line::Text(kept)),
        Err(_) => Some(Line::NotUtf8(kept)),
    }
}

fn property(bytes: &[u8], mut dice: Dice) -> Verdict {
    for longest in [1, 7, 300, 4096] {
        let pieces = dice.pieces(bytes, longest);
        prop_assert_eq!(read(pieces.clone()), plainly(bytes), "in {:?}", pieces);
    }
    Ok(())
}

#[test]
fn b89_b90_lines_are_the_same_wherever_reads_end() {
    Target::new("lines").words(WORDS).holds(property);
}
