//! Taking a lease.

use std::sync::Arc;
use std::time::Duration;

use foldhash::HashMap;
use mcpr_registry::{Kind, ServerName};
use mcpr_transport::{Failed, Party};
use mcpr_upstream::{Company, InFlight, Isolation, Pool, Replica, Server, Upstream};
use parking_lot::RwLock;
use tokio_util::sync::CancellationToken;

use crate::backend::{Backend, Guarded, Place};
use crate::connections::{IDLE, Patience, Pin};
use crate::{Balance, RouteError, RouteErrorKind, Tried};

/// What a call needs.
#[derive(Clone, Copy)]
pub struct Demand<'a> {
    /// The server that owns what is asked for.
    pub server: &'a ServerName,
    /// For whom the call is made.
    pub party: Party,
    /// Whose connection it takes, where the server has one for each (`isolation: "session"`).
    pub pin: Pin<'a>,
    /// What is asked for, where it has a name of its own.
    pub item: Option<(Kind, &'a str)>,
    /// The tags of backends that the client would like (LB-02).
    pub likes: &'a [Box<str>],
    /// The backend that knows what the call is about.
    pub home: Option<Home<'a>>,
    /// The backends that have failed this call.
    pub tried: &'a Tried,
}

/// The backend that knows what a call is about.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// What tells it from the others.
    pub label: &'a str,
    /// Whether no other one can know it.
    pub only: bool,
}

/// The right to use a replica for one call; dropping it gives the place to the next caller.
pub struct Lease {
    /// Where the request goes.
    pub replica: Arc<Replica>,
    /// The connection that the replica belongs to.
    pub upstream: Arc<Upstream>,
    /// The session generation at the time of the lease.
    pub session: u64,
    /// For whom it was taken.
    pub party: Party,
    seat: Option<InFlight>,
    place: Place,
}

/// A replica and the place on it.
pub(crate) struct Entered {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) replica: Arc<Replica>,
    pub(crate) seat: InFlight,
}

/// How a backend does, as far as the router knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackendSeen {
    /// How many calls have a place there.
    pub in_flight: usize,
    /// How long it gets no calls because the last ones failed.
    pub shunned_for: Option<Duration>,
}

/// Finds replicas for calls.
pub struct Router {
    pool: Arc<Pool>,
    rule: Option<Arc<dyn Balance>>,
    servers: RwLock<HashMap<ServerName, Arc<Guarded>>>,
}

