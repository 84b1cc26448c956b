//! One request in progress over HTTP, and all that comes back for it.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::framing::Framing;
use crate::message::Request;
use crate::server::{Reply, Server};

/// The work on a stream; it may end without an answer.
pub(crate) type Work = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// Something for the client.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A message that is not the answer.
    Aside(String),
    /// The answer; nothing follows.
    Reply(Reply),
}

/// A stream of pieces. Dropping it stops the work.
pub(crate) struct Exchange {
    work: Option<Work>,
    reply: Option<Reply>,
    asides: UnboundedReceiver<String>,
    about: Option<About>,
}

/// The request of an exchange. Dropped before the answer is out, it leaves a line in the log.
pub(crate) struct About {
    pub(crate) server: Arc<Server>,
    pub(crate) request: Arc<Request>,
    pub(crate) answered: bool,
}

/// An exchange as the body of an event stream.
pub(crate) struct EventBody {
    exchange: Exchange,
    framing: Framing,
    ready: VecDeque<Bytes>,
    cut: Cut,
}

/// Whether a stream breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Never,
    /// Once what stands before has left the buffers.
    Soon,
    Now,
}

impl Exchange {
    /// An exchange whose other messages come out of `asides`.
    pub(crate) fn new(work: Work, asides: UnboundedReceiver<String>, about: Option<About>) -> Self {
        Self {
            work: Some(work),
            reply: None,
            asides,
            about,
        }
    }

    /// The next piece, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Piece> {
        poll_fn(|task| self.poll_next(task)).await
    }

    fn poll_next(&mut self, task: &mut Task<'_>) -> Poll<Option<Piece>> {
        if let Some(work) = &mut self.work
            && let Poll::Ready(reply) = work.as_mut().poll(task)
        {
            (self.work, self.reply) = (None, reply);
        }
        if let Poll::Ready(Some(text)) = self.asides.poll_recv(task) {
            return Poll::Ready(Some(Piece::Aside(text)));
        }
        if self.work.is_some() {
            return Poll::Pending;
        }
        Poll::Ready(self.reply.take().map(|reply| self.finished(reply)))
    }

    fn finished(&mut self, reply: Reply) -> Piece {
        if let Some(about) = &mut self.about {
            about.answered = true;
            about.server.notify_after(&about.request);
        }
        Piece::Reply(reply)
    }
}

impl Drop for About {
    fn drop(&mut self) {
        if !self.answered {
            self.server.log.closed(&self.request.id);
        }
    }
}

impl EventBody {
    /// A stream that begins with `first`.
    pub(crate) fn new(exchange: Exchange, framing: Framing, first: Vec<Bytes>) -> Self {
        let ready = first.into_iter().filter(|bytes| !bytes.is_empty()).collect();
        Self {
            exchange,
            framing,
            ready,
            cut: Cut::Never,
        }
    }

    /// The same stream, which breaks off after its beginning.
    pub(crate) fn cut(self) -> Self {
        Self {
            cut: Cut::Soon,
            ..self
        }
    }
}

impl Piece {
    /// The message.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Aside(text) => text,
            Self::Reply(reply) => &reply.text,
        }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Task<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(bytes) = self.ready.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.cut {
            Cut::Never => {}
            Cut::Soon => {
                self.cut = Cut::Now;
                task.waker().wake_by_ref();
                return Poll::Pending;
            }
            Cut::Now => return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into()))),
        }
        let piece = ready!(self.exchange.poll_next(task));
        Poll::Ready(piece.map(|piece| Ok(Frame::data(self.framing.message(piece.text())))))
    }
}
