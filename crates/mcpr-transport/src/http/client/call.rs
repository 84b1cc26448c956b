//! One request over streamable HTTP and what comes back for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use mcpr_protocol::{Broken, Era, Id, Message, Response};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::answer::{Answer, Media};
use super::hop::{Stamp, session_of};
use super::link::Underway;
use super::resume::Resuming;
use super::streamable::Shared;
use crate::pending::cancelled;
use crate::{Answering, Failed, FailedKind, Outgoing, Party, Reason, Sent};
use crate::{gist, intake};

/// How long the news that nobody waits any more may take.
const CANCEL: Duration = Duration::from_secs(5);

/// The exchange of one request.
pub(super) struct Call {
    shared: Arc<Shared>,
    id: u64,
    stamp: Stamp,
    /// A handshake gives the session, and cannot be cancelled.
    handshake: bool,
    /// Whether what the server says beside the stream may be about this request.
    seated: bool,
    /// Whether the server is no longer at it, or never was.
    settled: bool,
    state: State,
    /// How often in a row the stream broke off without anything having come.
    breaks: u32,
}

enum State {
    /// Nothing has come.
    Head(Underway),
    /// Messages come.
    Messages(Answer),
    /// The server has something else to say.
    Refusal(Answer),
    /// The stream broke off and is asked for again.
    Resuming(Resuming),
    /// The response came, or a failure.
    Done,
}

type Next = Result<Message, Failed>;

impl Call {
    /// A call that is about to be sent. It has its seat before the server can ask anything about it.
    pub(super) fn new(shared: Arc<Shared>, request: &Outgoing, stamp: Stamp, handshake: bool) -> Self {
        let seated = stamp.era() == Era::Session && request.party != Party::GATEWAY;
        if seated {
            shared.floor.enter(request.id, request.party);
        }
        Self {
            shared,
            id: request.id,
            seated,
            settled: true,
            stamp,
            handshake,
            state: State::Done,
            breaks: 0,
        }
    }

    /// The same once it was sent.
    pub(super) fn sent(mut self, head: Underway) -> Self {
        self.settled = false;
        self.state = State::Head(head);
        self
    }

    /// One step; `None` if there is another one to take.
    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Option<Next>> {
        match &mut self.state {
            State::Head(head) => {
                let answer = ready!(Pin::new(head).poll(cx));
                Poll::Ready(self.begin(answer))
            }
            State::Messages(answer) => {
                let text = ready!(answer.poll_message(cx));
                Poll::Ready(self.message(text))
            }
            State::Refusal(answer) => {
                let text = ready!(answer.poll_message(cx));
                Poll::Ready(self.refused(text))
            }
            State::Resuming(resuming) => {
                let answer = ready!(resuming.as_mut().poll(cx));
                Poll::Ready(self.resumed(answer))
            }
            State::Done => {
                let detail = "the exchange is over";
                Poll::Ready(Some(Err(Failed::maybe_sent(FailedKind::Closed, detail))))
            }
        }
    }

