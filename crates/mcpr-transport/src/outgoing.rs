//! The client end of one connection.

use async_trait::async_trait;
use http::{HeaderName, HeaderValue};
use mcpr_protocol::{Message, Method, Notification, Request, Rope, Version};
use tokio::sync::oneshot;

use crate::{Exchange, Failed, Party};

/// A request on its way to a server.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The id on this hop, from [`Transport::next_id`]; also the progress token, where one is given.
    pub id: u64,
    /// What is asked.
    pub method: Method,
    /// The text of `params`, complete with its `_meta`; empty for none.
    pub params: Rope,
    /// The name or URI as the server knows it, which a stateless hop repeats in `Mcp-Name`.
    pub name: Option<Box<str>>,
    /// `Mcp-Param-*` headers of a stateless hop, values encoded.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// For whom it is made.
    pub party: Party,
}

/// What a server says without having been asked in a way the transport could tell.
#[derive(Debug)]
pub enum Event {
    /// A notification that belongs to no open exchange.
    Notification(Notification),
    /// A request of the server; its answer goes through [`Transport::send`].
    Request(Request),
    /// The stream for what belongs to no request is lost and not to be had again just now: it is
    /// worth asking whether the server is still there.
    Doubtful,
    /// The connection has ended; nothing follows.
    Closed(Failed),
}

impl Event {
    /// What a message is that belongs to no request; nothing for a response.
    pub(crate) fn of(message: Message) -> Option<Self> {
        match message {
            Message::Notification(notification) => Some(Self::Notification(notification)),
            Message::Request(request) => Some(Self::Request(request)),
            Message::Response(_) => None,
        }
    }
}

/// The client end of one connection; its [`Event`]s come from the constructor.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// A fresh id for a request on this connection.
    fn next_id(&self) -> u64;

    /// Sends a request and gives the exchange in which its answer comes.
    ///
    /// Over HTTP the exchange begins when the request is on its way, not when the server has
    /// answered, so what the server's status says (a lost session, say) comes from
    /// [`Exchange::next`]. Opening `initialize` forgets an earlier session.
    ///
    /// # Errors
    ///
    /// When the request cannot be sent; [`Failed::sent`] says whether a part of it can have gone.
    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed>;

    /// Sends a notification, or the answer to a request of the server.
    ///
    /// # Errors
    ///
    /// When it cannot be sent.
    async fn send(&self, message: Message) -> Result<(), Failed>;

    /// Says which revision the two sides have settled on; from then on the hop's headers name it.
    fn negotiated(&self, version: Version);

    /// Whether a server of the session era says with each question which request it is about, so
    /// that requests of several parties that can be asked may be open at once.
    fn tells_apart(&self) -> bool {
        false
    }

    /// Whether no request of another client was given up that the server may still be at: what it
    /// asks then could be about that.
    fn is_quiet_for(&self, _: Party) -> bool {
        true
    }

    /// Hears what the server says to a party that has no request open; nothing is sent. Only in the
    /// session era is there anything to hear.
    fn attend(&self, _: Party) -> Option<Exchange> {
        None
    }

    /// Opens the stream for what belongs to no request, where the transport has a separate one. What
    /// it gives ends once that is open, or known not to be had: until then, what the server says may
    /// be lost.
    async fn listen(&self) -> Option<oneshot::Receiver<()>> {
        None
    }

    /// Ends the connection in the way the transport asks for. What is still open fails.
    async fn close(&self);
}
