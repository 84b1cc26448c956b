//! Tries one server for itself: starts or dials it, hears who it is, reads its lists.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use mcpr_config::GatewayOptions;
use mcpr_protocol::{ErrorObject, Message, Object, RawJson, Version, code};
use mcpr_registry::{Kind, ServerName};
use mcpr_transport::child::Guardian;
use mcpr_transport::{Answering, Exchange, Failed, Outgoing, Party, Reason, Transport};
use mcpr_upstream::{
    Dial, Dialer, Dialled, NoAudience, NoMemory, Pool, PoolOptions, Reach, Signs, Status, UpstreamSpec, Wire,
};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::problem::Problem;

/// One server that is being tried, with nothing around it.
pub(crate) struct Probe {
    name: ServerName,
    pool: Pool,
    watch: Arc<Watch>,
    is_child: bool,
}

/// How long a step took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    pub(crate) step: &'static str,
    pub(crate) ms: u64,
}

/// When what happened; shared with whoever sees it happen.
#[derive(Default)]
struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// When the first connection was there.
    dialled: Option<Instant>,
    /// When the first list was asked for.
    listing: Option<Instant>,
    /// What is seen of the child process.
    signs: Option<Arc<dyn Signs>>,
    /// Lists that were asked for in vain, and why.
    complaints: Vec<String>,
}

/// How long a server may take to end; then the guardian ends what is left.
const GRACE: Duration = Duration::from_secs(8);

impl Probe {
    /// A probe of this server. Must be called within the runtime.
    pub(crate) fn new(
        name: ServerName,
        spec: UpstreamSpec,
        options: &GatewayOptions,
    ) -> Result<Self, Problem> {
        let is_child = matches!(spec.reach, Reach::Stdio(_));
        let guardian = if is_child {
            Guardian::start_own(&["__guardian"])?
        } else {
            Guardian::none()
        };
        let watch = Arc::<Watch>::default();
        let dialer = Dialer {
            guardian,
            message_max: options.limits.server_message,
        };
        let watched = Watched {
            inner: dialer,
            watch: watch.clone(),
        };
        let pool = Pool::new(
            Arc::new(watched),
            Arc::new(NoMemory),
            Arc::new(NoAudience),
            PoolOptions {
                starts_at_once: 1,
                eager: true,
                list_pages: options.limits.list_pages,
            },
        );
        // One that would wait for its first use is used now.
        pool.apply(vec![(name.clone(), UpstreamSpec { lazy: false, ..spec }.into())]);
        Ok(Self {
            name,
            pool,
            watch,
            is_child,
        })
    }

    /// Waits until the server is ready, or known not to be, and tells how long each step took.
    pub(crate) async fn settled(&self) -> (Option<Status>, Vec<Step>) {
        let began = Instant::now();
        let status = match self.pool.get(&self.name) {
            Some(upstream) => Some(upstream.settled().await),
            None => None,
        };
        (status, self.steps(began, Instant::now()))
    }

    /// What the child process has written to its stderr last.
    pub(crate) fn last_words(&self) -> String {
        let signs = self.watch.0.lock().signs.clone();
        signs.map(|signs| signs.last_words()).unwrap_or_default()
    }

    /// Which lists were not to be had, and why. A gateway does without them.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.watch.0.lock().complaints.clone()
    }

    /// Ends the server, and waits until nothing of it is left.
    pub(crate) async fn end(&self) {
        self.pool.shutdown(GRACE).await;
    }

    /// The steps that were begun. A URL is not touched before it is spoken to.
    fn steps(&self, began: Instant, ended: Instant) -> Vec<Step> {
        let seen = self.watch.0.lock();
        let start = self.is_child.then_some(("start", Some(began)));
        let introduced = if self.is_child { seen.dialled } else { Some(began) };
        let steps = start
            .into_iter()
            .chain([("introduce", introduced), ("list", seen.listing)]);
        let begun: Vec<_> = steps.filter_map(|(step, at)| Some((step, at?))).collect();
        let ends = begun.iter().skip(1).map(|(_, at)| *at).chain([ended]);
        let took = |((step, at), end): (&(&'static str, Instant), Instant)| Step {
            step,
            ms: u64::try_from(end.saturating_duration_since(*at).as_millis()).unwrap_or(u64::MAX),
        };
        begun.iter().zip(ends).map(took).collect()
    }
}

/// Opens connections, and sees when.
struct Watched<T> {
    inner: T,
    watch: Arc<Watch>,
}

#[async_trait]
impl Dial for Watched<Dialer> {
    async fn dial(&self, server: &ServerName, spec: &UpstreamSpec, wire: Wire) -> Result<Dialled, Failed> {
        let Dialled {
            transport,
            events,
            signs,
        } = self.inner.dial(server, spec, wire).await?;
        let mut seen = self.watch.0.lock();
        seen.dialled.get_or_insert_with(Instant::now);
        seen.signs.clone_from(&signs);
        let transport = Arc::new(Watched {
            inner: transport,
            watch: self.watch.clone(),
        });
        Ok(Dialled {
            transport,
            events,
            signs,
        })
    }
}

#[async_trait]
impl Transport for Watched<Arc<dyn Transport>> {
    fn next_id(&self) -> u64 {
        self.inner.next_id()
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let Some(kind) = Kind::listed_by(&request.method) else {
            return self.inner.open(request).await;
        };
        self.watch.0.lock().listing.get_or_insert_with(Instant::now);
        let exchange = self.inner.open(request).await?;
        Ok(Exchange::new(Overheard {
            exchange,
            kind,
            watch: self.watch.clone(),
        }))
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        self.inner.send(message).await
    }

    fn negotiated(&self, version: Version) {
        self.inner.negotiated(version);
    }

    fn tells_apart(&self) -> bool {
        self.inner.tells_apart()
    }

    fn is_quiet_for(&self, party: Party) -> bool {
        self.inner.is_quiet_for(party)
    }

    fn attend(&self, party: Party) -> Option<Exchange> {
        self.inner.attend(party)
    }

    async fn listen(&self) -> Option<oneshot::Receiver<()>> {
        self.inner.listen().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

/// A request for a list, whose answer is looked at on its way.
struct Overheard {
    exchange: Exchange,
    kind: Kind,
    watch: Arc<Watch>,
}

impl Answering for Overheard {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let next = self.exchange.poll_next(cx);
        if let Poll::Ready(Ok(Message::Response(response))) = &next
            && let Some(complaint) = complaint(self.kind, &response.outcome)
        {
            self.watch.0.lock().complaints.push(complaint);
        }
        next
    }

    fn cancel(self: Box<Self>, why: Reason) {
        self.exchange.cancel(why);
    }
}

/// What is wrong with the answer to a request for a list; a method that is not there is an empty list.
fn complaint(kind: Kind, outcome: &Result<RawJson, RawJson>) -> Option<String> {
    let method = kind.method();
    match outcome.as_ref().map_err(RawJson::read::<ErrorObject>) {
        Err(Ok(error)) if error.code == code::METHOD_NOT_FOUND => None,
        Err(Ok(error)) => Some(format!("`{method}` fails: {} ({})", error.message, error.code)),
        Err(Err(_)) => Some(format!(
            "`{method}` fails with an error that is no JSON-RPC error object"
        )),
        Ok(result) => {
            let list = Object::read(result)
                .ok()
                .and_then(|result| result.get(kind.member()));
            let is_list = list.is_some_and(|list| list.is_array());
            (!is_list).then(|| format!("the answer to `{method}` holds no list"))
        }
    }
}
