//! Taking a lease.

use std::collections::HashMap;
use std::sync::Arc;

use mcpr_registry::ServerName;
use mcpr_transport::Party;
use mcpr_upstream::{Company, InFlight, Isolation, Phase, Pool, Replica, Status, Upstream};
use parking_lot::RwLock;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::connections::{Connections, IDLE, Patience, Pin};
use crate::gate::{Gate, Shut};
use crate::{RouteError, RouteErrorKind};

/// What a call needs.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The server that owns what is asked for.
    pub server: &'a ServerName,
    /// For whom the call is made.
    pub party: Party,
    /// Whose connection it takes, where the server has one for each (`isolation: "session"`).
    pub pin: Pin<'a>,
}

/// The right to use a replica for one call; dropping it gives the place to the next caller.
pub struct Lease {
    /// Where the request goes.
    pub replica: Arc<Replica>,
    /// The server that the replica belongs to.
    pub upstream: Arc<Upstream>,
    /// The session generation at the time of the lease.
    pub session: u64,
    /// For whom it was taken.
    pub party: Party,
    seat: Option<InFlight>,
    server: Arc<Guarded>,
    _place: OwnedSemaphorePermit,
}

/// A replica and the place on it.
pub(crate) struct Entered {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) replica: Arc<Replica>,
    pub(crate) seat: InFlight,
}

/// A server, its gate, and its further connections.
struct Guarded {
    upstream: Arc<Upstream>,
    gate: Gate,
    connections: Connections,
}

/// Finds replicas for calls.
pub struct Router {
    pool: Arc<Pool>,
    servers: RwLock<HashMap<ServerName, Arc<Guarded>>>,
}

impl Router {
    /// A router over a pool.
    pub fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            servers: RwLock::default(),
        }
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
        let server = self.server(demand.server)?;
        let place = server.gate.enter().await;
        let place = place.map_err(|shut| busy(demand.server, shut))?;
        let Entered {
            upstream,
            replica,
            seat,
        } = self.enter(&server, demand).await?;
        Ok(Lease {
            session: replica.session(),
            seat: Some(seat),
            replica,
            upstream,
            party: demand.party,
            server,
            _place: place,
        })
    }

    /// Whether a call to a server waits because all connections to it are in use.
    pub fn is_starved(&self, server: &ServerName) -> bool {
        let servers = self.servers.read();
        servers
            .get(server)
            .is_some_and(|server| server.connections.starve() || server.gate.is_full())
    }

    async fn enter(&self, server: &Guarded, demand: Demand<'_>) -> Result<Entered, RouteError> {
        let company = match server.upstream.spec.isolation {
            Isolation::Shared => Company::Any,
            Isolation::Auto => Company::Clear,
            Isolation::Call => Company::Alone,
            Isolation::Session => return self.enter_pinned(server, demand).await,
        };
        let patience = Patience::begin(server.upstream.spec.queue.wait);
        loop {
            let main = Self::main(&server.upstream).await?;
            if company != Company::Any
                && let Some(entered) = server.connections.known_to(demand.party, company)
            {
                return Ok(entered);
            }
            if let Some(entered) = enter(&server.upstream, &main, demand.party, company) {
                return Ok(entered);
            }
            if !is_current(&server.upstream, &main) {
                continue; // It fell asleep, or was lost, in the same moment.
            }
            let open = || {
                self.pool
                    .open_side(&server.upstream, IDLE, CancellationToken::new())
            };
            if let Some(entered) = server
                .connections
                .enter(demand.party, company, patience, open)
                .await?
            {
                return Ok(entered);
            }
        }
    }

    /// The connection that belongs to one session, or to one principal.
    async fn enter_pinned(&self, server: &Guarded, demand: Demand<'_>) -> Result<Entered, RouteError> {
        Self::main(&server.upstream).await?;
        let open = |idle, until| self.pool.open_side(&server.upstream, idle, until);
        server
            .connections
            .enter_pinned(demand.pin, demand.party, open)
            .await
    }

    /// The connection that all share, waking a server that sleeps.
    async fn main(upstream: &Upstream) -> Result<Arc<Replica>, RouteError> {
        match upstream.replica() {
            Some(replica) => Ok(replica),
            None => Self::wake(upstream).await,
        }
    }

    /// A server without a replica: one that sleeps is woken, a lazy one that somebody else has
    /// just woken is waited for, any other is an error.
    async fn wake(upstream: &Upstream) -> Result<Arc<Replica>, RouteError> {
        let status = upstream.status();
        let wakes = match status.phase {
            Phase::Idle => true,
            Phase::Starting => upstream.spec.lazy,
            _ => false,
        };
        let status = if wakes { upstream.wake().await } else { status };
        match &status.replica {
            Some(replica) => Ok(replica.clone()),
            None => {
                upstream.nudge();
                Err(unavailable(upstream, &status))
            }
        }
    }

    /// The server with its gate, made anew when the server is.
    fn server(&self, name: &ServerName) -> Result<Arc<Guarded>, RouteError> {
        let upstream = self.pool.get(name);
        let upstream = upstream.ok_or_else(|| RouteError::new(name.clone(), RouteErrorKind::Removed))?;
        if let Some(known) = self.servers.read().get(name)
            && Arc::ptr_eq(&known.upstream, &upstream)
        {
            return Ok(known.clone());
        }
        let guarded = Arc::new(Guarded {
            gate: Gate::new(upstream.spec.max_concurrency, upstream.spec.queue),
            connections: Connections::new(name.clone()),
            upstream,
        });
        self.servers.write().insert(name.clone(), guarded.clone());
        Ok(guarded)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.seat.take());
        self.server.connections.one_left();
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

/// Why a server without a replica cannot be used.
pub fn unavailable(upstream: &Upstream, status: &Status) -> RouteError {
    let kind = match status.phase {
        Phase::Idle | Phase::Starting => RouteErrorKind::Starting,
        Phase::AuthRequired { .. } => RouteErrorKind::AuthRequired,
        Phase::Ready | Phase::Down { .. } => RouteErrorKind::Down,
        Phase::Stopped => RouteErrorKind::Removed,
    };
    let retry_after = status
        .retry_in()
        .or_else(|| matches!(kind, RouteErrorKind::Starting).then_some(upstream.spec.restart.min));
    let error = RouteError {
        retry_after,
        ..RouteError::new(upstream.name.clone(), kind)
    };
    match status.reason() {
        Some(reason) => error.because(reason),
        None => error,
    }
}

fn busy(server: &ServerName, shut: Shut) -> RouteError {
    let reason = match shut {
        Shut::Full => "as many calls wait for it as may wait (`mcpr.queue.max`)".to_owned(),
        Shut::Waited(wait) => {
            format!("no place became free within {wait:?} (`mcpr.queue.wait`, `mcpr.maxConcurrency`)")
        }
    };
    RouteError::new(server.clone(), RouteErrorKind::Busy).because(reason)
}
