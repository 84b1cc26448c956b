//! Clients over streamable HTTP, of both eras on one URL, and operators on the control socket.

mod batch;
mod context;
mod events;
mod post;
mod refusal;
mod streams;

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::Poll;

use ::http::header::AUTHORIZATION;
use ::http::request::Parts;
use ::http::{HeaderValue, Response, StatusCode};
use bytes::Bytes;
use futures_util::StreamExt;
use mcpr_admin::refuse;
use mcpr_auth::{Denied, Memo, Principal, Scope, Timestamp, bearer};
use mcpr_config::GatewayOptions;
use mcpr_protocol::RawJson;
use mcpr_transport::http::server::{
    self, Call, Content, End, Front, Health, Operation, Refusal, Reply, Verb,
};
use mcpr_transport::sse;
use serde_json::json;

pub use mcpr_transport::http::server::{BindError, Bound, Limits, Mounted, Options, Pieces};
#[cfg(feature = "tls")]
pub use mcpr_transport::http::server::{Tls, TlsError};

use self::refusal::{unauthorized, unauthorized_here};
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::operations::Operator;
use crate::quota::{Share, Spot};

/// The media type of metrics (OpenMetrics 1.0, section 4.1).
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Who is let in at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Door {
    /// Whoever has a token.
    Tokens,
    /// Anybody; for loopback addresses only, and behind a server that looks who comes.
    Open,
    /// The operator, whom the permissions of the socket let in; also serves the admin API.
    Control,
    /// The same, where whoever the permissions let in must have a token too.
    Guarded,
}

impl Door {
    /// Whether operators come in here.
    fn is_of_operator(self) -> bool {
        matches!(self, Self::Control | Self::Guarded)
    }

    /// Whether a token is asked for.
    fn wants_tokens(self) -> bool {
        matches!(self, Self::Tokens | Self::Guarded)
    }
}

/// Serves clients at an address until the gateway ends.
///
/// # Errors
///
/// When the runtime cannot watch the socket.
pub async fn serve(gateway: Arc<Gateway>, bound: Bound, door: Door, options: Options) -> io::Result<()> {
    // The operator's door closes last: whoever waits there for the end of the gateway sees it.
    let end = match door {
        Door::Control | Door::Guarded => End::at(gateway.ended.clone()),
        Door::Tokens | Door::Open => End {
            close: gateway.leaving.clone(),
            finish: gateway.stop.clone(),
        },
    };
    // As long as it has connections the gateway waits for what they bring.
    let _open = (!door.is_of_operator()).then(|| gateway.doors.token());
    let loopback = bound
        .local_addr()
        .is_some_and(|address| address.ip().is_loopback());
    let options = Options {
        // SEC-06: the operator's socket, or a loopback address with an operator's token.
        admin: door.is_of_operator() || (door == Door::Tokens && loopback),
        ..options
    };
    let front = HttpFront {
        gateway,
        door,
        mounted: false,
    };
    server::serve(bound, Arc::new(front), options, end).await
}

/// The MCP endpoint of a gateway as a service, without an address of its own: see [`Mounted`] for what is whose.
///
/// Of the limits for each principal, `connections` does not count.
pub fn mount(gateway: Arc<Gateway>, door: Door, options: Options) -> Mounted<HttpFront> {
    let front = HttpFront {
        gateway,
        door,
        mounted: true,
    };
    Mounted::new(Arc::new(front), options)
}

/// What the configuration says of the edge.
pub fn options(gateway: &GatewayOptions) -> Options {
    Options {
        allowed_hosts: gateway.allowed_hosts.clone(),
        allowed_origins: gateway.allowed_origins.clone(),
        limits: Limits {
            body: gateway.limits.request_body,
            connections: gateway.limits.connections,
            ..Limits::default()
        },
        ..Options::default()
    }
}

