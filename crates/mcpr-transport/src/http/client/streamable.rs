//! MCP over streamable HTTP, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use mcpr_protocol::{Era, Id, Message, Method, Request, Version};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::debug;

use super::call::Call;
use super::hop::{Hop, Stamp};
use super::limits::Limits;
use super::link::Link;
use super::listen::Listener;
use super::parcel::Parcel;
use super::target::Target;
use crate::party::Floor;
use crate::{Answering, Event, Exchange, Failed, FailedKind, Outgoing, Party, Reason, Transport};

/// How many events wait for the one who reads them; then the stream waits.
const EVENTS: usize = 256;
/// How long the end of a session may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// A server at an endpoint of streamable HTTP.
///
/// Which era is spoken comes from [`Transport::negotiated`]: until then, and after `initialize`
/// was opened, it is the session era without a version. Dropping it closes its connections without
/// telling the server; [`Transport::close`] does.
///
/// In the session era a lost session may be heard of on the stream of events: then
/// [`Event::Closed`] says so with [`crate::FailedKind::SessionExpired`], and the next `initialize`
/// begins anew.
#[derive(Debug)]
pub struct Streamable {
    shared: Arc<Shared>,
    last_id: AtomicU64,
    events: Mutex<Option<mpsc::Sender<Event>>>,
    listening: Mutex<CancellationToken>,
}

/// What exchanges and streams share with the transport they belong to.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) link: Link,
    pub(super) hop: Hop,
    pub(super) floor: Floor,
    errands: TaskTracker,
    runtime: Handle,
}

impl Streamable {
    /// A server at `target`; nothing is connected yet.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn new(target: &Target, limits: Limits) -> (Arc<Self>, mpsc::Receiver<Event>) {
        let link = Link::new(target, limits);
        let (events, heard) = mpsc::channel(EVENTS);
        let listening = Mutex::new(link.stop().child_token());
        let hop = Hop::new(link.template());
        let shared = Arc::new(Shared {
            link,
            hop,
            floor: Floor::default(),
            errands: TaskTracker::new(),
            runtime: Handle::current(),
        });
        let events = Mutex::new(Some(events));
        (
            Arc::new(Self {
                shared,
                last_id: AtomicU64::new(0),
                events,
                listening,
            }),
            heard,
        )
    }

    #[cfg(test)]
    pub(super) fn idle_connections(&self) -> usize {
        self.shared.link.idle()
    }

    /// The state in which a request goes out; a handshake begins a new one.
    fn stamp(&self, handshake: bool) -> Stamp {
        if !handshake {
            return self.shared.hop.stamp();
        }
        self.listening.lock().cancel();
        self.shared.link.forget_redirects();
        self.shared.hop.forget()
    }
}

#[async_trait]
impl Transport for Streamable {
    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn open(&self, mut request: Outgoing) -> Result<Exchange, Failed> {
        let handshake = request.method == Method::Initialize;
        let stamp = self.stamp(handshake);
        if !handshake && stamp.is_unsettled() {
            // Without the session that is just being opened the server could only refuse it.
            let detail = "a new session is being opened";
            return Err(Failed::unsent(FailedKind::SessionExpired, detail));
        }
        let params = std::mem::take(&mut request.params);
        let body = Request::text(&Id::number(request.id), request.method.as_str(), params);
        let mut parcel = Parcel::post(Arc::clone(&stamp.headers), body);
        stamp.mark(&mut parcel, &request);
        let call = Call::new(Arc::clone(&self.shared), &request, stamp, handshake);
        let head = self.shared.link.start(parcel).await?;
        Ok(Exchange::new(call.sent(head)))
    }

    fn attend(&self, party: Party) -> Option<Exchange> {
        let id = self.next_id();
        self.shared.floor.enter(id, party);
        let shared = Arc::clone(&self.shared);
        Some(Exchange::new(Attending { shared, id }))
    }

    fn tells_apart(&self) -> bool {
        !self.shared.floor.is_vague()
    }

    fn is_quiet_for(&self, party: Party) -> bool {
        self.shared.floor.is_quiet_for(party)
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        self.shared.post(&self.shared.hop.stamp(), message).await
    }

    fn negotiated(&self, version: Version) {
        self.shared.hop.settle(version);
    }

    async fn listen(&self) -> Option<oneshot::Receiver<()>> {
        let stamp = self.shared.hop.stamp();
        let events = self.events.lock().clone();
        let events = events.filter(|_| stamp.era() == Era::Session)?;
        let link = &self.shared.link;
        let token = link.stop().child_token();
        std::mem::replace(&mut *self.listening.lock(), token.clone()).cancel();
        let (ready, open) = oneshot::channel();
        let listener = Listener::new(Arc::clone(&self.shared), stamp, events, ready);
        link.tasks()
            .spawn(token.run_until_cancelled_owned(listener.run()));
        Some(open)
    }

    async fn close(&self) {
        self.listening.lock().cancel();
        self.events.lock().take();
        self.shared.finish_errands().await;
        self.shared.end_session().await;
        self.shared.link.close();
    }
}

/// A seat without a request.
struct Attending {
    shared: Arc<Shared>,
    id: u64,
}

impl Answering for Attending {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let mail = self.shared.floor.mail(self.id, cx);
        mail.map_or(Poll::Pending, |message| Poll::Ready(Ok(message)))
    }

    fn cancel(self: Box<Self>, _: Reason) {}
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.shared.floor.leave(self.id, true);
    }
}

impl Drop for Streamable {
    fn drop(&mut self) {
        self.shared.link.close();
    }
}

impl Shared {
    /// Sends a message that has no response.
    pub(super) async fn post(&self, stamp: &Stamp, message: Message) -> Result<(), Failed> {
        let method = match &message {
            Message::Notification(notification) => Some(notification.method.to_string()),
            Message::Request(request) => Some(request.method.to_string()),
            Message::Response(_) => None,
        };
        let mut parcel = Parcel::post(Arc::clone(&stamp.headers), message.to_rope());
        if let Some(method) = method {
            stamp.mark_method(&mut parcel, &method);
        }
        let answer = self.link.start(parcel).await?.await?;
        self.link.accepted(answer, stamp.session.is_some()).await
    }

    /// Does something that nobody waits for, as long as the connection lives.
    pub(super) fn errand(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.link.stop().child_token();
        self.errands
            .spawn_on(stop.run_until_cancelled_owned(work), &self.runtime);
    }

    async fn finish_errands(&self) {
        self.errands.close();
        if timeout(FAREWELL / 2, self.errands.wait()).await.is_err() {
            debug!(address = %self.link.origin(), count = self.errands.len(), "some cancels could not be told");
        }
    }

    /// Tells the server that the session is over. It need not offer that, nor answer.
    async fn end_session(&self) {
        let stamp = self.hop.stamp();
        if stamp.session.is_none() {
            return;
        }
        match timeout(FAREWELL, self.link.delete(&stamp.headers)).await {
            Ok(Ok(answer)) => {
                debug!(address = %self.link.origin(), status = answer.status.as_u16(), "session ended")
            }
            Ok(Err(failed)) => debug!(address = %self.link.origin(), reason = %failed, "session left"),
            Err(_) => {
                debug!(address = %self.link.origin(), "the server does not answer to the end of its session")
            }
        }
    }
}
