//! Requests to one endpoint: sent, sent again where that is safe, and led on by redirects.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use http::header::{self, HeaderMap};
use http::uri::{PathAndQuery, Uri};
use mcpr_protocol::Rope;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::debug;

use super::address::{self, Origin};
use super::answer::Answer;
use super::connect::Connector;
use super::http1::{Head, Lost, Open};
use super::limits::Limits;
use super::parcel::{self, Parcel};
use super::pool::{Pool, Wire};
use super::proxy::Proxy;
use super::target::Target;
use super::verdict::Mask;
use crate::{Failed, FailedKind};

/// How often a request that was proven unsent goes out again before it is given up.
const RESENDS: usize = 3;
/// How often in a row a server may lead us on.
const REDIRECTS: usize = 5;

/// One HTTP endpoint and the connections to it.
///
/// It knows HTTP and nothing of sessions: what a message means is for its user. Cloning shares it.
#[derive(Clone)]
pub struct Link(Arc<Inner>);

/// A request that is on its way, as the future of its answer.
///
/// Dropping it closes the connection it went out on.
pub struct Underway {
    link: Link,
    way: Way,
}

/// What a request is waiting for.
enum Way {
    /// The head of the answer, on this connection; kept is what it would be sent again with.
    Out(Wire, Box<(Parcel, Uri)>),
    /// What is seldom: sent again, or led elsewhere.
    Seldom(Pin<Box<dyn Future<Output = Result<Answer, Failed>> + Send>>),
    /// Nothing any more.
    Over,
}

struct Inner {
    origin: Origin,
    /// The proxy that is on the way.
    proxy: Option<Proxy>,
    configured: Uri,
    /// The path that redirects led to.
    current: Mutex<Uri>,
    template: Arc<HeaderMap>,
    mask: Mask,
    limits: Limits,
    pool: Arc<Pool>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Link {
    /// A link to a target; nothing is connected yet.
    pub fn new(target: &Target, limits: Limits) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let connector = Connector {
            origin: target.origin().clone(),
            proxy: target.proxy().cloned(),
            timeout: limits.connect,
            tasks: tasks.clone(),
            stop: stop.clone(),
            open: Open::default(),
        };
        Self(Arc::new(Inner {
            origin: target.origin().clone(),
            proxy: target.proxy().cloned(),
            configured: target.path(),
            current: Mutex::new(target.path()),
            template: Arc::new(parcel::post_template(target.headers())),
            mask: Mask::new(target),
            limits,
            pool: Pool::new(connector, limits),
            tasks,
            stop,
        }))
    }

    /// The headers of every post: the configured ones, and what content there is and is wanted.
    pub fn template(&self) -> &Arc<HeaderMap> {
        &self.0.template
    }

    /// Posts a message and waits for the head of the answer; `headers` begin as [`Link::template`].
    ///
    /// # Errors
    ///
    /// When there is no answer of HTTP at all, or one that leads elsewhere.
    pub async fn post(&self, headers: Arc<HeaderMap>, body: Rope) -> Result<Answer, Failed> {
        self.start(Parcel::post(headers, body)).await?.await
    }

    /// Asks for a stream of events and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// As [`Link::post`].
    pub async fn get_stream(&self, headers: &HeaderMap) -> Result<Answer, Failed> {
        self.start(Parcel::get(headers)).await?.await
    }

    /// Ends the session that `headers` name and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// As [`Link::post`].
    pub async fn delete(&self, headers: &HeaderMap) -> Result<Answer, Failed> {
        self.start(Parcel::delete(headers)).await?.await
    }

    /// Closes all connections; what is open on them fails.
    pub fn close(&self) {
        self.0.stop.cancel();
        self.0.pool.end();
        self.0.tasks.close();
    }

    /// Puts a request on its way.
    ///
    /// # Errors
    ///
    /// When there is no connection; the request is unsent then.
    pub(crate) async fn start(&self, parcel: Parcel) -> Result<Underway, Failed> {
        let path = parcel.path().cloned().unwrap_or_else(|| self.path());
        let mut wire = self.0.pool.wire().await?;
        wire.send(self.request(&parcel, &path), parcel.body());
        Ok(Underway {
            link: self.clone(),
            way: Way::Out(wire, Box::new((parcel, path))),
        })
    }

    /// The path that requests go to now.
    pub(crate) fn path(&self) -> Uri {
        self.0.current.lock().clone()
    }

