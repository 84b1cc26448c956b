//! A text in pieces: what is written without being put together first.

use std::io::IoSlice;
use std::ops::Range;

use bytes::{Buf, Bytes, BytesMut};
use smallvec::SmallVec;

use crate::RawJson;
use crate::plain::plain;

/// Pieces up to this size are copied together: to share one costs more, and one more piece to write
/// costs again.
const SMALL: usize = 1024;

/// The room that is made for small pieces when the first one comes: most messages fit.
const ROOM: usize = 512;

/// A sequence of pieces that reads as one text.
///
/// It is how a changed message travels: large parts that are unchanged are slices of the buffer they
/// arrived in, the small ones around them are copied together, and the whole is written vectored. As
/// a [`Buf`] it can be a body of hyper.
#[derive(Clone, Debug, Default)]
pub struct Rope {
    parts: SmallVec<[Bytes; 1]>,
    /// The first of the parts that has not been read.
    first: usize,
    /// What comes behind the parts.
    tail: Vec<u8>,
    /// How much of the tail has been read.
    read: usize,
    len: usize,
}

impl Rope {
    /// The empty rope.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a piece.
    pub fn push(&mut self, part: impl Into<Bytes>) {
        let part = part.into();
        if part.len() <= SMALL {
            return self.push_text(&part);
        }
        self.len += part.len();
        self.end_tail();
        self.parts.push(part);
    }

    /// Appends a part of a buffer.
    pub fn push_slice(&mut self, buffer: &Bytes, range: Range<usize>) {
        match range.len() <= SMALL {
            true => self.push_text(&buffer[range]),
            false => self.push(buffer.slice(range)),
        }
    }

    /// Appends a copy of a text.
    pub fn push_text(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        if text.is_empty() {
            return;
        }
        if self.tail.capacity() == 0 {
            self.tail.reserve(ROOM.max(text.len()));
        }
        self.len += text.len();
        self.tail.extend_from_slice(text);
    }

    /// Appends a JSON string.
    pub fn push_string(&mut self, text: &str) {
        if needs_escapes(text) {
            return self.push_text(RawJson::string(text).as_bytes());
        }
        self.push_text(b"\"");
        self.push_text(text);
        self.push_text(b"\"");
    }

    /// Appends a piece of the program's own text.
    pub fn push_static(&mut self, part: &'static str) {
        self.push_text(part);
    }

    /// Appends another text.
    pub fn append(&mut self, other: Rope) {
        if self.is_empty() {
            *self = other;
            return;
        }
        other.parts[other.first..]
            .iter()
            .for_each(|part| self.push_slice(part, 0..part.len()));
        self.push_text(&other.tail[other.read..]);
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pieces.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let tail = &self.tail[self.read..];
        let parts = self.parts[self.first..].iter().map(|part| &part[..]);
        parts.chain((!tail.is_empty()).then_some(tail))
    }

    /// The text in one piece; it is copied unless it is one already.
    pub fn into_bytes(mut self) -> Bytes {
        match (self.parts.len() - self.first, self.tail.len() - self.read) {
            (1, 0) => std::mem::take(&mut self.parts[self.first]),
            (0, _) => {
                let mut tail = Bytes::from(self.tail);
                tail.advance(self.read);
                tail
            }
            _ => self.joined(),
        }
    }

    /// The same text without line ends: JSON has none inside of strings, and between its words a
    /// space does as well.
    pub fn on_one_line(self) -> Self {
        if self.parts().all(is_one_line) {
            return self;
        }
        let mut clean = Rope::new();
        self.parts().for_each(|part| clean.push_without_line_ends(part));
        clean
    }

    fn joined(&self) -> Bytes {
        let mut whole = BytesMut::with_capacity(self.len);
        self.parts().for_each(|part| whole.extend_from_slice(part));
        whole.freeze()
    }

    /// Makes a part of what was copied so far.
    fn end_tail(&mut self) {
        let tail = std::mem::take(&mut self.tail);
        let read = std::mem::take(&mut self.read);
        if tail.len() > read {
            let mut tail = Bytes::from(tail);
            tail.advance(read);
            self.parts.push(tail);
        }
    }

    fn push_without_line_ends(&mut self, part: &[u8]) {
        let clean = |&byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte };
        self.push(part.iter().map(clean).collect::<Bytes>());
    }
}

/// Whether a text is not a JSON string as it stands, between quotes.
pub(crate) fn needs_escapes(text: &str) -> bool {
    plain(text.as_bytes()).0 < text.len()
}

fn is_one_line(part: &[u8]) -> bool {
    memchr::memchr2(b'\n', b'\r', part).is_none()
}

impl Buf for Rope {
    fn remaining(&self) -> usize {
        self.len
    }

    fn chunk(&self) -> &[u8] {
        self.parts
            .get(self.first)
            .map_or(&self.tail[self.read..], |part| part)
    }

    fn advance(&mut self, mut count: usize) {
        assert!(count <= self.len, "advanced past the end of a rope");
        self.len -= count;
        while let Some(part) = self.parts.get_mut(self.first).filter(|_| count > 0) {
            if part.len() > count {
                part.advance(count);
                return;
            }
            count -= part.len();
            self.first += 1;
        }
        self.read += count;
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        let parts = self.parts().zip(into.iter_mut());
        parts.map(|(part, slot)| *slot = IoSlice::new(part)).count()
    }
}

impl From<Bytes> for Rope {
    fn from(part: Bytes) -> Self {
        Self {
            len: part.len(),
            parts: SmallVec::from_iter((!part.is_empty()).then_some(part)),
            ..Self::default()
        }
    }
}

impl From<RawJson> for Rope {
    fn from(raw: RawJson) -> Self {
        raw.into_bytes().into()
    }
}

impl From<String> for Rope {
    fn from(text: String) -> Self {
        Self {
            len: text.len(),
            tail: text.into_bytes(),
            ..Self::default()
        }
    }
}

impl<P: Into<Bytes>> FromIterator<P> for Rope {
    fn from_iter<I: IntoIterator<Item = P>>(parts: I) -> Self {
        let mut rope = Rope::new();
        parts.into_iter().for_each(|part| rope.push(part));
        rope
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rope(parts: &[&str]) -> Rope {
        parts
            .iter()
            .map(|part| Bytes::copy_from_slice(part.as_bytes()))
            .collect()
    }

    #[test]
    fn line_ends_become_spaces_wherever_a_piece_ends() {
        let text = rope(&["{\r", "\n\"a\":", "1\n}"]).on_one_line().into_bytes();
        assert_eq!(text, "{  \"a\":1 }");
    }

    proptest! {
        #[test]
        fn reading_in_any_steps_gives_the_same_text(parts in prop::collection::vec("[a-z]{0,5}", 0..9), step in 1usize..7) {
            let whole: String = parts.concat();
            let mut rope: Rope = parts.into_iter().map(Bytes::from).collect();
            prop_assert_eq!(rope.len(), whole.len());
            let mut read = Vec::new();
            while rope.has_remaining() {
                let take = step.min(rope.chunk().len());
                read.extend_from_slice(&rope.chunk()[..take]);
                rope.advance(take);
            }
            prop_assert_eq!(read, whole.as_bytes());
        }
    }
}
