//! One connection, and the order of checks for each request on it.

use std::any::Any;
use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{HeaderValue, Method};
use hyper::body::Body as Received;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::guard::Guard;
use super::http1::{Arrival, Asked, Line, Manner, Telling};
use super::pulse::Pulse;
use super::route::Route;
#[cfg(feature = "tls")]
use super::tls::Greeted;
use super::wire::{Socket, Wire};
use super::{Accepts, Call, Front, Health, Limits, Operation, Refusal, Reply, Verb, accepts, cors, intake};
use crate::bell::Door;

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
    /// What is known of the head that came last: what is said again needs no second look.
    passed: Mutex<Option<Passed>>,
    /// The one request that is answered, which has its turn when it was woken: the connection is also woken for
    /// what comes and goes on it.
    door: Door,
    local: Option<IpAddr>,
    /// Whether it is one too many: then it only hears so.
    surplus: bool,
    /// Whether it speaks no TLS where that is spoken: then it only hears so.
    plain: bool,
}

/// A head that got past the guard.
struct Passed {
    /// It is its connection's to remember; no other can take its place as long as this is here.
    head: Weak<Parts>,
    /// The origin of the page that calls.
    page: Option<HeaderValue>,
    /// What it asks of the MCP endpoint, once that is known to be possible.
    wish: Option<Wish>,
}

impl Passed {
    fn is_of(&self, head: &Arc<Parts>) -> bool {
        std::ptr::eq(self.head.as_ptr(), Arc::as_ptr(head))
    }
}

/// What is done at the MCP endpoint, and what is taken as an answer.
#[derive(Clone, Copy)]
struct Wish {
    verb: Verb,
    accepts: Accepts,
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
            passed: Mutex::default(),
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

    /// Serves the connection until it ends, or `shutdown` lets its last answer out.
    pub(super) async fn serve(mut self, socket: Socket, shutdown: CancellationToken) {
        let greeted = shutdown.run_until_cancelled(self.greet(socket)).await;
        let Some(Some(socket)) = greeted else { return };
        self.local = socket.local_ip();
        let line = Line::new(Wire::new(socket, Arc::clone(&self.pulse)), self.rules.limits.head);
        self.run(&line, &shutdown).await;
    }

    /// Answers one request after another.
    async fn run(&self, line: &Line, shutdown: &CancellationToken) {
        let mut closing = pin!(shutdown.cancelled());
        loop {
            let next = poll_fn(|cx| next(line, closing.as_mut(), cx)).await;
            let Some(told) = self.turn(line, next, shutdown).await else {
                return; // There is nobody to say anything to.
            };
            if !told {
                break;
            }
        }
        if let Err(error) = poll_fn(|cx| line.poll_end(cx)).await {
            debug!(error = &error as &dyn std::error::Error, "a connection broke");
        }
    }

    /// Answers one request; whether another can follow, none if the client has left.
    async fn turn(&self, line: &Line, next: Next, shutdown: &CancellationToken) -> Option<bool> {
        let (reply, manner) = match next {
            Next::Nothing => return None,
            Next::Closing => {
                line.forget_told();
                return Some(false);
            }
            Next::Malformed(refusal) => {
                debug!(reason = %refusal, "what came on a connection is no request");
                self.pulse.asked(true);
                (self.front.refused(&refusal), Manner::LAST)
            }
            Next::Asked(Asked { head, manner }) => (self.answered(line, head).await?, manner),
        };
        let last = !manner.persistent || self.is_last() || shutdown.is_cancelled();
        let keep_alive = self.rules.limits.keep_alive;
        let telling = Telling {
            manner,
            last,
            keep_alive,
        };
        let follows = telling.tell(line, reply).await;
        self.pulse.answered();
        if !line.is_at_rest() {
            self.pulse.heard(); // The next request has begun already.
        }
        Some(follows)
    }

    /// The answer to a request; none if the client leaves before there is one.
    async fn answered(&self, line: &Line, head: Arc<Parts>) -> Option<Reply> {
        let mut body = Arrival::on(line);
        self.pulse.asked(!body.is_end_stream());
        let mut answer = pin!(self.answer(head, &mut body));
        self.door.open();
        poll_fn(|cx| match self.door.poll(answer.as_mut(), cx) {
            Poll::Ready(reply) => Poll::Ready(Some(reply)),
            Poll::Pending => line.poll_gone(cx).map(|()| None),
        })
        .await
    }

