//! A request on its way out.

use std::io;
use std::task::{Context, Poll};

use mcpr_protocol::Rope;
use tokio::io::AsyncWrite;

use super::Piece;

/// What of a request is not written yet.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    piece: Piece,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// Something is to be written, or is held back by the stream.
    Going,
    #[default]
    Done,
    /// The stream takes no more of it.
    Refused,
    /// The stream took nothing of it.
    Unsent(io::Error),
}

impl Outgoing {
    pub(super) fn new(head: Vec<u8>, body: &Rope) -> Self {
        Self {
            piece: Piece::new(head, body),
            state: State::Going,
        }
    }

    /// Whether all of it was written.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether any of it may have got to the server.
    pub(super) fn has_begun(&self) -> bool {
        match self.state {
            State::Going => self.piece.has_begun(),
            State::Done | State::Refused => true,
            State::Unsent(_) => false,
        }
    }

    /// Why the stream takes nothing of it, if that is so. The server may have answered one of which it took
    /// a part.
    pub(super) fn take_refusal(&mut self) -> Option<io::Error> {
        match &mut self.state {
            State::Unsent(error) => Some(std::mem::replace(error, io::ErrorKind::BrokenPipe.into())),
            _ => None,
        }
    }

    /// Writes as much as the stream takes now.
    pub(super) fn write(&mut self, stream: &mut (impl AsyncWrite + Unpin), cx: &mut Context<'_>) {
        if !matches!(self.state, State::Going) {
            return;
        }
        match self.piece.poll_write(stream, cx) {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => self.state = State::Done,
            Poll::Ready(Err(_)) if self.has_begun() => self.state = State::Refused,
            Poll::Ready(Err(error)) => self.state = State::Unsent(error),
        }
    }
}
