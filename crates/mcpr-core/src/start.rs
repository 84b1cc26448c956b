//! From a configuration to a running gateway.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use http::Uri;
use mcpr_auth::{Principal, TokenStore};
use mcpr_config::{
    Config, ConfigError, Fault, SecretFolders, ServerEntry, ServerState, StartMode, StartOrder, StartWhen,
};
use mcpr_protocol::RawJson;
use mcpr_router::{Balance, Router};
use mcpr_store::{Memory as MemoryStore, Store, StoreError};
use mcpr_telemetry::{CallLog, LogControl, Metrics, Secrets, Tracer};
use mcpr_upstream::{CLIENT_NAME, Dial, Phase, Pool, PoolOptions, Reach, SecretText};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::audience::Audiences;
use crate::doorkeeper::{Doorkeeper, changed};
use crate::events::tell_changes;
use crate::fold::Folder;
use crate::gateway::{Facts, Gateway};
use crate::history::History;
use crate::layers::own::{Counted, Logged, Traced, Watched};
use crate::layers::{Layer, Layers};
use crate::memory::{Recalled, recall, write_down};
use crate::native::{NativeDial, Tool, Tools};
use crate::pins::{Judge, PinBook};
use crate::plan::{Plan, Standing, Switches};
use crate::quota::Quotas;
use crate::rates::Rates;
use crate::reload::{Reload, StoredState};
use crate::sealing;
use crate::session::{SessionLimits, Sessions};
use crate::suspension::Suspensions;
use crate::toolsets::Toolsets;
use crate::turned_down::TurnedDown;

/// How many bytes of past calls are kept in memory, where there is no database.
const HISTORY_IN_MEMORY: usize = 8 << 20;

/// How often sessions are looked through, at the least and at the most; in between it follows
/// their limit.
const SWEEP: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// A gateway in the making.
pub struct Builder {
    config: Config,
    store: Option<Arc<dyn Store>>,
    dial: Option<Arc<dyn Dial>>,
    calls: CallLog,
    log: Option<LogControl>,
    tracer: Tracer,
    balance: Option<Arc<dyn Balance>>,
    tokens: Option<Arc<dyn TokenStore>>,
    layers: Vec<Arc<dyn Layer>>,
    tools: Vec<Tool>,
    secrets: Secrets,
    secret_folders: SecretFolders,
    facts: Facts,
    reload: Option<Arc<Reload>>,
}

/// The gateway could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The store cannot be read.
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
    /// `startup.mode` is `strict`, and a server is not ready.
    #[error("`startup.mode` is \"strict\" and server `{server}` is not ready: {reason}")]
    Strict {
        /// The server.
        server: String,
        /// Why it is not.
        reason: String,
    },
}