    /// Whether nothing can follow, whatever the client wants.
    fn is_last(&self) -> bool {
        self.surplus || self.plain || self.pulse.is_unread()
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

    /// The answer to a request, after all checks.
    pub(super) async fn answer(&self, head: Arc<Parts>, body: &mut impl Arriving) -> Reply {
        let page = match self.guard(&head) {
            Ok(page) => page,
            Err(refusal) => return self.front.refused(&refusal),
        };
        let answered = AssertUnwindSafe(self.reply(head, body)).catch_unwind();
        let mut reply = match answered.await {
            Ok(Ok(reply)) => reply,
            Ok(Err(Turned::NotAdmitted(reply))) => *reply,
            Ok(Err(Turned::Refused(refusal))) => self.front.refused(&refusal),
            Err(panic) => self.front.refused(&fault(&*panic)),
        };
        if let Some(origin) = page {
            cors::open_to(origin, &mut reply.headers);
        }
        reply
    }

    /// Checks by what name and from what web page the call comes; gives the page's origin.
    fn guard(&self, head: &Arc<Parts>) -> Result<Option<HeaderValue>, Refusal> {
        let Some(guard) = &self.rules.guard else {
            return Ok(None);
        };
        let mut passed = self.passed.lock();
        if let Some(known) = passed.as_ref().filter(|known| known.is_of(head)) {
            return Ok(known.page.clone());
        }
        guard.check_host(head, self.local)?;
        let page = guard.check_origin(&head.headers)?.cloned();
        *passed = Some(Passed {
            head: Arc::downgrade(head),
            page: page.clone(),
            wish: None,
        });
        Ok(page)
    }

    async fn reply(&self, head: Arc<Parts>, body: &mut impl Arriving) -> Result<Reply, Turned> {
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

    async fn mcp(&self, head: Arc<Parts>, body: &mut impl Arriving) -> Result<Reply, Turned> {
        let caller = self.admit(&head)?;
        let Wish { verb, accepts } = self.wish(&head)?;
        let (caller, body) = match verb {
            Verb::Post => self.take(caller, &head, body).await?,
            Verb::Get | Verb::Delete => (caller, Bytes::new()),
        };
        let call = Call {
            verb,
            head,
            accepts,
            body,
        };
        Ok(self.front.mcp(caller, call).await)
    }

    /// What a head asks of the MCP endpoint.
    fn wish(&self, head: &Arc<Parts>) -> Result<Wish, Refusal> {
        let mut passed = self.passed.lock();
        let passed = passed.as_mut().filter(|known| known.is_of(head));
        if let Some(wish) = passed.as_ref().and_then(|known| known.wish) {
            return Ok(wish);
        }
        let verb = Verb::of(&head.method).ok_or(Refusal::Method { allow: Verb::ALLOW })?;
        let accepts = Accepts::of(&head.headers);
        accepts.allow(verb)?;
        if verb == Verb::Post {
            accepts::body_is_json(&head.headers)?;
        }
        let wish = Wish { verb, accepts };
        if let Some(known) = passed {
            known.wish = Some(wish);
        }
        Ok(wish)
    }

    async fn admin(&self, head: &Arc<Parts>, path: &str, body: &mut impl Arriving) -> Result<Reply, Turned> {
        let caller = self.admit(head)?;
        if head.method != Method::POST {
            return Err(Refusal::Method { allow: "POST" }.into());
        }
        accepts::body_is_json(&head.headers)?;
        let (caller, body) = self.take(caller, head, body).await?;
        let operation = Operation {
            path,
            streamed: accepts::names_events(&head.headers),
            body,
        };
        Ok(self.front.admin(caller, operation).await)
    }

    fn health(&self, head: &Parts, which: Health) -> Result<Reply, Turned> {
        match head.method {
            Method::GET | Method::HEAD => Ok(self.front.health(which)),
            _ => Err(Refusal::Method { allow: "GET, HEAD" }.into()),
        }
    }

    fn metrics(&self, head: &Arc<Parts>) -> Result<Reply, Turned> {
        let caller = self.admit(head)?;
        match head.method {
            Method::GET | Method::HEAD => Ok(self.front.metrics(caller)),
            _ => Err(Refusal::Method { allow: "GET, HEAD" }.into()),
        }
    }

    fn admit(&self, head: &Arc<Parts>) -> Result<F::Caller, Turned> {
        let mut memo = self.memo.lock();
        let admitted = self.front.admit(head, &mut memo);
        self.pulse.met(admitted.is_ok());
        admitted.map_err(Turned::NotAdmitted)
    }

    /// The body, and who sends it: whoever takes its time with that may not be let in any more when all of it is there.
    async fn take(
        &self,
        caller: F::Caller,
        head: &Arc<Parts>,
        body: &mut impl Arriving,
    ) -> Result<(F::Caller, Bytes), Turned> {
        let mut taking = pin!(intake::take(body, &self.rules.limits));
        let mut waited = false;
        let taken = poll_fn(|cx| {
            let taken = taking.as_mut().poll(cx);
            waited |= taken.is_pending();
            taken
        });
        let body = taken.await?;
        self.pulse.read();
        let caller = if waited { self.admit(head)? } else { caller };
        Ok((caller, body))
    }
}

/// What comes next on a connection.
enum Next {
    Asked(Asked),
    /// Something that is no request.
    Malformed(Refusal),
    /// Nothing is to come, because the server ends.
    Closing,
    /// Nothing will come, because the client has left.
    Nothing,
}

/// Waits for a request. One that has begun is waited for even when the server ends.
fn next(line: &Line, closing: Pin<&mut impl Future<Output = ()>>, cx: &mut Context<'_>) -> Poll<Next> {
    match line.poll_asked(cx) {
        Poll::Ready(Some(Ok(asked))) => Poll::Ready(Next::Asked(asked)),
        Poll::Ready(Some(Err(refusal))) => Poll::Ready(Next::Malformed(refusal)),
        Poll::Ready(None) => Poll::Ready(Next::Nothing),
        Poll::Pending if line.is_at_rest() => closing.poll(cx).map(|()| Next::Closing),
        Poll::Pending => Poll::Pending,
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

impl From<Refusal> for Turned {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
