//! One connection, and the order of checks for each request on it.

use std::any::Any;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::Body as Received;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::body::Body;
use super::guard::Guard;
use super::pulse::Pulse;
use super::route::Route;
#[cfg(feature = "tls")]
use super::tls::Greeted;
use super::wire::{Socket, Wire};
use super::{
    Accepts, Call, Content, Front, Health, Limits, Operation, Refusal, Reply, Verb, accepts, cors, intake,
};
use crate::bell::{Attended, Door};

/// What is the same for all connections of a server.
pub(super) struct Rules {
    pub(super) endpoint: String,
    pub(super) admin: bool,
    /// Whether another server has the connections, and has looked at the path.
    pub(super) mounted: bool,
    /// None for a socket that only this machine can reach.
    pub(super) guard: Option<Guard>,
    pub(super) limits: Limits,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<super::Tls>,
}

/// What is the same for all requests of a connection.
pub(super) struct Connection<F: Front> {
    front: Arc<F>,
    rules: Arc<Rules>,
    pulse: Arc<Pulse>,
    memo: Mutex<F::Memo>,
    /// The one request that is answered: hyper polls it too when something else has happened.
    door: Door,
    local: Option<IpAddr>,
    /// Whether it is one too many: then it only hears so.
    surplus: bool,
    /// Whether it speaks no TLS where that is spoken: then it only hears so.
    plain: bool,
}

/// The body of a request, as it arrives.
pub(super) trait Arriving: Received<Data = Bytes> + Send + Unpin {}

impl<B: Received<Data = Bytes> + Send + Unpin> Arriving for B {}

/// Why there is no answer from the gateway.
enum Turned {
    Refused(Refusal),
    NotAdmitted(Box<Reply>),
}

impl<F: Front> Connection<F> {
    pub(super) fn new(front: Arc<F>, rules: Arc<Rules>, surplus: bool) -> Self {
        let pulse = Arc::new(Pulse::new());
        Self {
            front,
            rules,
            pulse,
            memo: Mutex::default(),
            door: Door::new(),
            local: None,
            surplus,
            plain: false,
        }
    }

