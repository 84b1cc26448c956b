//! All servers.

use std::collections::BTreeMap;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mcpr_registry::ServerName;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::keeper::{Keeper, Need, Role, Surroundings};
use crate::status::{Phase, Status, Upstream};
use crate::turn::Turn;
use crate::wishes::Asked;
use crate::{Audience, BackendSpec, Dial, Feed, Memory, PerFeed, Server, ServerSpec, UpstreamSpec, Wishes};

/// How servers are started.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// How many may be starting at once; 1 is one after the other, in their order.
    pub starts_at_once: usize,
    /// Whether they are started before anybody wants them.
    pub eager: bool,
    /// How many pages of one list are read.
    pub list_pages: usize,
}

/// Keeps a set of servers.
pub struct Pool {
    around: Arc<Surroundings>,
    options: PoolOptions,
    servers: RwLock<BTreeMap<ServerName, Arc<Server>>>,
    /// What is wanted of each server; it outlives a change of its specification.
    wishes: Mutex<BTreeMap<ServerName, PerFeed<Arc<Wishes>>>>,
    keepers: TaskTracker,
    stop: CancellationToken,
}

impl Pool {
    /// A pool without servers. What they tell of their resources goes to `audience`.
    pub fn new(
        dial: Arc<dyn Dial>,
        memory: Arc<dyn Memory>,
        audience: Arc<dyn Audience>,
        options: PoolOptions,
    ) -> Self {
        let starts = Arc::new(Semaphore::new(options.starts_at_once.max(1)));
        let around = Surroundings {
            dial,
            memory,
            audience,
            starts,
            list_pages: options.list_pages,
            instance: instance(),
            changes: watch::Sender::new(0),
        };
        Self {
            around: Arc::new(around),
            options,
            servers: RwLock::default(),
            wishes: Mutex::default(),
            keepers: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Keeps exactly these servers from now on, and starts them in their order.
    ///
    /// What is there with the same specification stays untouched, each backend for itself.
    pub fn apply(&self, desired: Vec<(ServerName, ServerSpec)>) {
        let mut servers = self.servers.write();
        let mut before = std::mem::take(&mut *servers);
        for (name, spec) in desired {
            let server = match before.remove(&name) {
                Some(known) if known.spec == spec => known,
                known => self.server(&name, spec, known.as_deref()),
            };
            servers.insert(name, server);
        }
        before.into_values().for_each(|gone| gone.end_all_but(&[]));
        self.wishes.lock().retain(|name, wishes| {
            servers.contains_key(name) || !Feed::ALL.iter().all(|feed| wishes.of(*feed).is_empty())
        });
        self.touch();
    }

    /// Ends a server and keeps it anew, as it is specified; false if there is none of that name.
    pub fn restart(&self, name: &ServerName) -> bool {
        let mut servers = self.servers.write();
        let Some(server) = servers.get_mut(name) else {
            return false;
        };
        let fresh = self.server(name, server.spec.clone(), None);
        std::mem::replace(server, fresh).end_all_but(&[]);
        self.touch();
        true
    }

    /// Counts a change that is not of a server: whoever follows the count looks again.
    pub fn touch(&self) {
        self.around.changes.send_modify(|count| *count += 1);
    }

    /// What tells this pool's gateway from every other; it says so itself where it is a server.
    pub fn instance(&self) -> &str {
        &self.around.instance
    }

    /// A server by its name.
    pub fn get(&self, name: &ServerName) -> Option<Arc<Server>> {
        self.servers.read().get(name).cloned()
    }

    /// All servers, by name.
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.servers.read().values().cloned().collect()
    }

    /// How often the status of any server has changed.
    pub fn changed(&self) -> u64 {
        *self.around.changes.borrow()
    }

    /// A count that grows whenever the status of any server changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.around.changes.subscribe()
    }

    /// Starts every server that was not wanted before, and waits until each is ready or known not to be.
    pub async fn wake_all(&self) {
        let servers = self.all();
        let backends = servers.iter().flat_map(|server| &server.backends);
        let waits = backends
            .filter(|backend| first_need(&backend.spec, backend.offers().is_some()).is_some())
            .map(|backend| backend.wake());
        futures_util::future::join_all(waits).await;
    }

    /// Stops all servers and waits until nothing of them is left, `grace` at the most.
    pub async fn shutdown(&self, grace: Duration) {
        self.stop.cancel();
        self.keepers.close();
        if tokio::time::timeout(grace, self.keepers.wait()).await.is_err() {
            tracing::warn!("some servers did not stop within {grace:?}");
        }
    }

