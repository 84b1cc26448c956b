//! A request on its way out.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use mcpr_protocol::Rope;
use tokio::io::AsyncWrite;
use tokio_util::io::poll_write_buf;

/// Bodies up to this size go out in one piece with the head: copying them costs less than a second piece.
const SMALL: usize = 4 * 1024;

/// What of a request is not written yet.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    head: Cursor<Vec<u8>>,
    body: Rope,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing was written.
    New,
    /// Some of it was, or all but for what the stream holds back.
    Begun,
    #[default]
    Done,
    /// The stream takes no more of it.
    Refused,
    /// The stream took nothing of it.
    Unsent(io::Error),
}

impl Outgoing {
    pub(super) fn new(mut head: Vec<u8>, body: &Rope) -> Self {
        let body = if body.len() <= SMALL {
            body.parts().for_each(|part| head.extend_from_slice(part));
            Rope::new()
        } else {
            body.clone()
        };
        Self {
            head: Cursor::new(head),
            body,
            state: State::New,
        }
    }

    /// Whether all of it was written.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether any of it may have got to the server.
    pub(super) fn has_begun(&self) -> bool {
        !matches!(self.state, State::New | State::Unsent(_))
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
        if !matches!(self.state, State::New | State::Begun) {
            return;
        }
        match self.poll_write(stream, cx) {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => self.state = State::Done,
            Poll::Ready(Err(_)) if self.has_begun() => self.state = State::Refused,
            Poll::Ready(Err(error)) => self.state = State::Unsent(error),
        }
    }

    fn poll_write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.head.has_remaining() || self.body.has_remaining() {
            let stream = Pin::new(&mut *stream);
            let written = if self.body.is_empty() {
                let written = ready!(stream.poll_write(cx, self.head.chunk()))?;
                self.head.advance(written);
                written
            } else {
                ready!(poll_write_buf(
                    stream,
                    cx,
                    &mut (&mut self.head).chain(&mut self.body)
                ))?
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.state = State::Begun;
        }
        Pin::new(stream).poll_flush(cx)
    }
}