impl Router {
    /// A router over a pool.
    pub fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            rule: None,
            servers: RwLock::default(),
        }
    }

    /// The same with a rule in the place of those that the configuration names.
    #[must_use]
    pub fn balanced_by(self, rule: Option<Arc<dyn Balance>>) -> Self {
        Self { rule, ..self }
    }

    /// Takes the right to make one call.
    ///
    /// Waits for a sleeping server to wake up, in line where the server is at its limit, and for a
    /// further connection where the call cannot share one that is open; the caller bounds the
    /// whole by its deadline.
    ///
    /// # Errors
    ///
    /// At once where the server is starting or down: waiting for a reconnect is the caller's
    /// decision. A server that is down is asked to try again.
    pub async fn lease(&self, demand: Demand<'_>) -> Result<Lease, RouteError> {
        loop {
            let server = self.server(demand.server)?;
            match self.lease_at(&server, &demand).await {
                // Its entry has changed while the call waited, or it was started anew: the call goes to what is there now.
                Err(error) if error.kind == RouteErrorKind::Removed && self.is_replaced(&server) => {}
                leased => return leased,
            }
        }
    }

    async fn lease_at(&self, server: &Arc<Guarded>, demand: &Demand<'_>) -> Result<Lease, RouteError> {
        loop {
            let place = server.place(demand).await?;
            if let Some(entered) = self.enter(&place.backend, demand).await? {
                return Ok(Lease {
                    session: entered.replica.session(),
                    seat: Some(entered.seat),
                    replica: entered.replica,
                    upstream: entered.upstream,
                    party: demand.party,
                    place,
                });
            }
        }
    }

    /// Whether another server has the name of this one now.
    fn is_replaced(&self, server: &Guarded) -> bool {
        let now = self.pool.get(&server.server.name);
        now.is_some_and(|now| !Arc::ptr_eq(&now, &server.server))
    }

    /// Whether a call to a server waits because all connections to it are in use.
    pub fn is_starved(&self, server: &ServerName) -> bool {
        let servers = self.servers.read();
        servers.get(server).is_some_and(|server| server.is_starved())
    }

    /// How many calls wait in line for a server.
    pub fn waiting(&self, server: &ServerName) -> usize {
        let servers = self.servers.read();
        servers.get(server).map_or(0, |server| server.line.waiting())
    }

    /// How the backends of a server do, in their order.
    pub fn backends(&self, server: &ServerName) -> Vec<BackendSeen> {
        let Ok(server) = self.server(server) else {
            return Vec::new();
        };
        let seen = |backend: &Arc<Backend>| BackendSeen {
            in_flight: backend.in_flight(),
            shunned_for: backend.is_shunned_for(),
        };
        server.backends.iter().map(seen).collect()
    }

    /// Takes a place on a connection; `None` if the backend was lost, or fell asleep, in the same
    /// moment.
    async fn enter(&self, backend: &Backend, demand: &Demand<'_>) -> Result<Option<Entered>, RouteError> {
        let (upstream, connections) = (&backend.upstream, &backend.connections);
        let company = match upstream.spec.isolation {
            Isolation::Shared => Company::Any,
            Isolation::Auto => Company::Clear,
            Isolation::Call => Company::Alone,
            Isolation::Session => {
                let open = |idle, until| self.pool.open_side(upstream, idle, until);
                return connections
                    .enter_pinned(demand.pin, demand.party, open)
                    .await
                    .map(Some);
            }
        };
        let mut patience = None;
        loop {
            let Some(main) = upstream.replica() else {
                return Ok(None);
            };
            if company != Company::Any
                && let Some(entered) = connections.known_to(demand.party, company)
            {
                return Ok(Some(entered));
            }
            if let Some(entered) = enter(upstream, &main, demand.party, company) {
                return Ok(Some(entered));
            }
            if !is_current(upstream, &main) {
                continue; // It fell asleep, or was lost, in the same moment.
            }
            let open = || self.pool.open_side(upstream, IDLE, CancellationToken::new());
            let patience = *patience.get_or_insert_with(|| Patience::begin(upstream.spec.queue.wait));
            if let Some(entered) = connections.enter(demand.party, company, patience, open).await? {
                return Ok(Some(entered));
            }
        }
    }

    /// The server with what is known of its backends, made anew when the server is.
    fn server(&self, name: &ServerName) -> Result<Arc<Guarded>, RouteError> {
        let server = self.pool.get(name);
        let server = server.ok_or_else(|| RouteError::new(name.clone(), RouteErrorKind::Removed))?;
        if let Some(known) = self.servers.read().get(name)
            && Arc::ptr_eq(&known.server, &server)
        {
            return Ok(known.clone());
        }
        let mut servers = self.servers.write();
        servers.retain(|name, _| self.pool.get(name).is_some());
        let before = servers.get(name).map(|known| &**known);
        let guarded = Arc::new(Guarded::new(server, self.rule.clone(), before));
        servers.insert(name.clone(), guarded.clone());
        Ok(guarded)
    }
}

impl Demand<'_> {
    /// Whether the call may go to a backend, by what it is about.
    pub(crate) fn may_go_to(&self, server: &Server, backend: &Upstream) -> bool {
        let Some(home) = self.home.filter(|home| home.only) else {
            return true;
        };
        let is_there = server.backends.iter().any(|known| *known.label == *home.label);
        !is_there || *backend.label == *home.label
    }
}

impl Lease {
    /// The backend, by the connection that all share.
    pub fn backend(&self) -> &Arc<Upstream> {
        &self.place.backend.upstream
    }

    /// How long the call stood in line, where the server was at its limit.
    pub fn waited(&self) -> Option<Duration> {
        self.place.waited
    }

    /// The backend has answered, whatever it said.
    pub fn confirm(&self) {
        self.replica.answered();
        self.place.confirm();
    }

    /// The way to the backend, or the backend itself, has failed the call.
    pub fn strike(&self, failed: &Failed) {
        self.place.strike(failed);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.seat.take());
        self.place.backend.connections.one_left();
    }
}

/// Takes a place on a replica that is still in use. One whose connection has ended is entered
/// too, as long as it is not replaced: the failure then says why.
pub(crate) fn enter(
    upstream: &Arc<Upstream>,
    replica: &Arc<Replica>,
    party: Party,
    company: Company,
) -> Option<Entered> {
    let seat = replica.enter(party, company)?;
    is_current(upstream, replica).then(|| Entered {
        upstream: upstream.clone(),
        replica: replica.clone(),
        seat,
    })
}

fn is_current(upstream: &Upstream, replica: &Arc<Replica>) -> bool {
    !replica.is_gone() || upstream.replica().is_some_and(|now| Arc::ptr_eq(&now, replica))
}