    /// What it is doing, as it goes on.
    pub(super) fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(&self.pulse)
    }

    /// Serves the connection until it ends, is over a limit, or `shutdown` lets its last answer out.
    pub(super) async fn serve(mut self, socket: Socket, shutdown: CancellationToken) {
        let greeted = shutdown.run_until_cancelled(self.greet(socket)).await;
        let Some(Some(socket)) = greeted else { return };
        self.local = socket.local_ip();
        let (pulse, rules) = (Arc::clone(&self.pulse), Arc::clone(&self.rules));
        let wire = TokioIo::new(Wire::new(socket, Arc::clone(&pulse)));
        let shared = Arc::new(self);
        let service = service_fn(move |request| Arc::clone(&shared).answer(request));
        let mut http = Attended::new(protocol(&rules.limits).serve_connection(wire, service));

        let mut watch = interval(rules.limits.watch());
        let mut ending = false;
        loop {
            tokio::select! { biased;
                ended = &mut http => return note_end(ended),
                () = shutdown.cancelled(), if !ending => {
                    ending = true;
                    http.inner().graceful_shutdown();
                }
                _ = watch.tick() => if let Some(reason) = pulse.overdue(&rules.limits) {
                    return debug!(reason, "closing a connection");
                }
            }
        }
    }

    /// Agrees with the client on TLS, where that is spoken.
    #[cfg(feature = "tls")]
    async fn greet(&mut self, socket: Socket) -> Option<Socket> {
        let stream = match (&self.rules.tls, socket) {
            (Some(_), Socket::Tcp(stream)) => stream,
            (_, socket) => return Some(socket),
        };
        match self.rules.tls.as_ref()?.greet(stream).await {
            Ok(Greeted::Secured(stream)) => Some(Socket::Tls(stream)),
            Ok(Greeted::Plain(stream)) => {
                self.plain = true;
                Some(Socket::Tcp(stream))
            }
            Err(error) => {
                debug!(
                    error = &error as &dyn std::error::Error,
                    "no TLS came of a connection"
                );
                None
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_async, reason = "as where TLS is spoken")]
    async fn greet(&mut self, socket: Socket) -> Option<Socket> {
        Some(socket)
    }

    pub(super) async fn answer<B: Arriving>(
        self: Arc<Self>,
        request: Request<B>,
    ) -> Result<Response<Body>, Infallible> {
        let (head, mut body) = request.into_parts();
        self.pulse.asked(!body.is_end_stream());
        let page = match self.guard(&head) {
            Ok(page) => page,
            Err(refusal) => return Ok(self.response(self.front.refused(&refusal), None)),
        };
        let mut answered = pin!(AssertUnwindSafe(self.reply(head, &mut body)).catch_unwind());
        self.door.open();
        let reply = match poll_fn(|cx| self.door.poll(answered.as_mut(), cx)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(Turned::NotAdmitted(reply))) => *reply,
            Ok(Err(Turned::Refused(refusal))) => self.front.refused(&refusal),
            Err(panic) => self.front.refused(&fault(&*panic)),
        };
        Ok(self.response(reply, page))
    }

    /// Checks by what name and from what web page the call comes; gives the page's origin.
    fn guard(&self, head: &Parts) -> Result<Option<HeaderValue>, Refusal> {
        let Some(guard) = &self.rules.guard else {
            return Ok(None);
        };
        guard.check_host(head, self.local)?;
        Ok(guard.check_origin(&head.headers)?.cloned())
    }

    async fn reply(&self, head: Parts, body: &mut impl Arriving) -> Result<Reply, Turned> {
        if self.surplus {
            return Err(Refusal::Full {
                limit: self.rules.limits.connections,
            }
            .into());
        }
        if self.plain {
            return Err(Refusal::Plain.into());
        }
        if self.rules.guard.is_some() && cors::is_preflight(&head) {
            return Ok(cors::preflight(&head));
        }
        match self.rules.route(head.uri.path()) {
            Route::Mcp => self.mcp(head, body).await,
            Route::Admin(path) => self.admin(&head, path, body).await,
            Route::Health(which) => self.health(&head, which),
            Route::Metrics => self.metrics(&head),
            Route::Nowhere => Err(Refusal::NotFound {
                endpoint: self.rules.endpoint.clone(),
            }
            .into()),
        }
    }

    async fn mcp(&self, head: Parts, body: &mut impl Arriving) -> Result<Reply, Turned> {
        let caller = self.admit(&head)?;
        let verb = Verb::of(&head.method).ok_or(Refusal::Method { allow: Verb::ALLOW })?;
        let accepts = Accepts::of(&head.headers);
        accepts.allow(verb)?;
        let body = match verb {
            Verb::Post => self.json_body(&head.headers, body).await?,
            Verb::Get | Verb::Delete => Bytes::new(),
        };
        let call = Call {
            verb,
            head,
            accepts,
            body,
        };
        Ok(self.front.mcp(caller, call).await)
    }

    async fn admin(&self, head: &Parts, path: &str, body: &mut impl Arriving) -> Result<Reply, Turned> {
        let caller = self.admit(head)?;
        if head.method != Method::POST {
            return Err(Refusal::Method { allow: "POST" }.into());
        }
        let operation = Operation {
            path,
            streamed: accepts::names_events(&head.headers),
            body: self.json_body(&head.headers, body).await?,
        };
        Ok(self.front.admin(caller, operation).await)
    }

    fn health(&self, head: &Parts, which: Health) -> Result<Reply, Turned> {
        match head.method {
            Method::GET | Method::HEAD => Ok(self.front.health(which)),
            _ => Err(Refusal::Method { allow: "GET, HEAD" }.into()),
        }
    }

    fn metrics(&self, head: &Parts) -> Result<Reply, Turned> {
        let caller = self.admit(head)?;
        match head.method {
            Method::GET | Method::HEAD => Ok(self.front.metrics(caller)),
            _ => Err(Refusal::Method { allow: "GET, HEAD" }.into()),
        }
    }

    fn admit(&self, head: &Parts) -> Result<F::Caller, Turned> {
        let mut memo = self.memo.lock();
        let caller = self.front.admit(head, &mut memo).map_err(Turned::NotAdmitted)?;
        self.pulse.met();
        Ok(caller)
    }

    async fn json_body(&self, headers: &HeaderMap, body: &mut impl Arriving) -> Result<Bytes, Refusal> {
        accepts::body_is_json(headers)?;
        let body = intake::take(body, &self.rules.limits).await?;
        self.pulse.read();
        Ok(body)
    }

    fn response(&self, reply: Reply, page: Option<HeaderValue>) -> Response<Body> {
        let Reply {
            status,
            mut headers,
            content,
        } = reply;
        describe(&content, &mut headers);
        if let Some(origin) = page {
            cors::open_to(origin, &mut headers);
        }
        if !self.rules.mounted && (self.surplus || self.plain || self.pulse.is_unread()) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let body = Body::new(content, self.rules.limits.keep_alive, Arc::clone(&self.pulse));
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

impl Rules {
    fn route<'path>(&self, path: &'path str) -> Route<'path> {
        match self.mounted {
            true => Route::Mcp,
            false => Route::of(path, &self.endpoint, self.admin),
        }
    }
}

fn protocol(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    // The watch of the connection looks after the time limits, at no cost per request.
    http.header_read_timeout(None).max_header_size(limits.head);
    http
}

/// Sets the headers that follow from what the body is.
fn describe(content: &Content, headers: &mut HeaderMap) {
    match content {
        Content::Empty => {}
        Content::Json(_) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Content::Text(_, kind) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        Content::Events(_) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            let buffering = HeaderName::from_static("x-accel-buffering");
            headers.insert(buffering, HeaderValue::from_static("no"));
        }
    }
}

/// Logs what a panic said, and gives the client a name for the entry.
fn fault(panic: &(dyn Any + Send)) -> Refusal {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let reason = text
        .or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    let request_id = format!("{:016x}", getrandom::u64().unwrap_or_default());
    error!(%request_id, reason, "a request failed inside the gateway");
    Refusal::Fault { request_id }
}

fn note_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        debug!(error = &error as &dyn std::error::Error, "a connection broke");
    }
}

impl From<Refusal> for Turned {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
