//! Which era a request over HTTP belongs to, and who may send one at all.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Method, header};
use serde_json::Value;

use crate::fault::Fault;
use crate::http::{Answer, Head, empty, json, not_allowed, refused};
use crate::message::{Message, Request};
use crate::server::Server;
use crate::session_http::Sessions;
use crate::{session, stateless, stateless_http};

/// The only path there is.
pub(crate) const PATH: &str = "/mcp";

/// The eras that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eras {
    Both,
    Session,
    Stateless,
}

/// The URL.
pub(crate) struct Endpoint {
    eras: Eras,
    server: Arc<Server>,
    sessions: Sessions,
}

impl Endpoint {
    pub(crate) fn new(eras: Eras, server: Arc<Server>) -> Self {
        let sessions = Sessions::new(Arc::clone(&server));
        Self {
            eras,
            server,
            sessions,
        }
    }

    /// Answers a request.
    pub(crate) async fn handle(&self, head: Head, body: Bytes) -> Answer {
        if head.path != PATH {
            return empty(404);
        }
        if !is_local(&head) {
            return refused(403, "the host or the origin is another machine's");
        }
        match (&head.method, self.eras) {
            (&Method::POST, _) => self.post(&head, &body).await,
            (_, Eras::Stateless) => not_allowed("POST"),
            (&Method::GET, _) => self.sessions.get(&head),
            (&Method::DELETE, _) => self.sessions.delete(&head),
            _ => not_allowed("GET, POST, DELETE"),
        }
    }

    async fn post(&self, head: &Head, body: &[u8]) -> Answer {
        if !head.names(header::CONTENT_TYPE, "application/json") {
            return refused(415, "the content type must be application/json");
        }
        let both = ["application/json", "text/event-stream"];
        if !both.iter().all(|accepted| head.names(header::ACCEPT, accepted)) {
            return refused(
                406,
                "both application/json and text/event-stream must be acceptable",
            );
        }
        match Message::parse(body) {
            Err(fault) => json(400, &fault.message(None)),
            Ok(message) if self.is_stateless(head, &message) => self.stateless(head, message).await,
            Ok(message) => self.sessions.post(head, message).await,
        }
    }

    fn is_stateless(&self, head: &Head, message: &Message) -> bool {
        let by_header = || {
            head.text("mcp-protocol-version")
                .is_some_and(|revision| !session::ERA.contains(&revision))
        };
        match (self.eras, message) {
            (Eras::Session, _) => false,
            (Eras::Stateless, _) => true,
            (Eras::Both, Message::Request(request)) => stateless::claimed(request) || by_header(),
            (Eras::Both, _) => by_header(),
        }
    }

    async fn stateless(&self, head: &Head, message: Message) -> Answer {
        match message {
            Message::Request(request) if self.is_opening(&request) => {
                let fault = opening_refused(&request);
                json(fault.status(), &fault.message(Some(&request.id)))
            }
            Message::Request(request) => stateless_http::answer(&self.server, head, request).await,
            Message::Notification(_) => empty(202),
            Message::Response(_) => refused(400, "nothing was asked"),
        }
    }

    /// Whether a client of the other era knocks at a server without sessions.
    fn is_opening(&self, request: &Request) -> bool {
        self.eras == Eras::Stateless && request.method == "initialize" && !stateless::claimed(request)
    }
}

/// What `initialize` is told by a server without sessions.
pub(crate) fn opening_refused(request: &Request) -> Fault {
    let wanted = request.params.get("protocolVersion").unwrap_or(&Value::Null);
    Fault::unsupported_version(wanted, &stateless::REVISIONS)
}

/// Whether the request comes from this machine, and not through a name that points here.
fn is_local(head: &Head) -> bool {
    let host = head.text("host").is_some_and(is_loopback);
    let origin = head.text("origin").is_none_or(|origin| {
        let host = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(is_loopback)
    });
    host && origin
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}
