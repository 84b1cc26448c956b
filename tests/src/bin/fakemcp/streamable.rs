//! Streamable HTTP, both eras on one URL.

#![expect(
    clippy::result_large_err,
    reason = "a refusal is an answer, and answers are sent as they are"
)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::mpsc::unbounded_channel;

use crate::exchange::{About, EventBody, Exchange, Piece};
use crate::framing::Framing;
use crate::http::{Answer, empty, events, json, lapse, listen, masked, plain, refusal, with_header};
use crate::log::Head;
use crate::message::{Message, Request};
use crate::outlet::Outlet;
use crate::server::{Context, Server, Talk};
use crate::spec::named;

/// The header that carries the session.
const SESSION: &str = "mcp-session-id";

/// The endpoint.
struct Endpoint {
    server: Arc<Server>,
    sessions: Mutex<HashMap<String, Session>>,
    /// The conversation of all clients, where there are no sessions.
    common: Arc<Talk>,
    opened: AtomicUsize,
    requests: AtomicUsize,
}

/// A session that `initialize` opened.
struct Session {
    talk: Arc<Talk>,
    served: usize,
}

/// The conversation that a message belongs to, and its session id if it is new.
type Place = (Arc<Talk>, Option<String>);

/// Serves on a loopback port.
pub(crate) async fn serve(server: Arc<Server>, port: u16) -> anyhow::Result<()> {
    let (opened, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let endpoint = Arc::new(Endpoint {
        server,
        sessions: Mutex::default(),
        common: Arc::new(Talk::open()),
        opened,
        requests,
    });
    listen(port, move |head, body| Arc::clone(&endpoint).handle(head, body)).await
}

impl Endpoint {
    async fn handle(self: Arc<Self>, head: Head, body: Bytes) -> Answer {
        let spec = &self.server.spec;
        self.server.log.http(&head, &body);
        let nth = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if spec.hang {
            std::future::pending::<()>().await;
        }
        if let Some(elsewhere) = self.elsewhere(&head) {
            return elsewhere;
        }
        let message = Message::parse(&String::from_utf8_lossy(&body));
        let request = message.as_ref().ok().and_then(Message::request);
        if let Some(mask) = spec.mask.as_ref().filter(|mask| mask.covers(nth, request)) {
            return masked(mask);
        }
        match (head.method.as_str(), message) {
            ("POST", Ok(message)) => self.post(head, message).await,
            ("POST", Err(_)) if body.starts_with(b"[") => refusal(400, -32600, "Batches are not supported"),
            ("POST", Err(error)) => refusal(400, -32700, &error.to_string()),
            ("GET", _) => self.stream(&head),
            ("DELETE", _) => self.end(&head),
            _ => not_allowed(),
        }
    }

    fn elsewhere(&self, head: &Head) -> Option<Answer> {
        let spec = &self.server.spec;
        let path = head.path.split('?').next().unwrap_or_default();
        let slash = (spec.slash && !path.ends_with('/')).then(|| format!("{path}/"));
        let target = spec.redirect.clone().or(slash)?;
        let mut answer = empty(spec.redirect_status.unwrap_or(307));
        with_header(&mut answer, "location", &target);
        Some(answer)
    }

    async fn post(&self, head: Head, message: Message) -> Answer {
        if let Err(refused) = acceptable(&head) {
            return refused;
        }
        let (talk, fresh) = match self.place(&head, &message) {
            Ok(place) => place,
            Err(refused) => return refused,
        };
        self.server.count(&message);
        let mut answer = match message {
            Message::Request(request) => self.answer(request, talk, head).await,
            other => {
                self.server.take(other, &talk);
                empty(self.server.spec.accepted.unwrap_or(202))
            }
        };
        if let Some(id) = fresh {
            with_header(&mut answer, SESSION, &id);
        }
        answer
    }

    /// JSON if the answer comes first, otherwise a stream.
    async fn answer(&self, request: Request, talk: Arc<Talk>, head: Head) -> Answer {
        let (server, request) = (Arc::clone(&self.server), Arc::new(request));
        let spec = &self.server.spec;
        let framing = Framing::of(spec);
        let cut = named(&spec.cut, &request);
        let mut exchange = exchange(server, request, talk, head);
        if cut {
            let comment = Bytes::from_static(b": the end is near\n\n");
            let first = vec![framing.opening(), comment];
            return events(spec, EventBody::new(exchange, framing, first).cut());
        }
        match exchange.next().await {
            Some(Piece::Reply(reply)) if !spec.sse || reply.status != 200 => {
                json(spec, reply.status, reply.text)
            }
            Some(piece) => {
                let first = vec![framing.opening(), framing.message(piece.text())];
                events(spec, EventBody::new(exchange, framing, first))
            }
            None => empty(500),
        }
    }

    /// The stream of a GET: news, and nothing that belongs to a call.
    fn stream(&self, head: &Head) -> Answer {
        let spec = &self.server.spec;
        if let Some(status) = spec.get {
            return if status == 405 {
                not_allowed()
            } else {
                plain(status, "text/plain", "no stream here")
            };
        }
        if !spec.sessions() {
            return not_allowed();
        }
        if !head
            .header("accept")
            .is_some_and(|accept| accept.contains("text/event-stream"))
        {
            return refusal(406, -32600, "Accept must name text/event-stream");
        }
        let talk = match self.session(head, false) {
            Ok(talk) => talk,
            Err(refused) => return refused,
        };
        let (sender, asides) = unbounded_channel();
        let outlet = Outlet::Stream(sender);
        self.server.notices.join(talk, outlet.clone());
        let (server, close_after) = (Arc::clone(&self.server), spec.close_after);
        let work = Box::pin(async move {
            server.ping_client(&outlet).await;
            lapse(close_after).await;
            None
        });
        let framing = Framing::of(spec);
        let opening = vec![Bytes::from_static(b": open\n\n"), framing.opening()];
        events(
            spec,
            EventBody::new(Exchange::new(work, asides, None), framing, opening),
        )
    }

    fn end(&self, head: &Head) -> Answer {
        let id = head.header(SESSION).unwrap_or_default();
        let known = self.sessions.lock().remove(&id).is_some();
        match (self.server.spec.session, known) {
            (true, true) => empty(200),
            (true, false) => self.gone(),
            (false, _) => not_allowed(),
        }
    }

    fn place(&self, head: &Head, message: &Message) -> Result<Place, Answer> {
        let request = message.request();
        let stateless = self.server.spec.stateless() && request.is_some_and(Request::claims_stateless);
        let free = !self.server.spec.session || !self.server.spec.sessions();
        if stateless || free {
            return Ok((Arc::clone(&self.common), None));
        }
        if request.is_some_and(|request| request.method == "initialize") {
            let (id, talk) = self.open();
            return Ok((talk, Some(id)));
        }
        Ok((self.session(head, request.is_some())?, None))
    }

    fn open(&self) -> (String, Arc<Talk>) {
        let nth = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let (id, talk) = (
            format!("fake-{}-{nth}", std::process::id()),
            Arc::new(Talk::default()),
        );
        self.sessions.lock().insert(
            id.clone(),
            Session {
                talk: Arc::clone(&talk),
                served: 0,
            },
        );
        (id, talk)
    }

    /// The session that the head names; a request counts against its life.
    fn session(&self, head: &Head, request: bool) -> Result<Arc<Talk>, Answer> {
        if !self.server.spec.session {
            return Ok(Arc::clone(&self.common));
        }
        let id = head.header(SESSION);
        let id = id.ok_or_else(|| refusal(400, -32600, "Mcp-Session-Id is required"))?;
        let mut sessions = self.sessions.lock();
        let session = sessions.get_mut(&id).ok_or_else(|| self.gone())?;
        session.served += usize::from(request);
        if self.server.spec.ttl.is_some_and(|ttl| session.served > ttl) {
            sessions.remove(&id);
            return Err(self.gone());
        }
        Ok(Arc::clone(&session.talk))
    }

    fn gone(&self) -> Answer {
        let default = || refusal(404, -32001, "Session not found");
        self.server.spec.gone.as_ref().map_or_else(default, masked)
    }
}

fn exchange(server: Arc<Server>, request: Arc<Request>, talk: Arc<Talk>, head: Head) -> Exchange {
    let (sender, asides) = unbounded_channel();
    let about = About {
        server: Arc::clone(&server),
        request: Arc::clone(&request),
        answered: false,
    };
    let work = Box::pin(async move {
        let outlet = Outlet::Stream(sender);
        let context = Context {
            talk: &talk,
            head: Some(&head),
            outlet: &outlet,
        };
        let reply = server.answer(&request, context).await;
        server.notify_within(&request, &outlet);
        Some(reply)
    });
    Exchange::new(work, asides, Some(about))
}

/// Strict servers want both types accepted, and JSON sent.
fn acceptable(head: &Head) -> Result<(), Answer> {
    let accept = head.header("accept").unwrap_or_default();
    if !accept.contains("application/json") || !accept.contains("text/event-stream") {
        return Err(refusal(
            406,
            -32600,
            "Accept must name application/json and text/event-stream",
        ));
    }
    let content_type = head.header("content-type").unwrap_or_default();
    if !content_type.starts_with("application/json") {
        return Err(refusal(415, -32600, "Content-Type must be application/json"));
    }
    Ok(())
}

fn not_allowed() -> Answer {
    let mut answer = refusal(405, -32600, "Method not allowed");
    with_header(&mut answer, "allow", "POST");
    answer
}