impl Builder {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            store: None,
            dial: None,
            calls: CallLog::none(),
            log: None,
            tracer: Tracer::off(),
            balance: None,
            tokens: None,
            layers: Vec::new(),
            tools: Vec::new(),
            secrets: Secrets::default(),
            secret_folders: SecretFolders::default(),
            facts: Facts::default(),
            reload: None,
        }
    }

    /// Keeps state here; by default nothing outlives the gateway.
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        Self {
            store: Some(store),
            ..self
        }
    }

    /// Reaches servers in another way than as child processes and over HTTP.
    pub fn dial(self, dial: Arc<dyn Dial>) -> Self {
        Self {
            dial: Some(dial),
            ..self
        }
    }

    /// Records every request here.
    pub fn calls(self, calls: CallLog) -> Self {
        Self { calls, ..self }
    }

    /// Records every request in this log, whose level operators and the configuration may change.
    pub fn log(self, log: LogControl) -> Self {
        Self {
            calls: log.calls(),
            log: Some(log),
            ..self
        }
    }

    /// Tells of the spans of requests here, without what must never be shown.
    /// The last spans are sent by [`Tracer::shut_down`], which is the program's to call once the gateway has ended.
    pub fn tracer(self, tracer: Tracer) -> Self {
        Self { tracer, ..self }
    }

    /// Chooses among the backends of a server by this rule instead of the configured ones (`balance`). Backends
    /// that are not ready, are at their limit or fail again and again are never among those it chooses from.
    pub fn balance(mut self, rule: impl Balance + 'static) -> Self {
        self.balance = Some(Arc::new(rule));
        self
    }

    /// Lets in whom this says, instead of the holders of mcpr's own tokens. `mcpr-ctl tokens` and the admin API
    /// then make, list and revoke none.
    pub fn tokens(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Has this code run before and after each request, behind the layers that were added before.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Offers a tool of this program, under the server `native`.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Keeps the values that must never be shown.
    pub fn secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Says where servers find the secrets that they ask for; what operators set is kept there.
    pub fn secret_folders(self, secret_folders: SecretFolders) -> Self {
        Self {
            secret_folders,
            ..self
        }
    }

    /// Tells operators of the process around the gateway.
    pub fn facts(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }

    /// Says how the configuration is read again when an operator wants that.
    pub fn reload(self, read: impl Fn() -> Result<Config, ConfigError> + Send + Sync + 'static) -> Self {
        Self {
            reload: Some(Arc::new(read)),
            ..self
        }
    }

    /// Starts the gateway. It answers at once, whatever its servers do; with `startup.mode`
    /// `strict` it waits for all of them.
    ///
    /// # Errors
    ///
    /// When the store cannot be used, or a server is not ready and the start is strict.
    pub async fn start(self) -> Result<Arc<Gateway>, StartError> {
        let strict = self.config.gateway.startup.mode == StartMode::Strict;
        let gateway = self.assemble().await?;
        if strict && let Err(error) = gateway.all_ready().await {
            gateway.shutdown().await;
            return Err(error);
        }
        Ok(gateway)
    }

    async fn assemble(mut self) -> Result<Arc<Gateway>, StartError> {
        let tools = Tools::new(std::mem::take(&mut self.tools));
        self.config.servers.splice(..0, tools.entry());
        refuse_own_url(&mut self.config.servers, &self.facts.listen);
        for secret in self.config.servers.iter().flat_map(|entry| &entry.secrets) {
            self.secrets.add(secret.reveal());
        }
        let most = self.store.is_none().then_some(HISTORY_IN_MEMORY);
        let store = self.store.unwrap_or_else(|| Arc::new(MemoryStore::new()));
        let Recalled {
            memory,
            assignments,
            notes,
        } = recall(&*store).await?;
        let doorkeeper = Doorkeeper::new(&*store, self.tokens).await?;
        let others = self.dial.unwrap_or_else(|| Arc::new(dialer(&self.config)));
        let dial = Arc::new(NativeDial {
            tools: tools.clone(),
            others,
        });
        let metrics = Metrics::new();
        let audiences = Audiences::new(metrics.clone());
        let pool = Arc::new(Pool::new(
            dial,
            memory.clone(),
            Arc::new(audiences.clone()),
            pool_options(&self.config),
        ));
        let StoredState {
            switches,
            projects,
            toolsets,
            equips,
            pins,
        } = StoredState::read(&*store).await?;
        let toolsets = Toolsets::new(&self.config.gateway.toolsets, &toolsets, equips);
        let plan = Arc::new(Plan::new(self.config, Switches::new(switches), projects));
        plan.tell_names(&self.secrets);
        pool.apply(plan.desired());
        let plans = watch::Sender::new(plan.clone());
        let pins = Arc::new(PinBook::new(pins));
        let mut folder = Folder {
            plans: plans.subscribe(),
            pool: pool.clone(),
            judge: Judge {
                book: pins.clone(),
                memory: memory.clone(),
                known: HashMap::new(),
                told: Default::default(),
            },
            memory,
            assignments,
            stored: HashMap::new(),
            filtered: HashMap::new(),
            secrets: self.secrets.clone(),
            told: Default::default(),
        };
        let (snapshots, snapshot) = watch::channel(Arc::new(folder.fold()));
        let tasks = TaskTracker::new();
        let stop = CancellationToken::new();
        let leaving = stop.child_token();
        tasks.spawn(folder.run(snapshots, stop.clone()));
        tasks.spawn(write_down(store.clone(), notes, stop.clone()));
        tasks.spawn(doorkeeper.clone().follow(store.clone(), stop.clone()));
        let history = History::start(store.clone(), plans.subscribe(), self.secrets.clone(), most);
        let (history, events) = (Arc::new(history), Arc::default());
        let own: [Arc<dyn Layer>; 5] = [
            Arc::new(Logged(self.calls)),
            Arc::new(Traced),
            Arc::new(Counted(metrics.clone())),
            history.clone(),
            Arc::new(Watched {
                events: Arc::clone(&events),
                secrets: self.secrets.clone(),
            }),
        ];
        let tracer = self.tracer.hiding(&self.secrets);
        let layers = Layers::new(own.into_iter().chain(self.layers).collect());
        let limits = &plan.options.limits;
        let sealer = sealing::sealer(&*store).await.map_err(StartError::Store)?;
        let gateway = Arc::new(Gateway {
            sessions: Sessions::new(
                SessionLimits {
                    max: limits.sessions,
                    idle: limits.session_idle,
                },
                metrics.clone(),
            ),
            quotas: Quotas::default(),
            rates: Rates::default(),
            subscriptions: audiences.subscriptions,
            visits: audiences.visits,
            suspensions: Suspensions::default(),
            turned_down: TurnedDown::default(),
            kept_out: TurnedDown::default(),
            astray: TurnedDown::default(),
            sealer,
            plans,
            planning: tokio::sync::Mutex::default(),
            reload: self.reload,
            toolsets,
            pins,
            facts: self.facts,
            started_at: SystemTime::now(),
            started_with: plan.options.clone(),
            router: Router::new(pool.clone()).balanced_by(self.balance),
            pool,
            store,
            doorkeeper,
            secrets: self.secrets,
            secret_folders: self.secret_folders,
            snapshot,
            closing: stop.child_token(),
            leaving,
            doors: TaskTracker::new(),
            stop,
            under_way: TaskTracker::new(),
            ended: CancellationToken::new(),
            tasks,
            farewells: TaskTracker::new(),
            log: self.log,
            tracer,
            layers,
            metrics,
            tools,
            events,
            history,
            woken: tokio::sync::OnceCell::new(),
            own_info: own_info(),
            requests: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        });
        crate::metrics::tell_of(&gateway);
        gateway
            .tasks
            .spawn(sweep(Arc::downgrade(&gateway), gateway.stop.clone()));
        gateway.tasks.spawn(sealing::keep_fresh(
            Arc::downgrade(&gateway),
            gateway.stop.clone(),
        ));
        gateway
            .tasks
            .spawn(follow(Arc::downgrade(&gateway), gateway.stop.clone()));
        let (snapshots, stop) = (gateway.snapshot.clone(), gateway.stop.clone());
        gateway
            .tasks
            .spawn(tell_changes(Arc::downgrade(&gateway), snapshots, stop));
        Ok(gateway)
    }
}

