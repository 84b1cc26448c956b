//! Clients over streamable HTTP, of both eras on one URL, and operators on the control socket.

use std::io;
use std::sync::Arc;

use ::http::header::{ALLOW, AUTHORIZATION, WWW_AUTHENTICATE};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use futures_util::stream;
use mcpr_auth::{Denied, Memo, Principal, Scope, Timestamp, bearer};
use mcpr_protocol::{
    Broken, Era, Id, Message, Method, Notification, Object, RawJson, Request, Response, Rope, Version,
    notification,
};
use mcpr_transport::http::server::{self, Bound, Call, Front, Health, Options, Reply, Verb};
use mcpr_transport::sse;
use serde_json::json;

use crate::client::Context;
use crate::dispatch::Handled;
use crate::fault::Fault;
use crate::flight::{Done, Flight, Step};
use crate::gateway::Gateway;
use crate::notices::{Listen, SessionNotices};
use crate::operations::Operator;
use crate::session::Session;
use crate::stateless;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The endpoint, as records call it.
const PATH: &str = "/mcp";

/// Who is let in at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    /// Whoever has a token.
    Tokens,
    /// Anybody; for loopback addresses only.
    Open,
    /// The operator, whom the permissions of the socket let in; also serves the admin API.
    Control,
}

/// Serves clients at an address until the gateway stops.
///
/// # Errors
///
/// When the runtime cannot watch the socket.
pub async fn serve(gateway: Arc<Gateway>, bound: Bound, door: Door, options: Options) -> io::Result<()> {
    // The operator's door closes last: whoever waits there for the end of the gateway sees it.
    let stop = if door == Door::Control {
        &gateway.ended
    } else {
        &gateway.stop
    }
    .clone();
    let loopback = bound
        .local_addr()
        .is_some_and(|address| address.ip().is_loopback());
    let options = Options {
        // SEC-06: the operator's socket, or a loopback address with an operator's token.
        admin: door == Door::Control || (door == Door::Tokens && loopback),
        ..options
    };
    server::serve(bound, Arc::new(HttpFront { gateway, door }), options, stop).await
}

struct HttpFront {
    gateway: Arc<Gateway>,
    door: Door,
}

impl Front for HttpFront {
    type Caller = Principal;
    type Memo = Memo;