    /// Opens a further connection to a backend, which ends with the backend, at a loss, or when it
    /// was unused for `idle`, or with `until`. It lists nothing; the status of the backend is not touched by it.
    pub fn open_side(&self, main: &Upstream, idle: Duration, until: CancellationToken) -> Arc<Upstream> {
        let (status, seen) = watch::channel(Status::new(Phase::Starting, None));
        let wishes = PerFeed::<Arc<Asked>>::default();
        let (commands, obeyed) = mpsc::channel(64);
        let stop = main.stop.child_token();
        let keeper = Keeper {
            name: main.name.clone(),
            backend: None,
            spec: main.spec.clone(),
            role: Role::Side { idle },
            asks_roots: main.asks_roots.clone(),
            main: Some(main.commands.clone()),
            wishes: wishes.clone(),
            around: self.around.clone(),
            status,
            commands: obeyed,
            stop: stop.clone(),
            turn: None,
            signs: Mutex::default(),
            unprobed: false,
        };
        self.keepers
            .spawn(run_until(until, stop.clone(), keeper.run(Some(Need::Use))));
        Arc::new(Upstream {
            name: main.name.clone(),
            label: main.label.clone(),
            spec: main.spec.clone(),
            wishes,
            status: seen,
            commands,
            asks_roots: main.asks_roots.clone(),
            stop,
        })
    }

    /// A server as specified. The backends that it had before with the same specification stay, the
    /// others end.
    fn server(&self, name: &ServerName, spec: ServerSpec, before: Option<&Server>) -> Arc<Server> {
        let wishes = self.wishes.lock().entry(name.clone()).or_default().clone();
        let several = spec.backends.len() > 1;
        let keep = |backend: &BackendSpec| {
            let known = before.and_then(|before| before.backend(backend));
            known.unwrap_or_else(|| self.keep(name, backend, several, &wishes))
        };
        let backends: Vec<_> = spec.backends.iter().map(keep).collect();
        if let Some(before) = before {
            before.end_all_but(&backends);
        }
        Arc::new(Server::new(name.clone(), spec, wishes, backends))
    }

    fn keep(
        &self,
        name: &ServerName,
        backend: &BackendSpec,
        several: bool,
        wishes: &PerFeed<Arc<Wishes>>,
    ) -> Arc<Upstream> {
        let spec = &backend.spec;
        let offers = self.around.memory.offers(name);
        let needed = first_need(spec, offers.is_some()).filter(|_| self.options.eager);
        let phase = if needed.is_some() {
            Phase::Starting
        } else {
            Phase::Idle
        };
        let (status, seen) = watch::channel(Status::new(phase, offers));
        let wishes = PerFeed::new(|feed| wishes.of(feed).ask());
        let (commands, obeyed) = mpsc::channel(64);
        let stop = self.stop.child_token();
        let asks_roots = Arc::<AtomicBool>::default();
        let keeper = Keeper {
            name: name.clone(),
            backend: several.then(|| backend.label.clone()),
            spec: spec.clone(),
            role: Role::Main,
            asks_roots: asks_roots.clone(),
            main: None,
            wishes: wishes.clone(),
            around: self.around.clone(),
            status,
            commands: obeyed,
            stop: stop.clone(),
            turn: needed.map(|_| Turn::queue(&self.around.starts)),
            signs: Mutex::default(),
            unprobed: false,
        };
        self.keepers.spawn(keeper.run(needed));
        Arc::new(Upstream {
            name: name.clone(),
            label: backend.label.clone(),
            spec: spec.clone(),
            wishes,
            status: seen,
            commands,
            asks_roots,
            stop,
        })
    }
}

/// Runs a keeper, and stops it when `until` ends.
async fn run_until(until: CancellationToken, stop: CancellationToken, keeper: impl Future<Output = ()>) {
    let mut keeper = pin!(keeper);
    tokio::select! {
        () = &mut keeper => return,
        () = until.cancelled() => stop.cancel(),
    }
    keeper.await;
}

/// A name that no other gateway has.
fn instance() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// What a backend is started for before anybody uses it.
fn first_need(spec: &UpstreamSpec, listed: bool) -> Option<Need> {
    match (spec.lazy, listed) {
        (false, _) => Some(Need::Use),
        (true, false) => Some(Need::Listing),
        (true, true) => None,
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