impl Gateway {
    /// The MCP endpoint as a service of hyper and (with the feature `tower`) tower, for whoever has a token: to be
    /// mounted at a path of one's own in a server that a program has already. Host and Origin are checked as ever,
    /// by `allowedHosts` and `allowedOrigins` of the configuration.
    pub fn service(self: &Arc<Self>) -> Mounted<HttpFront> {
        mount(self.clone(), Door::Tokens, options(&self.plan().options))
    }
}

/// The gateway as HTTP clients see it.
pub struct HttpFront {
    gateway: Arc<Gateway>,
    door: Door,
    /// Whether another server has the connections, so that there are none to count here.
    mounted: bool,
}

/// What is remembered of a connection from one request to the next.
#[derive(Default)]
pub struct Visit {
    /// The token that was verified last.
    memo: Memo,
    /// The head that it came with, which is its connection's to remember.
    head: Option<Weak<Parts>>,
    /// What it counts as among the connections of whoever came last.
    spot: Option<Spot>,
}

impl Front for HttpFront {
    type Caller = Principal;
    type Memo = Visit;

    fn admit(&self, head: &Arc<Parts>, visit: &mut Visit) -> Result<Principal, Box<Reply>> {
        let caller = match self.door {
            Door::Control => return Ok(Principal::local()),
            Door::Open => Principal::anonymous(),
            Door::Tokens | Door::Guarded => self.verified(head, visit).map_err(|denied| {
                visit.spot = None; // Whoever it was before, it is nobody now.
                Box::new(self.turn_away(&denied))
            })?,
        };
        self.count_in(&caller, visit)?;
        Ok(caller)
    }

    async fn mcp(&self, caller: Principal, call: Call) -> Reply {
        let reader = caller.clone();
        let reply = match call.verb {
            Verb::Post => {
                let answer = pin!(self.post(caller, call));
                self.unless_banished(&reader, answer).await
            }
            Verb::Get => self.get(&caller, &call.head),
            Verb::Delete => self.delete(&caller, &call.head.headers),
        };
        self.while_let_in(reader, reply)
    }

    async fn admin(&self, caller: Principal, operation: Operation<'_>) -> Reply {
        if self.door.wants_tokens() && !caller.allows(Scope::Admin) {
            return whole(refuse(Operator::lacks_scope("admin")));
        }
        let operator = Operator::new(self.gateway.clone());
        let Operation { path, streamed, body } = operation;
        match operator.stream(&caller, path, streamed, &body).await {
            None => whole(operator.perform(&caller, path, &body).await),
            Some(Err(failure)) => whole(refuse(failure)),
            Some(Ok(texts)) => {
                let events = Reply::events(texts.map(|text| sse::message(None, text.into())));
                self.while_let_in(caller, events)
            }
        }
    }

    fn metrics(&self, caller: Principal) -> Reply {
        if self.door.wants_tokens() && !caller.allows(Scope::Admin) {
            return whole(refuse(Operator::lacks_scope("admin")));
        }
        Reply::text(self.gateway.metrics.render(), OPEN_METRICS)
    }

    fn refused(&self, refusal: &Refusal) -> Reply {
        if matches!(refusal, Refusal::Host(_) | Refusal::Origin(_)) {
            self.gateway.foreign(refusal);
        }
        refusal.reply()
    }