    fn admit(&self, head: &Parts, memo: &mut Memo) -> Result<Principal, Box<Reply>> {
        match self.door {
            Door::Open => Ok(Principal::anonymous()),
            Door::Control => Ok(Principal::local()),
            Door::Tokens => {
                let presented = bearer(head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes));
                let verified = presented
                    .and_then(|token| memo.verify(self.gateway.doorkeeper.tokens(), token, Timestamp::now()));
                verified.map_err(|denied| Box::new(unauthorized(&denied)))
            }
        }
    }

    async fn mcp(&self, caller: Principal, call: Call) -> Reply {
        match call.verb {
            Verb::Post => self.post(caller, call).await,
            Verb::Get => self.get(&caller, &call.head.headers),
            Verb::Delete => self.delete(&caller, &call.head.headers),
        }
    }

    async fn admin(&self, caller: Principal, path: &str, body: Bytes) -> Reply {
        let operator = Operator::new(self.gateway.clone());
        let answer = match self.door {
            Door::Tokens if !caller.allows(Scope::Admin) => Operator::refuse_for_scope("admin"),
            _ => operator.perform(&caller, path, &body).await,
        };
        let (head, body) = answer.into_parts();
        Reply::json(head.status, body)
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
    async fn post(&self, caller: Principal, call: Call) -> Reply {
        match Message::parse(&call.body) {
            Ok(Message::Request(request)) => self.request(caller, call, request).await,
            Ok(Message::Notification(note)) => self.notification(&caller, &call.head.headers, &note),
            Ok(Message::Response(_)) => self.response(&caller, &call.head.headers),
            Err(Broken { fault, id }) => refuse(id.as_ref(), &Fault::Message(fault), Era::Session),
        }
    }

    async fn request(&self, caller: Principal, call: Call, request: Request) -> Reply {
        let id = request.id.clone();
        let context = match self.context(&caller, &call.head.headers, &request) {
            Ok(Some(context)) => context,
            Ok(None) => return self.initialize(caller, request),
            Err((fault, era)) => return refuse(Some(&id), &fault, era),
        };
        match self.gateway.dispatch(context, request).await {
            Handled::Done(done) => reply(done, &call),
            Handled::Flight(flight) => fly(flight, &call).await,
            Handled::Listen(listen) if call.accepts.events => Reply::events(listen_events(listen)),
            Handled::Listen(_) => refuse(Some(&id), &Fault::NeedsStream, Era::Stateless),
        }
    }

    /// In whose name and in which words a request is made; `None` for one that opens a session.
    fn context(
        &self,
        caller: &Principal,
        headers: &HeaderMap,
        request: &Request,
    ) -> Result<Option<Context>, (Fault, Era)> {
        let stateless = |fault| (fault, Era::Stateless);
        let session = |fault| (fault, Era::Session);
        if let Some(envelope) = stateless::envelope(request.params.as_ref()).map_err(stateless)? {
            let snapshot = self.gateway.snapshot();
            stateless::check(headers, request, &envelope, &snapshot).map_err(stateless)?;
            let context = stateless::context(caller.clone(), &envelope).map_err(stateless)?;
            return Ok(Some(Context {
                path: Some(PATH),
                ..context
            }));
        }
        if names_stateless_version(headers) {
            return Err(stateless(without_envelope(&request.method)));
        }
        if request.method == Method::Initialize {
            return Ok(None);
        }
        let found = self
            .session(caller, headers, Some(&request.method))
            .map_err(session)?;
        Ok(Some(Context::of_session(&found, Some(PATH))))
    }

    /// The session that a request belongs to, if its version header is sound.
    fn session(
        &self,
        caller: &Principal,
        headers: &HeaderMap,
        method: Option<&Method>,
    ) -> Result<Arc<Session>, Fault> {
        match headers.get(SESSION) {
            Some(id) => {
                let id = id.to_str().unwrap_or_default();
                let found = self.gateway.sessions.find(id, caller);
                let session = found.ok_or(Fault::UnknownSession)?;
                check_version(headers, &session)?;
                Ok(session)
            }
            // B108: a client that tries the stateless era without its envelope must fall back at once.
            None => match method {
                Some(method @ (Method::Discover | Method::Listen | Method::Other(_))) => {
                    Err(Fault::MethodNotFound(method.to_string()))
                }
                _ => Err(Fault::NoSession),
            },
        }
    }

    fn initialize(&self, caller: Principal, request: Request) -> Reply {
        match self.gateway.open_session(caller, Some(PATH), request) {
            Ok((session, done)) => {
                let id =
                    HeaderValue::try_from(&*session.id).expect("hexadecimal digits can stand in a header");
                self.gateway.sessions.add(session);
                Reply::json(done.status, done.text).with(SESSION, id)
            }
            Err((id, fault)) => refuse(Some(&id), &fault, Era::Session),
        }
    }

    fn notification(&self, caller: &Principal, headers: &HeaderMap, note: &Notification) -> Reply {
        if names_stateless_version(headers) {
            return Reply::empty(StatusCode::ACCEPTED); // None is defined over HTTP; a stream is cancelled by closing it.
        }
        match self.session(caller, headers, None) {
            Ok(session) => {
                if let Some(id) = cancelled(note) {
                    session.flights.cancel(&id);
                }
                Reply::empty(StatusCode::ACCEPTED)
            }
            Err(fault) => refuse(None, &fault, Era::Session),
        }
    }

    /// An answer to a request of a server; none is relayed yet, so a late one is all it can be.
    fn response(&self, caller: &Principal, headers: &HeaderMap) -> Reply {
        if names_stateless_version(headers) {
            let fault = Fault::InvalidRequest("a stateless client sends no responses".into());
            return refuse(None, &fault, Era::Stateless);
        }
        match self.session(caller, headers, None) {
            Ok(_) => Reply::empty(StatusCode::ACCEPTED),
            Err(fault) => refuse(None, &fault, Era::Session),
        }
    }

    fn get(&self, caller: &Principal, headers: &HeaderMap) -> Reply {
        if names_stateless_version(headers) || !headers.contains_key(SESSION) {
            return no_stream();
        }
        match self.session(caller, headers, None) {
            Ok(session) => Reply::events(notice_events(SessionNotices::open(&self.gateway, session))),
            Err(fault) => refuse(None, &fault, Era::Session),
        }
    }

    fn delete(&self, caller: &Principal, headers: &HeaderMap) -> Reply {
        if names_stateless_version(headers) {
            return no_stream();
        }
        match self.session(caller, headers, None) {
            Ok(session) => {
                self.gateway.sessions.remove(&session);
                Reply::empty(StatusCode::NO_CONTENT)
            }
            Err(fault) => refuse(None, &fault, Era::Session),
        }
    }
}

/// Waits for the first thing a flight says, at most the two seconds after which it says that it
/// is slow: a plain answer is sent as JSON, anything else begins a stream (HTTP-06).
async fn fly(mut flight: Flight, call: &Call) -> Reply {
    loop {
        match flight.next().await {
            Step::Done(done) => return reply(done, call),
            Step::Cancelled if call.accepts.events => return Reply::events(stream::empty()),
            Step::Cancelled => return Reply::empty(StatusCode::ACCEPTED),
            Step::Slow if call.accepts.events => return Reply::events(flight_events(None, flight)),
            Step::Note(note) if call.accepts.events => {
                return Reply::events(flight_events(Some(note), flight));
            }
            Step::Slow | Step::Note(_) => {} // This client takes nothing but the answer.
        }
    }
}

