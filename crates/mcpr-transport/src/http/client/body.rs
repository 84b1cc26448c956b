//! The body of a request.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use mcpr_protocol::Rope;

/// A body in one frame, whose pieces are written vectored.
#[derive(Debug)]
pub(super) struct Once(Option<Rope>);

impl Once {
    pub(super) fn new(text: Option<Rope>) -> Self {
        Self(text.filter(|text| !text.is_empty()))
    }
}

impl Body for Once {
    type Data = Rope;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Rope>, Infallible>>> {
        Poll::Ready(self.0.take().map(|text| Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Rope::len) as u64)
    }
}
