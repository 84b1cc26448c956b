//! The gateway as a value.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use http::StatusCode;
use mcpr_admin::ActiveBy;
use mcpr_auth::Principal;
use mcpr_bridge::Sealer;
use mcpr_config::{GatewayOptions, SecretFolders};
use mcpr_protocol::{
    Era, Id, LogLevel, Message, Notification, Object, RawJson, Response, Rope, code, notification,
};
use mcpr_registry::{ServerName, ServerState};
use mcpr_router::{Lease, Router};
use mcpr_store::Store;
use mcpr_telemetry::{LogControl, Metrics, Secrets, Tracer};
use mcpr_upstream::{Feed, PerFeed, Phase, Pool, Replica, Timeouts};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::call::Call;
use crate::client::Context;
use crate::doorkeeper::Doorkeeper;
use crate::events::Teller;
use crate::fault::Fault;
use crate::history::History;
use crate::layers::Layers;
use crate::native::Tools;
use crate::pins::PinBook;
use crate::plan::Plan;
use crate::question::Answer;
use crate::quota::{Full, Quotas, Share, Spot};
use crate::rates::Rates;
use crate::reload::Reload;
use crate::scope::{Asked, Scope};
use crate::session::Sessions;
use crate::sight::Sight;
use crate::snapshot::Snapshot;
use crate::start::Builder;
use crate::subscriptions::Subscriptions;
use crate::suspension::Suspensions;
use crate::toolsets::Toolsets;
use crate::turned_down::TurnedDown;
use crate::visits::Visits;

/// A running gateway.
///
/// It serves nobody by itself: a front of [`crate::front`] brings clients to it. Dropping it stops
/// its servers; [`Gateway::shutdown`] also waits for them.
pub struct Gateway {
    pub(crate) plans: watch::Sender<Arc<Plan>>,
    /// Changes of the plan go one after the other.
    pub(crate) planning: tokio::sync::Mutex<()>,
    pub(crate) reload: Option<Arc<Reload>>,
    pub(crate) toolsets: Toolsets,
    /// What is approved of the tools of servers.
    pub(crate) pins: Arc<PinBook>,
    pub(crate) facts: Facts,
    pub(crate) started_at: SystemTime,
    /// What it was told at its start: some of that counts until its end.
    pub(crate) started_with: GatewayOptions,
    pub(crate) pool: Arc<Pool>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) doorkeeper: Arc<Doorkeeper>,
    pub(crate) sessions: Sessions,
    /// What each principal has at once.
    pub(crate) quotas: Quotas,
    /// How many requests each principal has sent lately.
    pub(crate) rates: Rates,
    /// What the log was told of requests that were turned away.
    pub(crate) turned_down: TurnedDown,
    /// The same of those that were not let in at all.
    pub(crate) kept_out: TurnedDown,
    /// The same of lists of projects that are not known.
    pub(crate) astray: TurnedDown,
    pub(crate) subscriptions: PerFeed<Arc<Subscriptions>>,
    pub(crate) visits: Arc<Visits>,
    pub(crate) suspensions: Suspensions,
    /// Seals what clients hold for the gateway.
    pub(crate) sealer: Sealer,
    pub(crate) secrets: Secrets,
    /// Where servers find the secrets that they ask for.
    pub(crate) secret_folders: SecretFolders,
    pub(crate) snapshot: watch::Receiver<Arc<Snapshot>>,
    /// The steps to the end; each brings those before it.
    pub(crate) closing: CancellationToken,
    pub(crate) leaving: CancellationToken,
    /// One token for each front on the network that has connections.
    pub(crate) doors: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) ended: CancellationToken,
    pub(crate) tasks: TaskTracker,
    /// One token for each call that is under way.
    pub(crate) under_way: TaskTracker,
    /// What servers are still to be told of requests that nobody waits for.
    pub(crate) farewells: TaskTracker,
    /// What operators may change of the log.
    pub(crate) log: Option<LogControl>,
    pub(crate) tracer: Tracer,
    pub(crate) events: Arc<Teller>,
    pub(crate) history: Arc<History>,
    pub(crate) layers: Layers,
    pub(crate) metrics: Metrics,
    pub(crate) tools: Tools,
    pub(crate) woken: tokio::sync::OnceCell<()>,
    pub(crate) router: Router,
    pub(crate) own_info: RawJson,
    pub(crate) requests: AtomicU64,
    pub(crate) finished: AtomicU64,
    pub(crate) failed: AtomicU64,
}