    fn health(&self, which: Health) -> Reply {
        let well = which == Health::Alive || self.gateway.is_ready();
        let status = if well {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        Reply::json(
            status,
            RawJson::render(&json!({ "status": if well { "ok" } else { "stopping" } })),
        )
    }
}

impl HttpFront {
    /// Whose token a head has; of the same head as before the token need not be looked at again.
    fn verified(&self, head: &Arc<Parts>, visit: &mut Visit) -> Result<Principal, Denied> {
        let (tokens, now) = (self.gateway.doorkeeper.tokens(), Timestamp::now());
        let is_it = |known: &Weak<Parts>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(head));
        if visit.head.as_ref().is_some_and(is_it)
            && let Some(principal) = visit.memo.again(tokens, now)
        {
            return Ok(principal);
        }
        visit.head = None;
        let presented = bearer(head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes))?;
        let principal = visit.memo.verify(tokens, presented, now)?;
        visit.head = Some(Arc::downgrade(head));
        Ok(principal)
    }

    /// Counts the connection among those of whoever comes on it.
    fn count_in(&self, caller: &Principal, visit: &mut Visit) -> Result<(), Box<Reply>> {
        if self.mounted || visit.spot.as_ref().is_some_and(|spot| spot.is_of(caller)) {
            return Ok(());
        }
        visit.spot = None;
        match self.gateway.take_spot(caller, Share::Connection) {
            Ok(spot) => visit.spot = Some(spot),
            Err(full) => return Err(Box::new(self.hung_up(caller, &full.into()))),
        }
        Ok(())
    }

    /// Waits for an answer, or turns its caller away once that would no longer be let in (SEC-02). What is
    /// answered without a wait costs nothing here, and neither does who came without a token.
    async fn unless_banished(
        &self,
        caller: &Principal,
        mut answer: Pin<&mut (impl Future<Output = Reply> + Send)>,
    ) -> Reply {
        if caller.grant().is_none() {
            return answer.await;
        }
        // What ends with the token, as a session does, answers only after that is known; so of two that are there
        // at once it comes first, but not before the answer had its first turn.
        let mut banished = pin!(self.gateway.doorkeeper.banished(caller));
        let mut waits = false;
        let outcome = poll_fn(|cx| {
            if waits && let Poll::Ready(denied) = banished.as_mut().poll(cx) {
                return Poll::Ready(Err(denied));
            }
            if let Poll::Ready(reply) = answer.as_mut().poll(cx) {
                return Poll::Ready(Ok(reply));
            }
            match std::mem::replace(&mut waits, true) {
                true => Poll::Pending,
                false => banished.as_mut().poll(cx).map(Err),
            }
        });
        match outcome.await {
            Ok(reply) if waits => self.unless_just_banished(caller, reply),
            Ok(reply) => reply,
            Err(denied) => self.turn_away(&denied),
        }
    }

    /// A session that ends with its token may be heard of first.
    fn unless_just_banished(&self, caller: &Principal, reply: Reply) -> Reply {
        if reply.status.is_success() {
            return reply;
        }
        match self
            .gateway
            .doorkeeper
            .tokens()
            .recheck_text(caller, Timestamp::now())
        {
            Ok(_) => reply,
            Err(denied) => self.turn_away(&denied),
        }
    }

    /// The answer to whoever is not let in.
    fn turn_away(&self, denied: &Denied) -> Reply {
        self.gateway.denied(denied);
        match self.door {
            Door::Guarded => unauthorized_here(denied),
            _ => unauthorized(denied),
        }
    }

    /// Ends a stream when the token of whoever reads it would no longer be let in (SEC-02).
    fn while_let_in(&self, reader: Principal, reply: Reply) -> Reply {
        if reader.grant().is_none() {
            return reply;
        }
        let Content::Events(events) = reply.content else {
            return reply;
        };
        let doorkeeper = self.gateway.doorkeeper.clone();
        let banished = async move { drop(doorkeeper.banished(&reader).await) };
        Reply {
            content: Content::Events(Box::pin(events.take_until(Box::pin(banished)))),
            ..reply
        }
    }

    /// Counts what a caller sends over the network.
    fn pace(&self, caller: &Principal, requests: usize) -> Result<(), Fault> {
        match self.door {
            Door::Tokens | Door::Open | Door::Guarded if requests > 0 => self.gateway.pace(caller, requests),
            _ => Ok(()),
        }
    }
}

fn whole(answer: Response<Bytes>) -> Reply {
    let (head, body) = answer.into_parts();
    Reply::json(head.status, body)
}