impl Gateway {
    /// Waits for all servers; the first that is not ready is the error.
    async fn all_ready(&self) -> Result<(), StartError> {
        let unready = |server: String, reason: String| Err(StartError::Strict { server, reason });
        let plan = self.plan();
        for entry in plan.entries() {
            let name = &entry.name;
            match plan.standing(entry) {
                Standing::Misconfigured(fault) => return unready(name.to_string(), fault.reason()),
                Standing::OffInFile | Standing::SwitchedOff => continue,
                Standing::On(_) => {}
            }
            let Some(server) = self.pool.get(name) else {
                continue;
            };
            for backend in &server.backends {
                let status = backend.settled().await;
                if !matches!(status.phase, Phase::Ready | Phase::Idle) {
                    let reason = status.reason().unwrap_or("it was stopped");
                    return unready(name.to_string(), reason.to_owned());
                }
            }
        }
        self.caught_up().await;
        Ok(())
    }
}

fn own_info() -> RawJson {
    RawJson::render(&serde_json::json!({ "name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION") }))
}

fn dialer(config: &Config) -> mcpr_upstream::Dialer {
    mcpr_upstream::Dialer {
        message_max: config.gateway.limits.server_message,
        ..mcpr_upstream::Dialer::default()
    }
}

fn pool_options(config: &Config) -> PoolOptions {
    let startup = &config.gateway.startup;
    PoolOptions {
        starts_at_once: match startup.order {
            StartOrder::Parallel => startup.parallel,
            StartOrder::Sequential => 1,
        },
        eager: startup.when == StartWhen::Launch,
        list_pages: config.gateway.limits.list_pages,
    }
}

