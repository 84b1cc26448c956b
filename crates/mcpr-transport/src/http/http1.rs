//! What both ends of a connection of HTTP/1.1 have in common (RFC 9112): where a head ends, what its fields say of
//! the body and the connection, how a body is marked off, and how a message goes out.

mod body;
mod chunked;
mod fields;
mod piece;

use memchr::memchr_iter;

pub(super) use body::Body;
pub(super) use chunked::{Chunks, NotChunked};
pub(super) use fields::{Fields, Length, Transfer};
pub(super) use piece::Piece;

/// How long the head is, if all of it came: it ends with an empty line. `seen` is how much of it was looked through
/// before, and is for this function alone.
pub(super) fn end_of_head(came: &[u8], seen: &mut usize) -> Option<usize> {
    // The last two bytes may be the beginning of that line.
    let from = seen.saturating_sub(2);
    *seen = came.len();
    let lines = memchr_iter(b'\n', &came[from..]).map(|at| from + at + 1);
    lines
        .filter_map(|next| match came[next..] {
            [b'\n', ..] => Some(next + 1),
            [b'\r', b'\n', ..] => Some(next + 2),
            _ => None,
        })
        .next()
}

/// How many bytes there are of empty lines before a head, which are passed over (section 2.2).
pub(super) fn blank(came: &[u8]) -> usize {
    let mut rest = came;
    while let Some(behind) = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")) {
        rest = behind;
    }
    came.len() - rest.len()
}