    fn begin(&mut self, answer: Result<Answer, Failed>) -> Option<Next> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(failed) => return self.finish(Err(failed)),
        };
        let welcome = answer.status.is_success() && answer.media() != Media::Other;
        if self.handshake && welcome {
            let session = session_of(&answer.headers());
            session
                .into_iter()
                .for_each(|session| self.shared.hop.adopt(self.stamp.generation, session));
        }
        self.state = if welcome {
            State::Messages(answer)
        } else {
            State::Refusal(answer)
        };
        None
    }

    fn message(&mut self, text: Option<Result<Bytes, Failed>>) -> Option<Next> {
        match text {
            Some(Ok(text)) => self.judge(intake::read(&text), &text),
            Some(Err(failed)) => self.broken_off(failed),
            None if self.is_stream() => {
                let detail = format!(
                    "{} ended the stream before the response",
                    self.shared.link.origin()
                );
                self.broken_off(Failed::maybe_sent(FailedKind::Closed, detail))
            }
            None => self.refused(None),
        }
    }

    fn judge(&mut self, message: Result<Message, Broken>, text: &[u8]) -> Option<Next> {
        let ours = |id: &Id| id.as_number() == Some(self.id);
        match message {
            Ok(Message::Response(response)) if response.id.as_ref().is_none_or(ours) => {
                let id = Some(Id::number(self.id));
                self.finish(Ok(Message::Response(Response { id, ..response })))
            }
            Ok(Message::Response(_)) => self.malformed("with the response to another request", text),
            Ok(message) if self.is_stream() => Some(Ok(message)),
            Ok(_) => self.malformed("with a message that is no response", text),
            Err(broken) if self.is_stream() && !gist::answered(text).any(|id| id == self.id) => {
                warn!(address = %self.shared.link.origin(), error = %broken, "a message that cannot be read was passed over");
                None
            }
            Err(broken) => self.malformed(&format!("with what cannot be read ({broken})"), text),
        }
    }

    fn malformed(&mut self, what: &str, text: &[u8]) -> Option<Next> {
        let detail = format!("{} answers request {} {what}", self.shared.link.origin(), self.id);
        warn!(request_id = self.id, bytes = text.len(), "{detail}");
        let said = self.shared.link.mask().excerpt(text);
        self.finish(Err(Failed::maybe_sent(FailedKind::Malformed, detail).saying(said)))
    }

    fn is_stream(&self) -> bool {
        matches!(&self.state, State::Messages(answer) if answer.is_stream())
    }

    fn refused(&mut self, text: Option<Result<Bytes, Failed>>) -> Option<Next> {
        let (State::Messages(answer) | State::Refusal(answer)) = &self.state else {
            return None;
        };
        let next = match text.transpose() {
            Ok(text) => {
                let text = text.unwrap_or_default();
                let refusal = self
                    .shared
                    .link
                    .refusal(answer, &text, self.stamp.session.is_some());
                refusal.judge(self.id).map(Message::Response)
            }
            Err(failed) => Err(failed),
        };
        self.finish(next)
    }

    /// A session-era stream with event ids can be picked up where it broke off.
    fn broken_off(&mut self, failed: Failed) -> Option<Next> {
        let State::Messages(answer) = &self.state else {
            return None;
        };
        let point = answer.last_event_id().cloned();
        let resumable = failed.kind == FailedKind::Closed && self.stamp.era() == Era::Session;
        let Some(last_id) = point.filter(|_| resumable) else {
            return self.finish(Err(failed));
        };
        self.breaks = if answer.is_stirring() { 0 } else { self.breaks + 1 };
        debug!(request_id = self.id, reason = %failed, "a stream broke off, asking for the rest");
        let shared = Arc::clone(&self.shared);
        let resuming = shared.resume(self.stamp.clone(), last_id, answer.retry(), self.breaks);
        self.state = State::Resuming(Box::pin(resuming));
        None
    }

    fn resumed(&mut self, answer: Result<Answer, Failed>) -> Option<Next> {
        match answer {
            Ok(answer) => self.state = State::Messages(answer),
            Err(failed) => return self.finish(Err(failed)),
        }
        None
    }

    fn finish(&mut self, next: Next) -> Option<Next> {
        self.settled = next
            .as_ref()
            .map_or_else(|failed| failed.sent == Sent::No, |_| true);
        match (std::mem::replace(&mut self.state, State::Done), &next) {
            (State::Messages(answer), Ok(_)) | (State::Refusal(answer), _) => answer.release(),
            _ => {} // What failed is not used again.
        }
        Some(next)
    }

    /// Gives the request up. In the stateless era, closing the stream says so; in the session era
    /// a notification does, and the stream is closed after it.
    fn give_up(&mut self, why: Reason) {
        let state = std::mem::replace(&mut self.state, State::Done);
        let silent = self.handshake || self.stamp.era() == Era::Stateless;
        if silent || matches!(state, State::Done) {
            return;
        }
        let (shared, stamp, id) = (Arc::clone(&self.shared), self.stamp.clone(), self.id);
        self.shared.errand(async move {
            let news = Message::Notification(cancelled(id, why));
            if let Ok(Err(failed)) = timeout(CANCEL, shared.post(&stamp, news)).await {
                debug!(request_id = id, error = %failed, "the server could not be told of a cancel");
            }
            drop(state);
        });
    }
}

impl Answering for Call {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        loop {
            if self.seated
                && let Some(message) = self.shared.floor.mail(self.id, cx)
            {
                return Poll::Ready(Ok(message));
            }
            if let Some(next) = ready!(self.step(cx)) {
                return Poll::Ready(next);
            }
        }
    }

    fn cancel(mut self: Box<Self>, why: Reason) {
        self.give_up(why);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.seated {
            self.shared.floor.leave(self.id, self.settled);
        }
        self.give_up(Reason::Client);
    }
}
