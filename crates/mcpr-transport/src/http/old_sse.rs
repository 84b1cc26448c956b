//! The client of HTTP+SSE (2024-11-05): one stream of events from the server, posts to it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::Uri;
use mcpr_protocol::{Broken, Id, Message, Method, Request, Rope, Version};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, warn};

use super::client::address::{self, Origin};
use super::client::parcel::Parcel;
use super::client::{Answer, Limits, Link, Target, Underway};
use crate::intake;
use crate::pending::{Pending, Waiting, Withdraw, cancelled};
use crate::{Answering, Event, Exchange, Failed, FailedKind, Outgoing, Party, Reason, Transport};

/// How many events wait for the one who reads them; more are dropped, so that responses still come.
const EVENTS: usize = 256;
/// How long the news that nobody waits any more may take.
const CANCEL: Duration = Duration::from_secs(5);
/// How long the end of a connection waits for such news.
const FAREWELL: Duration = Duration::from_millis(500);

/// A server at an endpoint of HTTP+SSE.
///
/// Its session is its stream: when that ends, all open requests fail, [`Event::Closed`] follows,
/// and a new connection must be made. It knows neither session nor version headers.
#[derive(Debug)]
pub struct OldSse {
    post: Arc<Post>,
    pending: Arc<Pending>,
}

/// Where messages to the server go.
#[derive(Debug)]
struct Post {
    link: Link,
    endpoint: Uri,
    errands: TaskTracker,
    runtime: Handle,
}

/// The reading side of a connection.
struct Reader {
    stream: Answer,
    pending: Arc<Pending>,
    events: mpsc::Sender<Event>,
    link: Link,
    origin: String,
}

/// A request of which the answer comes on the stream, unless the post fails.
struct Call {
    waiting: Waiting<Post>,
    post: Option<Posting>,
}

/// A post on its way.
type Posting = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;

impl OldSse {
    /// Opens the stream and waits for the endpoint that the server names in it.
    ///
    /// The time for that is the caller's to limit.
    ///
    /// # Errors
    ///
    /// When there is no such stream, or it names an endpoint of another origin.
    pub async fn connect(
        target: &Target,
        limits: Limits,
    ) -> Result<(Arc<Self>, mpsc::Receiver<Event>), Failed> {
        let link = Link::new(target, limits);
        let mut stream = link.get_stream(link.template()).await?;
        if !stream.is_stream() {
            return Err(link.refused(stream).await);
        }
        let endpoint = endpoint(&link, &mut stream).await?;
        let (events, heard) = mpsc::channel(EVENTS);
        let pending = Pending::new();
        let origin = link.origin().to_string();
        let reader = Reader {
            stream,
            pending: Arc::clone(&pending),
            events,
            link: link.clone(),
            origin,
        };
        link.tasks().spawn(reader.run(link.stop().child_token()));
        let post = Post {
            link,
            endpoint,
            errands: TaskTracker::new(),
            runtime: Handle::current(),
        };
        Ok((
            Arc::new(Self {
                post: Arc::new(post),
                pending,
            }),
            heard,
        ))
    }
}

/// The endpoint that the first event names. It must be of the same origin: it gets our headers.
async fn endpoint(link: &Link, stream: &mut Answer) -> Result<Uri, Failed> {
    let origin = link.origin();
    loop {
        let event = poll_fn(|cx| stream.poll_event(cx)).await;
        let Some(event) = event.transpose()? else {
            let detail = format!("{origin} ended its stream before it named an endpoint");
            return Err(Failed::unsent(FailedKind::Closed, detail));
        };
        if event.name.as_deref() == Some("endpoint") {
            let reference = String::from_utf8_lossy(&event.data);
            return same_origin(origin, &link.path(), &reference).map_err(|reason| {
                Failed::unsent(
                    FailedKind::Redirected,
                    format!("{origin} names an endpoint {reason}"),
                )
            });
        }
    }
}

fn same_origin(origin: &Origin, path: &Uri, reference: &str) -> Result<Uri, String> {
    let url = address::resolve(origin, path, reference).ok_or("that is no URL")?;
    match Origin::of(&url) {
        Some(other) if other != *origin => Err(format!("of another origin, {other}")),
        Some(_) => url
            .into_parts()
            .path_and_query
            .map(Uri::from)
            .ok_or_else(|| "without a path".to_owned()),
        None => Err("that is no URL of HTTP".to_owned()),
    }
}

impl Reader {
    async fn run(mut self, stop: CancellationToken) {
        let failed = stop.run_until_cancelled_owned(self.read()).await;
        let failed = failed
            .unwrap_or_else(|| Failed::maybe_sent(FailedKind::Closed, "the connection was closed by mcpr"));
        self.pending.fail_all(&failed);
        let _ = self.events.send(Event::Closed(failed)).await;
    }

