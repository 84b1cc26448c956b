//! A part of a message on its way out.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use mcpr_protocol::Rope;
use tokio::io::AsyncWrite;
use tokio_util::io::poll_write_buf;

/// Bodies up to this size go out in one piece with the head: copying them costs less than a second piece.
const SMALL: usize = 4 * 1024;

/// What of it is not written yet.
#[derive(Debug, Default)]
pub(in super::super) struct Piece {
    head: Cursor<Vec<u8>>,
    body: Rope,
    /// How much was written since it was asked last.
    written: usize,
}

impl Piece {
    /// A head, or what else comes first, and what follows it.
    pub(in super::super) fn new(mut head: Vec<u8>, body: &Rope) -> Self {
        let body = if body.len() <= SMALL {
            body.parts().for_each(|part| head.extend_from_slice(part));
            Rope::new()
        } else {
            body.clone()
        };
        Self {
            head: Cursor::new(head),
            body,
            written: 0,
        }
    }

    /// Whether any of it was written.
    pub(in super::super) fn has_begun(&self) -> bool {
        self.head.position() > 0
    }

    /// How many bytes were written since this was asked last.
    pub(in super::super) fn take_written(&mut self) -> usize {
        std::mem::take(&mut self.written)
    }

    /// Writes all of it, and what the stream holds back.
    pub(in super::super) fn poll_write(
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
            self.written += written;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        Pin::new(stream).poll_flush(cx)
    }
}