fn flight_events(first: Option<Rope>, flight: Flight) -> impl futures_util::Stream<Item = Rope> + Send {
    stream::unfold((first, Some(flight)), |(first, flight)| async move {
        let mut flight = flight?;
        if let Some(first) = first {
            return Some((sse::message(None, first), (None, Some(flight))));
        }
        loop {
            match flight.next().await {
                Step::Note(note) => return Some((sse::message(None, note), (None, Some(flight)))),
                Step::Done(done) => return Some((sse::message(None, done.text), (None, None))),
                Step::Slow => {}
                Step::Cancelled => return None,
            }
        }
    })
}

fn notice_events(notices: SessionNotices) -> impl futures_util::Stream<Item = Rope> + Send {
    stream::unfold(notices, |mut notices| async move {
        let notice = notices.next().await?;
        Some((sse::message(None, notice), notices))
    })
}

fn listen_events(listen: Listen) -> impl futures_util::Stream<Item = Rope> + Send {
    stream::unfold(listen, |mut listen| async move {
        let message = listen.next().await?;
        Some((sse::message(None, message), listen))
    })
}

/// A stream has no status of its own, so what needs one is JSON even for a client that takes
/// streams alone.
fn reply(done: Done, call: &Call) -> Reply {
    if call.accepts.json || !call.accepts.events || done.status != StatusCode::OK {
        return Reply::json(done.status, done.text);
    }
    Reply::events(stream::iter([sse::message(None, done.text)]))
}

/// The request that a `notifications/cancelled` is about.
pub(crate) fn cancelled(note: &Notification) -> Option<Id> {
    if &*note.method != notification::CANCELLED {
        return None;
    }
    Id::new(Object::read(note.params.as_ref()?).ok()?.get("requestId")?)
}

fn names_stateless_version(headers: &HeaderMap) -> bool {
    let version = headers
        .get(stateless::VERSION)
        .and_then(|value| value.to_str().ok());
    version
        .and_then(|text| text.parse::<Version>().ok())
        .is_some_and(|version| version.era() == Era::Stateless)
}

/// A stateless version in the header, and no envelope in the body.
fn without_envelope(method: &Method) -> Fault {
    if *method == Method::Initialize {
        return Fault::HeaderMismatch(
            "`initialize` does not exist in the version that the header names".into(),
        );
    }
    let key = mcpr_protocol::key::PROTOCOL_VERSION;
    Fault::InvalidParams(format!(
        "`params._meta[\"{key}\"]` is missing, which a stateless request must have"
    ))
}

/// A session keeps the version it was opened with, but a header must name one that exists.
fn check_version(headers: &HeaderMap, session: &Session) -> Result<(), Fault> {
    let Some(value) = headers.get(stateless::VERSION) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default();
    match text.parse::<Version>() {
        Ok(version) if version != session.client.version => {
            tracing::debug!(
                session = &session.id[..8],
                header = text,
                "the version header differs from the session's"
            );
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(Fault::InvalidRequest(format!(
            "the header `MCP-Protocol-Version`: {error}"
        ))),
    }
}

fn refuse(id: Option<&Id>, fault: &Fault, era: Era) -> Reply {
    let error = fault.error(era, 0).render();
    let status = match (fault, era) {
        (Fault::MethodNotFound(_), Era::Session) | (Fault::InvalidParams(_), Era::Stateless) => {
            StatusCode::BAD_REQUEST
        }
        _ => fault.status(era),
    };
    Reply::json(status, Response::text(id, Err(error.into())))
}

/// There is no stream without a session: 405 tells clients to go on without one.
fn no_stream() -> Reply {
    let fault = Fault::InvalidRequest("only POST without a session of the session era".into());
    let reply = refuse(None, &fault, Era::Session);
    Reply {
        status: StatusCode::METHOD_NOT_ALLOWED,
        ..reply
    }
    .with(ALLOW, HeaderValue::from_static("POST"))
}

/// The body is what Claude Code shows its user, so it says what to do.
fn unauthorized(denied: &Denied) -> Reply {
    let error = if *denied == Denied::Missing {
        "missing_token"
    } else {
        "invalid_token"
    };
    let body = json!({
        "error": error,
        "reason": denied.reason(),
        "message": format!("{denied}. {}", denied.next_step()),
    });
    let challenge = match *denied {
        Denied::Missing => "Bearer realm=\"mcpr\"",
        _ => "Bearer realm=\"mcpr\", error=\"invalid_token\"",
    };
    Reply::json(StatusCode::UNAUTHORIZED, RawJson::render(&body))
        .with(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

/// Whether an operator's request is the operator's to make.
pub(crate) fn may_operate(principal: &Principal, read_only: bool) -> bool {
    principal.allows(if read_only { Scope::Read } else { Scope::Admin })
}