/// A gateway among its own servers would call itself without end (B110).
pub(crate) fn refuse_own_url(servers: &mut [ServerEntry], listen: &[String]) {
    let own: Vec<Uri> = listen.iter().filter_map(|url| url.parse().ok()).collect();
    let is_own = |url: &SecretText| {
        let url = url.reveal().parse::<Uri>();
        url.is_ok_and(|url| own.iter().any(|own| same_endpoint(own, &url)))
    };
    for entry in servers {
        let ServerState::Enabled(spec) = &entry.state else {
            continue;
        };
        let Reach::Http(http) = &spec.reach else { continue };
        if is_own(&http.url) || entry.backends.endpoints.iter().any(is_own) {
            entry.state = ServerState::Misconfigured(Fault {
                what: "its URL is this gateway itself".into(),
                hint: Some("remove the entry, or name the server that is meant".into()),
                place: Some(entry.place.clone()),
            });
        }
    }
}

fn same_endpoint(own: &Uri, url: &Uri) -> bool {
    const LOOPBACK: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"];
    let host = |uri: &Uri| uri.host().unwrap_or_default().to_ascii_lowercase();
    let same_host = host(own) == host(url)
        || [own, url]
            .iter()
            .all(|uri| LOOPBACK.contains(&host(uri).as_str()));
    let path = |uri: &Uri| uri.path().trim_end_matches('/').to_owned();
    same_host && own.port_u16() == url.port_u16() && path(own) == path(url)
}

/// Takes over what other processes change in the store, until the gateway ends.
async fn follow(gateway: std::sync::Weak<Gateway>, stop: CancellationToken) {
    let Some(mut others) = gateway.upgrade().map(|gateway| gateway.doorkeeper.others()) else {
        return;
    };
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = others.changed() => if changed.is_err() { return },
        }
        let Some(gateway) = gateway.upgrade() else { return };
        if let Err(error) = gateway.recall().await {
            tracing::warn!(reason = %error, "what another process has changed could not be read");
        }
    }
}

/// Ends sessions that nobody uses, and those whose token is no longer good (SEC-02).
async fn sweep(gateway: std::sync::Weak<Gateway>, stop: CancellationToken) {
    let begin = |gateway: Arc<Gateway>| {
        let pause = gateway.plan().options.limits.session_idle.clamp(SWEEP.0, SWEEP.1);
        (gateway.doorkeeper.tokens().changes(), pause)
    };
    let Some((mut tokens, pause)) = gateway.upgrade().map(begin) else {
        return;
    };
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = changed(&mut tokens) => {}
            () = tokio::time::sleep(pause) => {}
        }
        let Some(gateway) = gateway.upgrade() else { return };
        let now = mcpr_auth::Timestamp::now();
        let keep = |principal: &Principal| gateway.doorkeeper.still_lets_in(principal, now);
        gateway.suspensions.sweep(keep);
        gateway.sessions.sweep(keep);
    }
}