/// What operators are told of the process around the gateway.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The URLs at which MCP is served.
    pub listen: Vec<String>,
    /// The log file of this run.
    pub log_file: Option<PathBuf>,
}

impl Gateway {
    /// Prepares a gateway for this configuration.
    pub fn builder(config: mcpr_config::Config) -> Builder {
        Builder::new(config)
    }

    /// Whether it takes requests: the answer to `/readyz`. Its servers need not be ready, because
    /// no list waits for them (AGG-12).
    pub fn is_ready(&self) -> bool {
        !self.is_ending()
    }

    /// Waits until every server is ready, or known not to be, and the lists say so. Servers that
    /// wait for their first use are not waited for.
    pub async fn settled(&self) {
        let servers = self.pool.all();
        for server in &servers {
            server.all_settled().await;
        }
        let mut snapshots = self.snapshot.clone();
        let said = |snapshot: &Arc<Snapshot>| {
            servers.iter().all(|server| {
                let idle = matches!(server.status().phase, Phase::Idle);
                idle || snapshot.states.get(&server.name) != Some(ServerState::Starting)
            })
        };
        let _ = snapshots.wait_for(said).await;
    }

    /// What it is to do now.
    pub(crate) fn plan(&self) -> Arc<Plan> {
        self.plans.borrow().clone()
    }

    /// What limits the sight of a caller now, and what decides which tools are registered.
    pub(crate) fn scope(&self, principal: &Principal, asked: &Asked) -> (Scope, ActiveBy) {
        Scope::of(&self.plan(), &self.toolsets, principal, asked)
    }

    /// What the caller of a request sees.
    pub(crate) fn sight(&self, context: &Context) -> Arc<Sight> {
        self.sight_of(&context.principal, &context.asked)
    }

    /// What a principal sees that asks so.
    pub(crate) fn sight_of(&self, principal: &Principal, asked: &Asked) -> Arc<Sight> {
        let (scope, _) = self.scope(principal, asked);
        self.snapshot().sight(&scope)
    }

    /// What is offered now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }

    pub(crate) fn router(&self) -> &Router {
        &self.router
    }

    /// Counts one more of a principal's share in.
    pub(crate) fn take_spot(&self, principal: &Principal, share: Share) -> Result<Spot, Full> {
        let limits = self.plan().options.limits.per_principal;
        self.quotas.take(principal, share, &limits)
    }

    /// Counts requests of a principal over the network.
    ///
    /// # Errors
    ///
    /// When it sends more than it may.
    pub(crate) fn pace(&self, principal: &Principal, requests: usize) -> Result<(), Fault> {
        let own = principal.rate().map(|rate| (rate, "the token's `--rate`"));
        let usual = || {
            let rate = self.plan().options.limits.per_principal.rate?;
            Some((rate, "`limits.perPrincipal.rate`"))
        };
        let Some((rate, said_by)) = own.or_else(usual) else {
            return Ok(());
        };
        let taken = self.rates.take(principal, rate, requests);
        taken.map_err(|wait| Fault::RateLimited { rate, said_by, wait })
    }