    /// Goes back to the configured path.
    pub(super) fn forget_redirects(&self) {
        self.0.current.lock().clone_from(&self.0.configured);
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Who answers, for people.
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            origin: &self.0.origin,
            through: self.forwarder(),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(crate) fn mask(&self) -> &Mask {
        &self.0.mask
    }

    /// What owns the tasks of this link.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    /// What ends when the link is closed.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.0.stop
    }

    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        self.0.pool.usable()
    }

    /// The head of a request. One that a proxy reads names the whole URL (RFC 9112, section 3.2.2).
    fn request(&self, parcel: &Parcel, path: &Uri) -> Vec<u8> {
        let to = path.path_and_query().map_or("/", PathAndQuery::as_str);
        match self.forwarder() {
            None => parcel.head(to, None),
            Some(proxy) => parcel.head(&format!("{}{to}", self.0.origin), proxy.authorization.as_ref()),
        }
    }

    /// The proxy that reads the requests and passes them on; through others a tunnel leads.
    fn forwarder(&self) -> Option<&Proxy> {
        self.0.proxy.as_ref().filter(|_| !self.0.origin.secure)
    }

    /// Goes on with a request that has brought no answer, or one that leads elsewhere.
    async fn persist(
        self,
        wire: Wire,
        outcome: Result<Head, Lost>,
        (parcel, path): (Parcel, Uri),
    ) -> Result<Answer, Failed> {
        let answer = self.head(wire, outcome, &parcel, &path).await?;
        if is_redirect(answer.status) {
            self.follow(parcel, path, answer).await
        } else {
            Ok(answer)
        }
    }

    /// The head of an answer. A request of which nothing was written goes out again at once, on a new
    /// connection.
    async fn head(
        &self,
        mut wire: Wire,
        mut outcome: Result<Head, Lost>,
        parcel: &Parcel,
        path: &Uri,
    ) -> Result<Answer, Failed> {
        let mut resends = 0;
        loop {
            match outcome {
                Ok(head) => return self.answered(Answer::new(head, wire, self)),
                Err(lost) if lost.unsent && resends < RESENDS => resends += 1,
                Err(lost) => return Err(self.broken(&lost)),
            }
            wire = wire.replace().await?;
            outcome = wire.outcome(self.request(parcel, path), parcel.body()).await;
        }
    }

    /// An answer that only the proxy can have given says nothing about the server.
    fn answered(&self, answer: Answer) -> Result<Answer, Failed> {
        match self.forwarder() {
            Some(proxy) if answer.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                let reason = proxy.refusal(answer.status);
                let detail = format!("cannot reach {}: {reason}", self.place());
                Err(Failed::unsent(FailedKind::Unreachable, detail))
            }
            _ => Ok(answer),
        }
    }

    async fn follow(&self, parcel: Parcel, mut path: Uri, mut answer: Answer) -> Result<Answer, Failed> {
        for _ in 0..REDIRECTS {
            path = self.next_path(&path, &answer)?;
            answer.release();
            debug!(address = %self.0.origin, path = path.path(), "following a redirect");
            if parcel.path().is_none() {
                self.0.current.lock().clone_from(&path);
            }
            let mut wire = self.0.pool.wire().await?;
            let outcome = wire.outcome(self.request(&parcel, &path), parcel.body()).await;
            answer = self.head(wire, outcome, &parcel, &path).await?;
            if !is_redirect(answer.status) {
                return Ok(answer);
            }
        }
        Err(redirected(format!("{} redirects in a circle", self.0.origin)))
    }

    /// Where a redirect leads, if we go there: nowhere that the configured headers are not meant
    /// for, and only with the same method and body.
    fn next_path(&self, path: &Uri, answer: &Answer) -> Result<Uri, Failed> {
        let (origin, status) = (&self.0.origin, answer.status.as_u16());
        let headers = answer.headers();
        let location = headers
            .get(header::LOCATION)
            .and_then(|value| value.to_str().ok());
        let to = location.and_then(|location| address::resolve(origin, path, location));
        let Some(to) = to else {
            let detail = format!("{origin} answers {status} without saying where to go");
            return Err(led_away(status, detail));
        };
        let same = Origin::of(&to).is_some_and(|to| to == *origin);
        if same && matches!(status, 307 | 308) {
            return Ok(to
                .into_parts()
                .path_and_query
                .map_or_else(|| Uri::from_static("/"), Uri::from));
        }
        let place = Origin::of(&to).map_or_else(
            || "another scheme".to_owned(),
            |to_origin| format!("{to_origin}{}", to.path()),
        );
        let detail = format!(
            "{origin} answers {status} and points to {place}; if that is right, use that URL in the configuration"
        );
        Err(led_away(status, detail))
    }

    /// The failure of a request that was lost.
    fn broken(&self, lost: &Lost) -> Failed {
        let kind = if lost.why.is_malformed() {
            FailedKind::Malformed
        } else {
            FailedKind::Closed
        };
        let detail = format!("no answer from {}: {}", self.place(), lost.why);
        if lost.unsent {
            Failed::unsent(kind, detail)
        } else {
            Failed::maybe_sent(kind, detail)
        }
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// An origin, and the proxy whose answers cannot be told from its own. `Display` is for people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) origin: &'a Origin,
    pub(super) through: Option<&'a Proxy>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)?;
        match self.through {
            Some(proxy) => write!(f, " through {proxy}"),
            None => Ok(()),
        }
    }
}

/// What a redirect says of the request that it answers: it was not carried out, except where the server points
/// to what came of it (303; RFC 9110, section 15.4.4).
fn led_away(status: u16, detail: String) -> Failed {
    match status {
        303 => Failed::maybe_sent(FailedKind::Redirected, detail),
        _ => redirected(detail),
    }
}

/// A server that redirects has not done what was asked.
fn redirected(detail: String) -> Failed {
    Failed::unsent(FailedKind::Redirected, detail)
}

impl Future for Underway {
    type Output = Result<Answer, Failed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.way {
            Way::Out(wire, _) => ready!(wire.poll_head(cx)),
            Way::Seldom(rest) => return rest.as_mut().poll(cx),
            Way::Over => return Poll::Pending,
        };
        let Way::Out(wire, trip) = std::mem::replace(&mut self.way, Way::Over) else {
            return Poll::Pending;
        };
        match outcome {
            Ok(head) if !is_redirect(head.status) => {
                Poll::Ready(self.link.answered(Answer::new(head, wire, &self.link)))
            }
            outcome => {
                let link = self.link.clone();
                self.way = Way::Seldom(Box::pin(link.persist(wire, outcome, *trip)));
                self.poll(cx)
            }
        }
    }
}

impl fmt::Debug for Underway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Underway(..)")
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.0.origin)
    }
}
