//! The stream for what belongs to no request (session era).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcpr_protocol::{Id, Message};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use super::answer::Answer;
use super::hop::Stamp;
use super::resume::{is_passing, pause};
use super::streamable::Shared;
use crate::backlog::stray;
use crate::{Event, FailedKind, intake};

/// A stream that stood for so long was no failure, even if nothing came.
const STOOD: Duration = Duration::from_secs(10);

/// Keeps the stream of one session open as long as the session lives.
pub(super) struct Listener {
    shared: Arc<Shared>,
    stamp: Stamp,
    events: mpsc::Sender<Event>,
    last_id: Option<Bytes>,
    retry: Option<Duration>,
    /// Whether there ever was a stream: the server offers one.
    offered: bool,
    /// How many tries in a row brought nothing.
    failures: u32,
    /// Dropped when the first try has been answered.
    ready: Option<oneshot::Sender<()>>,
}

/// Whether to try again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Again,
    Stop,
}

impl Listener {
    pub(super) fn new(
        shared: Arc<Shared>,
        stamp: Stamp,
        events: mpsc::Sender<Event>,
        ready: oneshot::Sender<()>,
    ) -> Self {
        Self {
            shared,
            stamp,
            events,
            last_id: None,
            retry: None,
            offered: false,
            failures: 0,
            ready: Some(ready),
        }
    }

    /// Ends when the server offers no stream, or the session is lost.
    pub(super) async fn run(mut self) {
        while self.round().await == Then::Again {
            let longest = self.shared.link.limits().retry;
            sleep(pause(self.retry, self.failures, longest)).await;
        }
    }

    async fn round(&mut self) -> Then {
        let asked = self.shared.ask_for_stream(&self.stamp, self.last_id.as_ref());
        let answer = asked.await;
        self.ready.take();
        match answer {
            Ok(answer) if answer.is_stream() => self.hear(answer).await,
            Ok(answer) => self.refused(answer).await,
            Err(failed) => {
                debug!(address = %self.shared.link.origin(), reason = %failed, "no stream of events");
                self.failures += 1;
                let passing = matches!(failed.kind, FailedKind::Unreachable | FailedKind::Closed);
                if passing { self.doubt().await } else { Then::Stop }
            }
        }
    }

    /// Somebody should ask whether the server is still there.
    async fn doubt(&self) -> Then {
        match self.events.send(Event::Doubtful).await {
            Ok(()) => Then::Again,
            Err(_) => Then::Stop,
        }
    }

    async fn hear(&mut self, mut answer: Answer) -> Then {
        self.offered = true;
        let (since, mut told) = (Instant::now(), false);
        if let Some(last_id) = self.last_id.take() {
            answer.continues(last_id, self.retry);
        }
        while let Some(Ok(text)) = answer.next().await {
            if !self.tell(&text).await {
                return Then::Stop;
            }
            told = true;
        }
        self.last_id = answer.last_event_id().cloned();
        self.retry = answer.retry();
        let fruitful = told || since.elapsed() > STOOD;
        self.failures = if fruitful { 0 } else { self.failures + 1 };
        Then::Again
    }

    /// Passes a message on; false if nobody listens any more.
    async fn tell(&self, text: &Bytes) -> bool {
        let placed = intake::read(text).map(|message| self.shared.floor.deliver(message));
        let Some(message) = placed.transpose() else {
            return true; // It belongs to an open request, and is there now.
        };
        let event = match message {
            Ok(message @ (Message::Notification(_) | Message::Request(_))) => {
                stray(message).and_then(Event::of)
            }
            Ok(Message::Response(response)) => {
                debug!(
                    request_id = response.id.as_ref().and_then(Id::as_number),
                    "a response came on a stream that has none"
                );
                return true;
            }
            Err(error) => {
                warn!(address = %self.shared.link.origin(), %error, "a message that cannot be read was passed over");
                return true;
            }
        };
        match event {
            Some(event) => self.events.send(event).await.is_ok(),
            None => true,
        }
    }

    /// A server that has no such stream is not asked again; one that had it may have lost the session.
    async fn refused(&mut self, mut answer: Answer) -> Then {
        let status = answer.status.as_u16();
        let text = answer.next().await.and_then(Result::ok).unwrap_or_default();
        let failed = self
            .shared
            .link
            .refusal(&answer, &text, self.stamp.session.is_some())
            .failed();
        if self.offered && failed.kind == FailedKind::SessionExpired {
            let _ = self.events.send(Event::Closed(failed)).await;
            return Then::Stop;
        }
        self.failures += 1;
        let patient = self.offered || self.failures < self.shared.link.limits().resumes;
        if is_passing(status) && patient {
            return Then::Again;
        }
        debug!(address = %self.shared.link.origin(), reason = %failed, "the server offers no stream of events");
        Then::Stop
    }
}