    /// Passes on what comes until the stream ends.
    async fn read(&mut self) -> Failed {
        loop {
            match self.stream.next().await {
                Some(Ok(text)) => self.take(&text),
                Some(Err(failed)) => return failed,
                None => {
                    return Failed::maybe_sent(
                        FailedKind::Closed,
                        format!("{} ended its stream", self.origin),
                    );
                }
            }
        }
    }

    fn take(&self, text: &Bytes) {
        let event = match intake::read(text) {
            Ok(message) => self.pending.deliver(message),
            Err(broken) => {
                self.take_broken(&broken, text);
                None
            }
        };
        if let Some(event) = event
            && self.events.try_send(event).is_err()
        {
            warn!(
                address = self.origin,
                "a message was dropped: nobody read those before it"
            );
        }
    }

    /// A call fails whose answer this is; whatever else cannot be read is passed over.
    fn take_broken(&self, error: &Broken, text: &[u8]) {
        let detail = format!("its answer cannot be read: {error}");
        let failed = Failed::maybe_sent(FailedKind::Malformed, detail).saying(self.link.mask().excerpt(text));
        if self.pending.fail_answered(text, &failed) {
            warn!(address = self.origin, %error, "an answer of the server cannot be read, and its call fails");
        } else {
            warn!(address = self.origin, %error, "a message that cannot be read was passed over");
        }
    }
}

impl Post {
    async fn start(&self, text: Rope) -> Result<Underway, Failed> {
        let parcel = Parcel::post(Arc::clone(self.link.template()), text);
        self.link.start(parcel.to(self.endpoint.clone())).await
    }

    /// The endpoint names a session, so that a 404 says it is gone.
    async fn accepted(&self, answer: Answer) -> Result<(), Failed> {
        self.link.accepted(answer, true).await
    }

    async fn send(&self, text: Rope) -> Result<(), Failed> {
        self.accepted(self.start(text).await?.await?).await
    }
}

impl Withdraw for Post {
    fn withdraw(self: Arc<Self>, id: u64, why: Reason) {
        let (errands, runtime) = (self.errands.clone(), self.runtime.clone());
        let stop = self.link.stop().child_token();
        let news = async move { timeout(CANCEL, self.send(cancelled(id, why).to_rope())).await };
        errands.spawn_on(
            async move {
                if let Some(Ok(Err(failed))) = stop.run_until_cancelled_owned(news).await {
                    debug!(request_id = id, reason = %failed, "the server could not be told of a cancel");
                }
            },
            &runtime,
        );
    }
}

impl Answering for Call {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let next = self.waiting.poll_next(cx);
        if next.is_ready() {
            return next;
        }
        match self.post.as_mut().map(|post| post.as_mut().poll(cx)) {
            None | Some(Poll::Pending) => {}
            Some(Poll::Ready(Ok(()))) => self.post = None,
            Some(Poll::Ready(Err(failed))) => {
                self.post = None;
                self.waiting.finish();
                return Poll::Ready(Err(failed));
            }
        }
        Poll::Pending
    }

    fn cancel(mut self: Box<Self>, why: Reason) {
        self.waiting.give_up(why);
    }
}

#[async_trait]
impl Transport for OldSse {
    fn next_id(&self) -> u64 {
        self.pending.next_id()
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let cancellable = request.method != Method::Initialize;
        let ticket = self.pending.enter(request.id, request.party)?;
        let text = Request::text(&Id::number(request.id), request.method.as_str(), request.params);
        let underway = self.post.start(text).await?;
        let post = Arc::clone(&self.post);
        let accepted = async move { post.accepted(underway.await?).await };
        let waiting = Waiting::new(ticket, cancellable.then(|| Arc::clone(&self.post)));
        Ok(Exchange::new(Call {
            waiting,
            post: Some(Box::pin(accepted)),
        }))
    }

    fn is_quiet_for(&self, party: Party) -> bool {
        self.pending.is_quiet_for(party)
    }

    fn attend(&self, party: Party) -> Option<Exchange> {
        self.pending.attend(party)
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        self.post.send(message.to_rope()).await
    }

    /// The old transport names no revision outside the messages.
    fn negotiated(&self, _: Version) {}

    async fn close(&self) {
        self.post.errands.close();
        let _ = timeout(FAREWELL, self.post.errands.wait()).await;
        self.post.link.close();
    }
}

impl Drop for OldSse {
    fn drop(&mut self) {
        self.post.link.close();
    }
}

#[cfg(test)]
mod tests;
