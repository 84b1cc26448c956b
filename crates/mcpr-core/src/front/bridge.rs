//! A pipe to a running gateway: its lines are posted there, and what comes back becomes lines.
//!
//! The bridge looks into a message only as far as it must to know how it travels: which era it is
//! of (`era`), which session it belongs to (`session`, `renew`), and which request an answer ends
//! (`relay`, `batch`).
//! What it carries is the text as it came, in both directions.

mod batch;
mod era;
mod relay;
mod renew;
mod session;
mod subscribed;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use mcpr_protocol::{
    Broken, Era, ErrorObject, Fault, Id, Message, Method, Notification, Request, Response, Rope,
};
use mcpr_protocol::{code, notification};
use mcpr_transport::Failed;
use mcpr_transport::child::{Line, LineReader};
use mcpr_transport::http::client::{Answer, Link};
use parking_lot::Mutex;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::era::ParamTable;
use self::renew::Renewal;
use self::session::Session;
use self::subscribed::Subscribed;
use crate::front::lines::{self, Lines};
use crate::session::cancelled;

/// How many requests may be under way: more than the gateway takes of one principal, which says so
/// itself.
const AT_ONCE: usize = 1024;

/// How long requests may take that are under way when the client closes its end: a script that
/// writes its requests and ends still gets its answers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// When a cancel is told again: on a connection of its own it can overtake its request.
const CANCEL_AGAIN: [Duration; 4] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// How long the gateway may take to accept a message that has no answer.
const DELIVERY: Duration = Duration::from_secs(10);

/// Why there is nothing to be a bridge to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Nobody answers there.
    #[error("no gateway answers")]
    NotRunning(#[source] Failed),
    /// It does not let us in.
    #[error("{0}")]
    Denied(String),
    /// Something else answers there.
    #[error("what answers there is no MCP endpoint (HTTP {0})")]
    NotMcp(StatusCode),
}

/// Finds out whether a gateway answers at the other end of the link, and lets us in.
///
/// # Errors
///
/// [`Refused`] says which of the two is not so.
pub async fn knock(link: &Link) -> Result<(), Refused> {
    // Without a session there is no such stream: 405, after the caller has been let in.
    let answer = link
        .get_stream(link.template())
        .await
        .map_err(Refused::NotRunning)?;
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Refused::Denied(relay::told(answer).await)),
        StatusCode::NOT_FOUND => Err(Refused::NotMcp(answer.status)),
        _ => Ok(()),
    }
}

