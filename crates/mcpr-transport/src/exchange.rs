//! One request and all that comes back for it.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use mcpr_protocol::Message;

use crate::Failed;

/// A request that is open at a server.
///
/// It yields the notifications and requests that the transport can tell belong to it, and ends
/// with the response or a failure. Dropping it before that is taken as a cancel without a reason.
pub struct Exchange(Box<dyn Answering>);

/// Why a request is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The client said so, or closed a stream where that says so.
    Client,
    /// It took too long.
    Deadline,
    /// The gateway is stopping.
    Shutdown,
}

/// What a transport implements for an open request.
pub trait Answering: Send {
    /// Waits for the next message; after a response or a failure it is not asked again.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>>;

    /// Tells the server that nobody waits any more, in the way of the transport and the era.
    fn cancel(self: Box<Self>, why: Reason);
}

impl Exchange {
    /// Wraps what a transport made.
    pub fn new(answering: impl Answering + 'static) -> Self {
        Self(Box::new(answering))
    }

    /// The next message. Cancel-safe: a message is either given or still to come.
    ///
    /// # Errors
    ///
    /// When the connection fails before the response.
    pub async fn next(&mut self) -> Result<Message, Failed> {
        poll_fn(|cx| self.0.poll_next(cx)).await
    }

    /// The next message, for those who poll.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        self.0.poll_next(cx)
    }

    /// Gives the request up and tells the server.
    pub fn cancel(self, why: Reason) {
        self.0.cancel(why);
    }
}

impl Reason {
    /// The text that goes into `notifications/cancelled`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "cancelled by the client",
            Self::Deadline => "the time limit passed",
            Self::Shutdown => "the gateway is stopping",
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exchange(..)")
    }
}
