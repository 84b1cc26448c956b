//! Answers as JSON or as events.

use std::future::pending;
use std::time::Duration;

use ::http::StatusCode;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use mcpr_auth::Principal;
use mcpr_protocol::{Era, Id, Rope, Version};
use mcpr_transport::http::server::{Call, Reply};
use mcpr_transport::sse;
use tokio::sync::mpsc;

use super::HttpFront;
use super::refusal::refuse;
use crate::doorkeeper::Doorkeeper;
use crate::fault::Fault;
use crate::flight::{Done, Flight, Step, within};
use crate::front::batch::Answers;
use crate::notices::Listen;
use crate::session::Session;
use crate::streams::{Reader, Writer};

/// When clients are to come back whose stream was closed: what the SDKs wait by themselves.
const COME_BACK: Duration = Duration::from_secs(1);

impl HttpFront {
    /// Waits for the first thing a flight says, at most the two seconds after which it says that it
    /// is slow: a plain answer is sent as JSON, anything else begins a stream (HTTP-06).
    pub(super) async fn fly(
        &self,
        mut flight: Flight,
        (call, id): (&Call, &Id),
        session: Option<&Session>,
    ) -> Reply {
        loop {
            let first = match flight.next().await {
                Step::Done(done) => return self.reply(done, call, session),
                Step::Cancelled => return cancelled(call, session, Some(id)),
                Step::Slow => None,
                Step::Note(note) => Some(note),
            };
            if call.accepts.events {
                let asker = flight.principal().cloned();
                return self.stream(session, Vec::from_iter(first), Answers::of(flight), asker);
            }
            // This client takes nothing but the answer.
        }
    }

    /// A stream has no status of its own, so what needs one is JSON even for a client that takes
    /// streams alone.
    pub(super) fn reply(&self, done: Done, call: &Call, session: Option<&Session>) -> Reply {
        if call.accepts.json || !call.accepts.events || done.status != StatusCode::OK {
            return Reply::json(done.status, done.text);
        }
        self.stream(session, vec![done.text], Answers::default(), None)
    }

    /// A stream of what is to be said at once and of what is to come. In a session it goes on when
    /// its connection is lost, and can be resumed; without one it ends with its connection.
    pub(super) fn stream(
        &self,
        session: Option<&Session>,
        said: Vec<Rope>,
        answers: Answers,
        asker: Option<Principal>,
    ) -> Reply {
        let opened =
            session.and_then(|session| Some((session, session.streams.open(&self.gateway.sessions.replay)?)));
        let Some((session, (writer, reader))) = opened else {
            let (passing, mut said_next) = mpsc::channel(1);
            let saying = lost_with_its_connection(passing, said, answers);
            let doorkeeper = self.gateway.doorkeeper.clone();
            // Asked here too: a stream whose client does not read is not polled, and does not end by itself.
            self.gateway.tasks.spawn(async move {
                tokio::select! {
                    () = saying => {}
                    () = turned_away(&doorkeeper, asker) => {}
                }
            });
            let messages = stream::poll_fn(move |cx| said_next.poll_recv(cx));
            return Reply::events(messages.map(|message| sse::message(None, message)));
        };
        let priming = priming(session, &reader);
        self.gateway.tasks.spawn(say_all(writer, said, answers));
        Reply::events(stream::iter(priming).chain(read(reader)))
    }
}

/// A request that its client gave up has no answer; one whose session has ended is told so.
pub(super) fn cancelled(call: &Call, session: Option<&Session>, id: Option<&Id>) -> Reply {
    if session.is_some_and(|session| session.ended.is_cancelled()) {
        return refuse(id, &Fault::UnknownSession, Era::Session);
    }
    if call.accepts.events {
        Reply::events(stream::empty())
    } else {
        Reply::empty(StatusCode::ACCEPTED)
    }
}

/// The event by whose id a client can resume a stream before anything was said on it. Clients of
/// older revisions may take its empty data for a broken message.
pub(super) fn priming(session: &Session, reader: &Reader) -> Option<Rope> {
    let knows = session.client.version >= Version::V2025_11_25;
    knows.then(|| sse::priming(&reader.before(), Some(COME_BACK)))
}

/// The events of a stream for as long as this is its newest reader.
pub(super) fn read(reader: Reader) -> impl Stream<Item = Rope> + Send {
    stream::unfold(reader, |mut reader| async move {
        let event: Bytes = reader.next().await?;
        Some((event.into(), reader))
    })
}

pub(super) fn listen_events(listen: Listen) -> impl Stream<Item = Rope> + Send {
    stream::unfold(listen, |mut listen| async move {
        let message = listen.next().await?;
        Some((sse::message(None, message), listen))
    })
}

/// Says everything on a stream, whoever reads it.
async fn say_all(writer: Writer, said: Vec<Rope>, mut answers: Answers) {
    for message in said {
        writer.say(message).await;
    }
    while let Some(step) = answers.next().await {
        match step {
            Step::Note(note) => within(answers.deadline(), writer.say(note)).await,
            Step::Done(done) => writer.say(done.text).await,
            Step::Slow | Step::Cancelled => {}
        }
    }
}

/// Resolves when whoever asked would no longer be let in (SEC-02).
async fn turned_away(doorkeeper: &Doorkeeper, asker: Option<Principal>) {
    match asker.filter(|asker| asker.grant().is_some()) {
        Some(asker) => drop(doorkeeper.banished(&asker).await),
        None => pending().await,
    }
}

/// Says everything to the one connection that there is, and gives up what is under way when that is
/// lost. A task of its own, because what a client does not read must not keep its requests from being
/// given up at their limits.
async fn lost_with_its_connection(passing: mpsc::Sender<Rope>, said: Vec<Rope>, mut answers: Answers) {
    for message in said {
        let _ = passing.send(message).await;
    }
    loop {
        let step = tokio::select! {
            step = answers.next() => step,
            () = passing.closed() => return,
        };
        match step {
            Some(Step::Note(note)) => {
                within(answers.deadline(), async { drop(passing.send(note).await) }).await;
            }
            Some(Step::Done(done)) => drop(passing.send(done.text).await),
            Some(Step::Slow | Step::Cancelled) => {}
            None => return,
        }
    }
}
