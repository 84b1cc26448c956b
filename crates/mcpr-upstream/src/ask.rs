//! mcpr's own requests to a server: introductions, lists, pings.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{
    Abilities, Edit, Envelope, Era, ErrorObject, Message, Method, Notification, Object, RawJson, Request,
    Response, Rope, Version, code, declined,
};
use mcpr_transport::{Event, Failed, FailedKind, Outgoing, Transport};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::audience::Herald;
use crate::introduce::client_info;
use crate::roots::{Roots, Told};
use crate::status::Heard;

/// How many answers may be on their way at once to a server that asks without having been called;
/// what it asks beyond that is not answered (SEC-05).
const ANSWERS: usize = 16;

/// How long a connection that failed a request may take to say why.
const LAST_WORD: Duration = Duration::from_secs(1);

/// What a server answered to a request of ours.
pub(crate) type Answer = Result<RawJson, ErrorObject>;

/// Sends a request and waits for its answer, answering what the server asks in between.
pub(crate) async fn ask(
    transport: &dyn Transport,
    method: Method,
    params: Rope,
    limit: Duration,
) -> Result<Answer, Failed> {
    let name = method.as_str().to_owned();
    let answer = timeout(limit, ask_without_limit(transport, method, params)).await;
    answer.unwrap_or_else(|_| {
        Err(Failed::maybe_sent(
            FailedKind::TimedOut,
            format!("no answer to `{name}` within {limit:?}"),
        ))
    })
}

async fn ask_without_limit(
    transport: &dyn Transport,
    method: Method,
    params: Rope,
) -> Result<Answer, Failed> {
    let request = Outgoing {
        id: transport.next_id(),
        method,
        params,
        name: None,
        headers: Vec::new(),
        party: mcpr_transport::Party::GATEWAY,
    };
    let mut exchange = transport.open(request).await?;
    loop {
        match exchange.next().await? {
            Message::Response(response) => return Ok(response.outcome.map_err(|error| error_of(&error))),
            Message::Request(request) => answer_locally(transport, &request).await?,
            Message::Notification(_) => {}
        }
    }
}

fn error_of(raw: &RawJson) -> ErrorObject {
    raw.read()
        .unwrap_or_else(|_| ErrorObject::new(code::INTERNAL, "an error that is no JSON-RPC error object"))
}

/// Answers a request that belongs to no call of a client.
pub(crate) async fn answer_locally(transport: &dyn Transport, request: &Request) -> Result<(), Failed> {
    let outcome = declined(&request.method);
    transport
        .send(Message::Response(Response {
            id: Some(request.id.clone()),
            outcome,
        }))
        .await
}

/// Params for a request of ours: in the stateless era with the envelope, else as they are.
pub(crate) fn params(version: Version, params: &Object) -> Rope {
    if version.era() == Era::Session {
        return if params.is_empty() {
            Rope::new()
        } else {
            params.raw().clone().into()
        };
    }
    let none = Object::default();
    let mut meta = Edit::new(&none);
    let capabilities = Abilities::ALL_RELAYED.declared(version);
    for (member, value) in Envelope::members(version, &capabilities, &client_info()) {
        meta.set(member, value);
    }
    let meta = meta.finish();
    Edit::new(params).set("_meta", meta).finish()
}

/// A connection with the ear for what comes unasked.
pub(crate) struct Line {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) events: mpsc::Receiver<Event>,
    /// What was heard and not yet acted on.
    pub(crate) heard: Heard,
    herald: Herald,
    /// Answers on their way: a server that does not take them holds up nothing here.
    answers: JoinSet<()>,
    /// Whose roots the server was told.
    pub(crate) roots: Arc<Roots>,
    /// Whether something has happened that makes it worth asking if the server is still there.
    pub(crate) doubted: bool,
    /// Why the connection ended, once it has.
    pub(crate) ended: Option<Failed>,
}

impl Line {
    pub(crate) fn new(
        transport: Arc<dyn Transport>,
        events: mpsc::Receiver<Event>,
        herald: Herald,
        roots: Arc<Roots>,
    ) -> Self {
        Self {
            transport,
            events,
            heard: Heard::default(),
            herald,
            answers: JoinSet::new(),
            roots,
            doubted: false,
            ended: None,
        }
    }

    /// Runs `work` while events are taken, so that the server is never stuck on us.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                event = self.events.recv(), if self.ended.is_none() => self.take(event),
            }
        }
    }

    /// Acts on one event; `None` is a connection that ended without a word.
    pub(crate) fn take(&mut self, event: Option<Event>) {
        let gone = || Failed::maybe_sent(FailedKind::Closed, "the connection ended");
        match event {
            Some(Event::Notification(notification)) => self.note(&notification),
            Some(Event::Request(request)) => {
                if request.method == Method::RootsList {
                    self.roots.tell(Told::default());
                }
                self.answer(request);
            }
            Some(Event::Doubtful) => self.doubted = true,
            Some(Event::Closed(why)) => self.ended = Some(why),
            None => self.ended = Some(gone()),
        }
    }

    /// What the connection itself says of its end, which tells more than a request that failed by it.
    pub(crate) async fn last_word(&mut self, failed: Failed) -> Failed {
        if failed.kind != FailedKind::Closed {
            return failed;
        }
        let heard = async {
            while self.ended.is_none() {
                let event = self.events.recv().await;
                self.take(event);
            }
        };
        let _ = timeout(LAST_WORD, heard).await;
        self.ended.clone().unwrap_or(failed)
    }

    fn answer(&mut self, request: Request) {
        while self.answers.try_join_next().is_some() {}
        if self.answers.len() >= ANSWERS {
            return tracing::debug!("the server asks for more answers than it takes");
        }
        let transport = self.transport.clone();
        self.answers.spawn(async move {
            if let Err(failed) = answer_locally(&*transport, &request).await {
                tracing::debug!(reason = %failed, "could not answer the server");
            }
        });
    }

    pub(crate) fn note(&mut self, notification: &Notification) {
        self.heard.note(&notification.method);
        self.herald.note(notification);
    }
}
