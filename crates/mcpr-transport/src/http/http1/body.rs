//! The body of a message, however it is marked off (RFC 9112, section 6).

use bytes::{Bytes, BytesMut};

use super::{Chunks, NotChunked};

/// What is still to come of a body.
#[derive(Debug)]
pub(in super::super) enum Body {
    /// So many bytes.
    Sized(u64),
    Chunked(Chunks),
    /// All until the connection ends.
    UntilEnd,
}

impl Body {
    /// The next part of what came, if any of it is data.
    pub(in super::super) fn take(&mut self, came: &mut BytesMut) -> Result<Option<Bytes>, NotChunked> {
        let count = match self {
            Self::Chunked(chunks) => return chunks.take(came),
            Self::Sized(left) => usize::try_from(*left).map_or(came.len(), |left| left.min(came.len())),
            Self::UntilEnd => came.len(),
        };
        if let Self::Sized(left) = self {
            *left -= count as u64;
        }
        Ok((count > 0).then(|| came.split_to(count).freeze()))
    }

    /// Whether nothing more belongs to it.
    pub(in super::super) fn is_at_end(&self) -> bool {
        match self {
            Self::Sized(left) => *left == 0,
            Self::Chunked(chunks) => chunks.is_at_end(),
            Self::UntilEnd => false,
        }
    }

    /// How many bytes have to come before there is all of it, where it is no longer than `whole`.
    pub(in super::super) fn missing(&self, came: usize, whole: usize) -> Option<usize> {
        let left = self.left().and_then(|left| usize::try_from(left).ok())?;
        (came < left && left <= whole).then(|| left - came)
    }

    /// How many bytes are still to be taken, where that was said.
    pub(in super::super) fn left(&self) -> Option<u64> {
        match self {
            Self::Sized(left) => Some(*left),
            _ => None,
        }
    }
}
