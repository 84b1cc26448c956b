//! The session era over HTTP.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{AbortHandle, JoinSet};

use crate::client::{Silence, Voice as _};
use crate::fault::Fault;
use crate::http::{self, Answer, Events, Head, empty, refused};
use crate::hub::Hub;
use crate::message::{Message, Notification, Request};
use crate::seal::random_id;
use crate::server::Server;
use crate::session::{self, Session};
use crate::stream::{self, Stream};

/// The header that names the session.
const SESSION: &str = "mcp-session-id";

/// All sessions.
pub(crate) struct Sessions {
    server: Arc<Server>,
    open: Mutex<HashMap<String, Arc<Place>>>,
}

/// A session with its streams. Its calls end with it.
struct Place {
    session: Arc<Session>,
    /// By their numbers; the first is for what belongs to no request.
    streams: Mutex<Vec<Arc<Stream>>>,
    work: Mutex<JoinSet<()>>,
    /// What can be cancelled, by the id of its request.
    calls: Mutex<HashMap<String, (AbortHandle, Arc<Stream>)>>,
}

impl Sessions {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self {
            server,
            open: Mutex::default(),
        }
    }

    /// Takes a message.
    pub(crate) async fn post(&self, head: &Head, message: Message) -> Answer {
        if let Message::Request(request) = &message
            && request.method == "initialize"
        {
            return self.initialize(request);
        }
        let place = match self.place(head) {
            Ok(place) => place,
            Err(refused) => return *refused,
        };
        match message {
            Message::Request(request) if may_ask(&request.method) => place.call(&self.server, request),
            Message::Request(request) => place.answer(&self.server, &request).await,
            Message::Notification(notification) => place.take(&notification),
            Message::Response(response) => {
                place.session.take(response);
                empty(202)
            }
        }
    }

    /// Opens the stream for what belongs to no request, or another one again.
    pub(crate) fn get(&self, head: &Head) -> Answer {
        if !head.names(header::ACCEPT, "text/event-stream") {
            return refused(406, "text/event-stream must be acceptable");
        }
        match self.place(head) {
            Ok(place) => place.hear(head.text("last-event-id")),
            Err(refused) => *refused,
        }
    }

    /// Ends a session.
    pub(crate) fn delete(&self, head: &Head) -> Answer {
        match self.place(head) {
            Ok(_) => {
                let id = head.text(SESSION).unwrap_or_default();
                self.open.lock().remove(id);
                empty(204)
            }
            Err(refused) => *refused,
        }
    }

    fn initialize(&self, request: &Request) -> Answer {
        let place = match Place::open(request, &self.server.hub) {
            Ok(place) => place,
            Err(fault) => return http::json(200, &fault.message(Some(&request.id))),
        };
        let welcome = request.answered(Ok(place.session.welcome()));
        let id = random_id();
        let mut answer = http::json(200, &welcome);
        let value = HeaderValue::from_str(&id).expect("hexadecimal digits fit into a header");
        answer.headers_mut().insert(SESSION, value);
        self.open.lock().insert(id, Arc::new(place));
        answer
    }

    fn place(&self, head: &Head) -> Result<Arc<Place>, Box<Answer>> {
        let revision = head.text("mcp-protocol-version");
        if let Some(revision) = revision.filter(|revision| !session::ERA.contains(revision)) {
            return Err(Box::new(refused(
                400,
                &format!("unsupported protocol version {revision}"),
            )));
        }
        let id = head.text(SESSION);
        let id = id.ok_or_else(|| Box::new(refused(400, "the header Mcp-Session-Id is missing")))?;
        let found = self.open.lock().get(id).cloned();
        found.ok_or_else(|| Box::new(refused(404, "there is no such session")))
    }
}

impl Place {
    fn open(request: &Request, hub: &Hub) -> Result<Self, Fault> {
        let news = Arc::new(Stream::new(0, false));
        let session = Arc::new(Session::open(request, Arc::clone(&news) as _)?);
        hub.join(&session);
        Ok(Self {
            session,
            streams: Mutex::new(vec![news]),
            work: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    /// Answers a request at once.
    async fn answer(&self, server: &Arc<Server>, request: &Request) -> Answer {
        let voice = Arc::new(Silence);
        let outcome = self.session.answer(server, request, voice).await;
        http::json(200, &request.answered(outcome))
    }

    /// Answers a request on a stream of its own.
    fn call(&self, server: &Arc<Server>, request: Request) -> Answer {
        let stream = self.new_stream();
        let events = stream.hear(0);
        let (session, server) = (Arc::clone(&self.session), Arc::clone(server));
        let (key, voice) = (request.id.to_string(), Arc::clone(&stream));
        let handle = self.work.lock().spawn(async move {
            let outcome = session.answer(&server, &request, Arc::clone(&voice) as _).await;
            voice.say(&request.answered(outcome));
            voice.finish();
        });
        self.calls.lock().insert(key, (handle, stream));
        streamed(events)
    }

    fn new_stream(&self) -> Arc<Stream> {
        let mut streams = self.streams.lock();
        // Older clients try to read the empty event.
        let primed = self.session.revision == session::REVISIONS[0];
        let stream = Arc::new(Stream::new(streams.len(), primed));
        streams.push(Arc::clone(&stream));
        stream
    }

    fn hear(&self, last_event: Option<&str>) -> Answer {
        let streams = self.streams.lock();
        let Some(last_event) = last_event else {
            return match streams[0].hear_alone() {
                Some(events) => streamed(events),
                None => refused(409, "the stream is open already"),
            };
        };
        let after = stream::after(last_event);
        let found = after.and_then(|(number, from)| Some(streams.get(number)?.hear(from)));
        found.map_or_else(|| refused(400, "there is no such event"), streamed)
    }

    fn take(&self, notification: &Notification) -> Answer {
        if notification.method == "notifications/cancelled" {
            let id = notification.params.get("requestId").unwrap_or(&Value::Null);
            if let Some((work, stream)) = self.calls.lock().remove(&id.to_string()) {
                work.abort();
                stream.finish();
            }
        }
        empty(202)
    }
}

/// Whether the client may be asked something before the answer comes.
fn may_ask(method: &str) -> bool {
    ["tools/call", "prompts/get"].contains(&method)
}

fn streamed(rest: UnboundedReceiver<Bytes>) -> Answer {
    http::events(Events {
        first: None,
        rest,
        frame: Bytes::clone,
        _work: None,
    })
}
