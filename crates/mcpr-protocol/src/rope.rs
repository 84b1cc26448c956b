//! A text in pieces: what is written without being put together first.

use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

use crate::RawJson;

/// Room for this many pieces is made at once: a message with a few changes has no more.
const PARTS: usize = 8;

/// A sequence of byte slices that reads as one text.
///
/// It is how a changed message travels: the unchanged parts are slices of the buffer they arrived
/// in, and the whole is written vectored. As a [`Buf`] it can be a body of hyper.
#[derive(Clone, Debug, Default)]
pub struct Rope {
    parts: Vec<Bytes>,
    first: usize,
    len: usize,
}

impl Rope {
    /// The empty rope.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece at the end.
    pub fn push(&mut self, part: impl Into<Bytes>) {
        let part = part.into();
        if !part.is_empty() {
            self.len += part.len();
            if self.parts.capacity() == 0 {
                self.parts.reserve(PARTS);
            }
            self.parts.push(part);
        }
    }

    /// Adds a piece of the program's own text at the end.
    pub fn push_static(&mut self, part: &'static str) {
        self.push(Bytes::from_static(part.as_bytes()));
    }

    /// Adds all pieces of `other` at the end.
    pub fn append(&mut self, other: Rope) {
        for part in other.into_parts() {
            self.push(part);
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pieces, in order.
    pub fn parts(&self) -> impl Iterator<Item = &Bytes> {
        self.parts[self.first..].iter()
    }

    /// The pieces, in order.
    pub fn into_parts(self) -> impl Iterator<Item = Bytes> {
        self.parts.into_iter().skip(self.first)
    }

    /// One buffer with the whole text: the piece itself when there is only one, else a copy.
    pub fn into_bytes(self) -> Bytes {
        if self.parts.len() - self.first == 1 {
            return self.into_parts().next().unwrap_or_default();
        }
        let mut whole = BytesMut::with_capacity(self.len);
        self.parts().for_each(|part| whole.extend_from_slice(part));
        whole.freeze()
    }

    /// The text without line ends: carriage returns and line feeds become spaces.
    ///
    /// Lossless for a JSON text, because JSON strings hold no raw control characters (RFC 8259
    /// section 7). Needed where a line is a message (stdio, the data lines of server-sent events).
    pub fn on_one_line(self) -> Self {
        if self
            .parts()
            .all(|part| memchr::memchr2(b'\n', b'\r', part).is_none())
        {
            return self;
        }
        let mut clean = Rope::new();
        self.into_parts()
            .for_each(|part| clean.push(without_line_ends(part)));
        clean
    }
}

fn without_line_ends(part: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &part).is_none() {
        return part;
    }
    part.iter()
        .map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte })
        .collect()
}

impl Buf for Rope {
    fn remaining(&self) -> usize {
        self.len
    }

    fn chunk(&self) -> &[u8] {
        self.parts.get(self.first).map_or(&[], |part| part)
    }

    fn advance(&mut self, mut count: usize) {
        assert!(count <= self.len, "advanced past the end of a rope");
        self.len -= count;
        while count > 0 {
            let part = &mut self.parts[self.first];
            if part.len() > count {
                part.advance(count);
                return;
            }
            count -= part.len();
            self.first += 1;
        }
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
            first: 0,
            parts: vec![part],
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
        Bytes::from(text).into()
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