    /// A number for the next request.
    pub(crate) fn number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a request that has ended.
    pub(crate) fn count(&self, failed: bool) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
    }

    /// Who mcpr says it is where a client does not say who it is.
    pub(crate) fn client_info(&self) -> RawJson {
        self.own_info.clone()
    }

    /// The time limits for calls to a server.
    pub(crate) fn limits_of(&self, server: &ServerName) -> (Option<Duration>, Option<Duration>) {
        let server = self.pool.get(server);
        let Timeouts { call, silence, .. } = server.map_or_else(
            || self.plan().options.timeouts,
            |server| server.treatment().timeouts,
        );
        (call, silence)
    }

    /// Runs something to its end in the background; what is not done at the end of the gateway is dropped.
    pub(crate) fn adopt(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        });
    }

    /// Runs something to its end, whether or not anybody waits for it: who goes away half-way leaves
    /// nothing half done. `None` if it panics.
    pub(crate) async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.tasks.spawn(work).await.ok()
    }

    /// The status of HTTP for a server's error; only the stateless era has such.
    pub(crate) fn status_for(&self, context: &Context, error: i64) -> StatusCode {
        match (context.era(), error) {
            (Era::Stateless, code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            (Era::Stateless, code::MISSING_CAPABILITY) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }

    /// What a client is told of a notification in its own request; only log messages it asked for.
    pub(crate) fn relay_note(&self, call: &Call, lease: &Lease, note: &Notification) -> Option<Rope> {
        match &*note.method {
            notification::MESSAGE if is_wanted(note, call.context.heard_level()?) => Some(note.to_rope()),
            notification::TOOLS_CHANGED | notification::PROMPTS_CHANGED | notification::RESOURCES_CHANGED => {
                lease.backend().heard(&note.method);
                None
            }
            notification::ELICITATION_COMPLETE => {
                self.visits.note(&call.target.server, note);
                None
            }
            notification::RESOURCE_UPDATED => {
                let subscriptions = self.subscriptions.of(Feed::Resources);
                subscriptions.note(&call.target.server, note);
                None
            }
            _ => None,
        }
    }

    /// Answers a request of a server that came within a client's request. A server that asks and
    /// does not take its answers gets no more of them.
    pub(crate) fn answer_server(&self, lease: &Lease, id: Id, outcome: Answer) {
        let replica = lease.replica.clone();
        let Some(owed) = replica.owe_answer() else {
            return tracing::debug!(server = %replica.server, "an answer was left out: the server takes none");
        };
        self.farewells.spawn(async move {
            send_answer(&replica, id, outcome).await;
            drop(owed);
        });
    }

    /// With `startup.when: "first_request"` the first request starts all servers and waits for
    /// them; later ones find them started (SRV-03).
    pub(crate) async fn wake_on_first_request(&self) {
        if self.plan().options.startup.when == mcpr_config::StartWhen::FirstRequest {
            let wake = async {
                self.pool.wake_all().await;
                self.caught_up().await;
            };
            self.woken.get_or_init(|| wake).await;
        }
    }

    /// Whether what is offered says all that is known of the servers now.
    pub(crate) fn is_caught_up(&self) -> bool {
        let now = self.pool.changed();
        self.snapshot.borrow().as_of >= now
    }

    /// Waits until what is offered says all that is known of the servers now.
    pub(crate) async fn caught_up(&self) {
        let now = self.pool.changed();
        let mut snapshots = self.snapshot.clone();
        // Without anybody who makes snapshots the gateway is ending.
        let _ = snapshots.wait_for(|snapshot| snapshot.as_of >= now).await;
    }
}

/// Answers a request of a server.
pub(crate) async fn send_answer(replica: &Replica, id: Id, outcome: Answer) {
    let id = Some(id);
    let answer = Message::Response(Response { id, outcome });
    if let Err(failed) = replica.send(answer).await {
        tracing::debug!(server = %replica.server, reason = %failed, "could not answer the server");
    }
}

/// Whether a log message is grave enough. Servers that all sessions share are not told of any level.
fn is_wanted(note: &Notification, least: LogLevel) -> bool {
    let params = note.params.as_ref().and_then(|params| Object::read(params).ok());
    let level = params.and_then(|params| params.text("level")?.parse::<LogLevel>().ok());
    level.is_some_and(|level| level >= least)
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
