//! The body of a request, as whoever answers it takes it.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{Broken, Line};

/// The body of the request that is answered on a connection.
pub(in super::super) struct Arrival<'line>(&'line Line);

impl<'line> Arrival<'line> {
    pub(in super::super) fn on(line: &'line Line) -> Self {
        Self(line)
    }
}

impl Body for Arrival<'_> {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let data = self.0.0.lock().poll_body(cx);
        data.map_ok(Frame::data)
    }

    fn is_end_stream(&self) -> bool {
        self.0.0.lock().body.is_at_end()
    }

    fn size_hint(&self) -> SizeHint {
        match self.0.0.lock().body.left() {
            Some(left) => SizeHint::with_exact(left),
            None => SizeHint::default(),
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.0.0.lock().wanted = false;
    }
}