/// Carries messages between a client on a pipe and the gateway, until the client closes the pipe.
///
/// Requests run side by side, and their answers come in any order. A gateway that is lost is an
/// error for the requests under way, and is looked for again with the next one; those whose outcome
/// is unknown are never sent again. A session that it no longer knows is opened anew, as the client
/// opened it, and the request that it refused is sent once more; subscriptions are made anew. The
/// client is then told that all lists and all resources it had subscribed to may have changed; what
/// else the old session held is gone: the log level.
///
/// # Errors
///
/// When the pipe breaks in another way than by ending.
pub async fn serve(
    link: Link,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> io::Result<()> {
    let (lines, queue) = lines::channel();
    let bridge = Arc::new(Bridge {
        link: link.clone(),
        lines,
        session: Mutex::default(),
        renewal: Renewal::default(),
        subscribed: Subscribed::default(),
        streams: Notify::new(),
        underway: Mutex::default(),
        params: Mutex::default(),
    });
    let mut writing = Box::pin(queue.write(output));
    let read = tokio::select! {
        read = bridge.run(input) => Some(read),
        () = &mut writing => None, // The client no longer reads.
    };
    if read.is_some() {
        writing.await;
    }
    link.close();
    read.unwrap_or(Ok(()))
}

struct Bridge {
    link: Link,
    lines: Lines,
    session: Mutex<Option<Session>>,
    renewal: Renewal,
    subscribed: Subscribed,
    /// Told when the stream of the session may be opened.
    streams: Notify,
    underway: Mutex<HashMap<Id, Underway>>,
    params: Mutex<ParamTable>,
}

/// A request whose answer is still to come.
struct Underway {
    era: Era,
    /// Whether it stays open until it is told to end.
    listens: bool,
    /// The client no longer wants the answer.
    given_up: CancellationToken,
}

impl Bridge {
    async fn run(self: Arc<Self>, input: impl AsyncRead + Unpin + Send) -> io::Result<()> {
        let carrying = async {
            let mut work = JoinSet::new();
            let read = self.read(input, &mut work).await;
            self.finish(work).await;
            read
        };
        tokio::select! {
            read = carrying => read,
            never = self.listen_always() => match never {},
        }
    }

    async fn read(
        self: &Arc<Self>,
        input: impl AsyncRead + Unpin + Send,
        work: &mut JoinSet<()>,
    ) -> io::Result<()> {
        let mut reader = LineReader::new(input);
        while let Some(line) = reader.next().await? {
            while work.try_join_next().is_some() {}
            match line {
                Line::Text(text) => self.take(text, work).await,
                odd => self.refuse(None, &unreadable(&odd)).await,
            }
        }
        Ok(())
    }

    async fn take(self: &Arc<Self>, text: Bytes, work: &mut JoinSet<()>) {
        match Message::parse(&text) {
            Ok(Message::Request(request)) => self.request(request, text, work).await,
            Ok(Message::Notification(note)) => self.notification(&note, text, work).await,
            Ok(Message::Response(_)) => self.deliver(text).await,
            Err(Broken {
                fault: Fault::Batch, ..
            }) => self.batch(text, work).await,
            Err(Broken { fault, id }) => {
                self.refuse(id.as_ref(), &ErrorObject::new(fault.code(), fault.to_string()))
                    .await;
            }
        }
    }

    async fn request(self: &Arc<Self>, request: Request, text: Bytes, work: &mut JoinSet<()>) {
        if request.method == Method::Initialize {
            // Nothing overtakes it: what follows belongs to the session that it opens.
            return self.initialize(&request, text).await;
        }
        if work.len() >= AT_ONCE {
            return self.refuse(Some(&request.id), &too_many()).await;
        }
        match self.enter(&request) {
            Some(given_up) => drop(work.spawn(self.clone().call(request, text, given_up))),
            None => self.refuse(Some(&request.id), &twice(&request.id)).await,
        }
    }

    async fn call(self: Arc<Self>, request: Request, text: Bytes, given_up: CancellationToken) {
        let outcome = match era::version_of(&request) {
            // Closing the stream is how the stateless era cancels over HTTP.
            Some(version) => {
                let call = self.call_stateless(&request, &version, text);
                given_up.run_until_cancelled(call).await.unwrap_or(Ok(()))
            }
            None => self.call_in_session(&request, text, &given_up).await,
        };
        if let (Err(error), false) = (outcome, given_up.is_cancelled()) {
            self.refuse(Some(&request.id), &error).await;
        }
        self.underway.lock().remove(&request.id);
    }

    async fn call_stateless(&self, request: &Request, version: &str, text: Bytes) -> Result<(), ErrorObject> {
        self.learn_tools(request, version).await;
        let headers = self.stateless_headers(request, version);
        let posted = self.link.post(headers, text.into()).await;
        let answer = posted.map_err(|failed| relay::lost(&failed))?;
        self.pass_on(request, answer).await
    }

    /// Passes on what comes for a request, up to its answer.
    ///
    /// # Errors
    ///
    /// What stands in for an answer that does not come.
    async fn pass_on(&self, request: &Request, answer: Answer) -> Result<(), ErrorObject> {
        let response = self.relay(&request.id, answer).await?;
        if let (Method::ToolsList, Ok(result)) = (&request.method, &response.outcome) {
            self.params.lock().learn(result);
        }
        self.subscribed.learn(request, &response);
        Ok(())
    }

    async fn notification(self: &Arc<Self>, note: &Notification, text: Bytes, work: &mut JoinSet<()>) {
        let given_up = self.gives_up(note);
        if given_up == Some(Era::Stateless) {
            return;
        }
        self.deliver(text.clone()).await;
        if let (Some(_), Some(id)) = (given_up, cancelled(note)) {
            work.spawn(self.clone().insist(id, text));
        }
        if &*note.method == notification::INITIALIZED {
            self.streams.notify_one();
        }
    }

    /// Sends a message of the session that has no answer.
    async fn deliver(&self, text: Bytes) {
        let Some(headers) = self.session_headers() else {
            return tracing::debug!("a message without a session has nowhere to go");
        };
        self.deliver_to(headers, text.into()).await;
    }

    /// Sends a message that has no answer, with these headers.
    async fn deliver_to(&self, headers: Arc<HeaderMap>, text: Rope) {
        let delivered = async { relay::accepted(self.link.post(headers, text).await?).await };
        let reason = match timeout(DELIVERY, delivered).await {
            Ok(Ok(())) => return,
            Ok(Err(failed)) => failed.to_string(),
            Err(_) => format!("no answer within {DELIVERY:?}"),
        };
        tracing::warn!(reason, "the gateway did not take a message");
    }

    /// Tells a cancel again until its request has ended.
    async fn insist(self: Arc<Self>, id: Id, text: Bytes) {
        for pause in CANCEL_AGAIN {
            sleep(pause).await;
            let wanted = |request: &Underway| !request.given_up.is_cancelled();
            if self.underway.lock().get(&id).is_none_or(wanted) {
                return;
            }
            self.deliver(text.clone()).await;
        }
    }

    /// Notes that an answer is no longer wanted; gives the era of the request, if it is under way.
    fn gives_up(&self, note: &Notification) -> Option<Era> {
        let id = cancelled(note)?;
        let underway = self.underway.lock();
        let request = underway.get(&id)?;
        request.given_up.cancel();
        Some(request.era)
    }

    /// Enters a request; `None` if one with that id is under way.
    fn enter(&self, request: &Request) -> Option<CancellationToken> {
        let mut underway = self.underway.lock();
        if underway.contains_key(&request.id) {
            return None;
        }
        let given_up = CancellationToken::new();
        let era = era::version_of(request).map_or(Era::Session, |_| Era::Stateless);
        let entry = Underway {
            era,
            listens: request.method == Method::Listen,
            given_up: given_up.clone(),
        };
        underway.insert(request.id.clone(), entry);
        Some(given_up)
    }

    /// Waits a moment for the last answers, then says goodbye.
    async fn finish(&self, mut work: JoinSet<()>) {
        self.close_streams();
        let all = async { while work.join_next().await.is_some() {} };
        if timeout(LAST_ANSWERS, all).await.is_err() {
            work.shutdown().await;
        }
        self.end_session().await;
    }

    fn close_streams(&self) {
        let underway = self.underway.lock();
        let listens = underway.values().filter(|request| request.listens);
        listens.for_each(|request| request.given_up.cancel());
        drop(underway);
        self.close_stream();
    }

    async fn refuse(&self, id: Option<&Id>, error: &ErrorObject) {
        self.say(Response::text(id, Err(error.render().into()))).await;
    }

    /// Writes one message; a client that is gone ends the bridge.
    async fn say(&self, message: Rope) {
        self.lines.say(message).await;
    }
}

fn unreadable(line: &Line) -> ErrorObject {
    let text = match line {
        Line::TooLong(line) => format!("a line of {} bytes is longer than a message may be", line.bytes),
        _ => "a line that is not UTF-8".to_owned(),
    };
    ErrorObject::new(code::PARSE, text)
}

fn too_many() -> ErrorObject {
    let text = format!("{AT_ONCE} requests are under way on this pipe; try again when one of them has ended");
    ErrorObject::new(code::INTERNAL, text).with(&json!({ "reason": "busy", "retry": "safe" }))
}

fn twice(id: &Id) -> ErrorObject {
    ErrorObject::new(
        code::INVALID_REQUEST,
        format!("a request with the id {id} is still under way"),
    )
}
