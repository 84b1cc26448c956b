//! A front without a socket of its own: another HTTP server has the connections and hands requests on.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderName, HeaderValue, Request, Response, Version};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use mcpr_protocol::Rope;

use super::body::Body;
use super::connection::{Arriving, Connection, Rules};
use super::guard::Guard;
use super::{Front, Options, Reply};

/// The MCP endpoint as a service of hyper, and with the feature `tower` of tower: to be mounted in a server that a
/// program has already.
///
/// It answers whatever request it is handed, at whatever path: where it is mounted is its caller's choice. The checks
/// of the edge are the same as on a socket (Host and Origin, caller, verb, media types, size and time of the body), a
/// panic becomes a 500, streams get their comments, and a dropped response ends what its client waits for. What is a
/// connection's (how many there are, how long a head or a reader may take, TLS, the end) is the server's around it.
/// Only the endpoint is served: neither health nor metrics nor the admin API.
pub struct Mounted<F> {
    front: Arc<F>,
    rules: Arc<Rules>,
}

/// The body of an answer: whole, or one event at a time.
pub struct Pieces(Body);

/// An answer that is on its way.
type Answering = Pin<Box<dyn Future<Output = Result<Response<Pieces>, Infallible>> + Send>>;

impl<F: Front> Mounted<F> {
    /// Mounts a front; of the options those count that are not a connection's.
    pub fn new(front: Arc<F>, options: Options) -> Self {
        let rules = Rules {
            guard: Some(Guard::new(&options)),
            endpoint: options.endpoint,
            admin: false,
            mounted: true,
            limits: options.limits,
            #[cfg(feature = "tls")]
            tls: None,
        };
        Self {
            front,
            rules: Arc::new(rules),
        }
    }

    fn answer<B: Arriving + 'static>(&self, mut request: Request<B>) -> Answering {
        name_host(&mut request);
        let (front, rules) = (Arc::clone(&self.front), Arc::clone(&self.rules));
        // Nothing is known of the connection, so nothing is remembered from one request to the next.
        let connection = Connection::new(front, rules, false);
        let keep_alive = self.rules.limits.keep_alive;
        Box::pin(async move {
            let (head, mut body) = request.into_parts();
            let reply = connection.answer(Arc::new(head), &mut body).await;
            Ok(response(reply, keep_alive))
        })
    }
}

/// The response that says a reply.
fn response(reply: Reply, keep_alive: Duration) -> Response<Pieces> {
    let Reply {
        status,
        mut headers,
        content,
    } = reply;
    for (name, value) in content.fields() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let mut response = Response::new(Pieces(Body::new(content, keep_alive)));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// HTTP/2 and later have the name of the host in the URI (RFC 9113, section 8.3.1).
fn name_host<B>(request: &mut Request<B>) {
    if request.version() < Version::HTTP_2 || request.headers().contains_key(HOST) {
        return;
    }
    let authority = request.uri().authority();
    if let Some(host) = authority.and_then(|authority| HeaderValue::from_str(authority.as_str()).ok()) {
        request.headers_mut().insert(HOST, host);
    }
}

impl<F: Front, B: Arriving + 'static> hyper::service::Service<Request<B>> for Mounted<F> {
    type Response = Response<Pieces>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<B>) -> Answering {
        self.answer(request)
    }
}

#[cfg(feature = "tower")]
impl<F: Front, B: Arriving + 'static> tower_service::Service<Request<B>> for Mounted<F> {
    type Response = Response<Pieces>;
    type Error = Infallible;
    type Future = Answering;

    /// It is always ready: what is too much is refused request by request.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        self.answer(request)
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = Pin::new(&mut self.0).poll_frame(cx);
        frame.map_ok(|frame| frame.map_data(Rope::into_bytes))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl<F> Clone for Mounted<F> {
    fn clone(&self) -> Self {
        Self {
            front: Arc::clone(&self.front),
            rules: Arc::clone(&self.rules),
        }
    }
}

impl<F> fmt::Debug for Mounted<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounted").finish_non_exhaustive()
    }
}

impl fmt::Debug for Pieces {
    /// Nothing of what it holds: payloads never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").finish_non_exhaustive()
    }
}
