//! Small bodies get a buffer of their own size.

use bytes::Bytes;

/// Up to this size copying is cheaper than keeping a connection from using its read buffer again.
const SMALL: usize = 4096;

/// The same bytes; a small piece no longer holds the buffer it was read into.
///
/// A connection whose read buffer is still held by a message must allocate another for the next
/// one, which costs more than a copy of a usual message.
pub(crate) fn compact(piece: Bytes) -> Bytes {
    if piece.len() <= SMALL {
        Bytes::copy_from_slice(&piece)
    } else {
        piece
    }
}
