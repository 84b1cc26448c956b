//! What a gateway implements to be served over HTTP.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode};

use super::{Accepts, Refusal, Reply};

/// Answers what clients ask; the server around it takes care of connections, limits and framing.
///
/// Everything that reaches [`mcp`](Self::mcp) has passed the checks of the edge, in this order:
/// Host and Origin (403), [`admit`](Self::admit) (401), verb (405), `Accept` and `Content-Type`
/// (406, 415), size and arrival of the body (413, 408).
///
/// # When the client goes away
///
/// The future of a reply, and then its stream of events, is **dropped** at the moment the
/// connection is seen to be closed. Nothing else is said, so what must outlive the client must not
/// be owned by them, and what must end with the client ends in a `Drop`. A client that has already
/// sent more than 16 KiB of its next requests on the same connection (pipelining) is noticed at the next write only.
pub trait Front: Send + Sync + 'static {
    /// Who calls, as [`admit`](Self::admit) found out.
    type Caller: Send + 'static;

    /// What is remembered from one request of a connection to the next, such as the token that was
    /// verified last.
    type Memo: Default + Send + 'static;

    /// Finds out who calls from the head of the request; the body has not been read. Where that takes its time, who
    /// calls is found out once more when all of it is there. A head of usual length that says the very same as the one
    /// before on its connection is the very same `Arc`.
    ///
    /// # Errors
    ///
    /// The answer for a caller that is not let in: 401 with its `WWW-Authenticate`.
    fn admit(&self, head: &Arc<Parts>, memo: &mut Self::Memo) -> Result<Self::Caller, Box<Reply>>;

    /// Answers a request to the MCP endpoint.
    ///
    /// A panic in it becomes a 500 with a request id and harms nobody else.
    fn mcp(&self, caller: Self::Caller, call: Call) -> impl Future<Output = Reply> + Send;

    /// Carries out an operation of the admin API; only called where
    /// [`Options::admin`](super::Options::admin) is on.
    fn admin(&self, caller: Self::Caller, operation: Operation<'_>) -> impl Future<Output = Reply> + Send;

    /// Tells what is counted; only called where [`Options::admin`](super::Options::admin) is on.
    fn metrics(&self, caller: Self::Caller) -> Reply {
        let _ = caller;
        Reply::empty(StatusCode::NOT_FOUND)
    }

    /// Says how the gateway is, to anybody.
    fn health(&self, which: Health) -> Reply;

    /// How a refusal of the edge is worded.
    fn refused(&self, refusal: &Refusal) -> Reply {
        refusal.reply()
    }
}

/// One request to the MCP endpoint.
#[derive(Debug)]
pub struct Call {
    /// What the client does.
    pub verb: Verb,
    /// The head as it came.
    pub head: Arc<Parts>,
    /// What the client takes as an answer.
    pub accepts: Accepts,
    /// The whole body; empty unless the verb is [`Verb::Post`].
    pub body: Bytes,
}

/// One request to the admin API.
#[derive(Debug)]
pub struct Operation<'head> {
    /// What follows `/admin/v1/`.
    pub path: &'head str,
    /// Whether the client asks for a stream as the answer: its `Accept` names `text/event-stream`.
    pub streamed: bool,
    /// The whole body.
    pub body: Bytes,
}

/// What can be done at the MCP endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// Sends a message.
    Post,
    /// Opens the stream for what belongs to no request (session era).
    Get,
    /// Ends the session (session era).
    Delete,
}

/// Which question about its health the gateway is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// `GET /healthz`: does the process answer?
    Alive,
    /// `GET /readyz`: will it serve what is sent to it?
    Ready,
}

impl Verb {
    /// The verbs, as an `Allow` header lists them.
    pub(super) const ALLOW: &str = "POST, GET, DELETE";

    pub(super) fn of(method: &Method) -> Option<Self> {
        match *method {
            Method::POST => Some(Self::Post),
            Method::GET => Some(Self::Get),
            Method::DELETE => Some(Self::Delete),
            _ => None,
        }
    }
}
