//! Why a connection has brought no answer, or not all of it.

use std::io;

use super::NotChunked;

/// What is wrong with a connection; `Display` completes "no answer from it: ...".
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum Broken {
    #[error("mcpr has ended the connection")]
    Stopped,
    /// The server closed it.
    #[error("it closed the connection before the end of its answer")]
    Closed,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("what it says is no HTTP/1.1: {0}")]
    Head(#[from] httparse::Error),
    #[error("the head of its answer has no end")]
    LongHead,
    #[error("the length of its answer makes no sense")]
    Length,
    #[error(transparent)]
    Chunk(#[from] NotChunked),
    #[error("it tells again and again of an answer that does not come")]
    Informed,
    #[error("it changes to a protocol that nobody asked for")]
    Switched,
}

/// A request that was not answered.
#[derive(Debug)]
pub(in super::super) struct Lost {
    pub(in super::super) why: Broken,
    /// Whether nothing of it went out.
    pub(in super::super) unsent: bool,
}

impl Broken {
    /// Whether what came is to blame, not that something failed to come.
    pub(in super::super) fn is_malformed(&self) -> bool {
        !matches!(self, Self::Stopped | Self::Closed | Self::Io(_))
    }
}
