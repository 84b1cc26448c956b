//! Taking a lease.

use std::collections::HashMap;
use std::sync::Arc;

use mcpr_registry::ServerName;
use mcpr_upstream::{InFlight, Phase, Pool, Replica, Status, Upstream};
use parking_lot::RwLock;
use tokio::sync::OwnedSemaphorePermit;

use crate::gate::{Gate, Shut};
use crate::{RouteError, RouteErrorKind};

/// What a call needs.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The server that owns what is asked for.
    pub server: &'a ServerName,
}

/// The right to use a replica for one call; dropping it gives the place to the next caller.
pub struct Lease {
    /// Where the request goes.
    pub replica: Arc<Replica>,
    /// The server that the replica belongs to.
    pub upstream: Arc<Upstream>,
    /// The session generation at the time of the lease.
    pub session: u64,
    _in_flight: InFlight,
    _place: OwnedSemaphorePermit,
}

/// A server and its gate.
type Guarded = (Arc<Upstream>, Arc<Gate>);

/// Finds replicas for calls.
pub struct Router {
    pool: Arc<Pool>,
    gates: RwLock<HashMap<ServerName, Guarded>>,
}

impl Router {
    /// A router over a pool.
    pub fn new(pool: Arc<Pool>) -> Self {
        Self {
            pool,
            gates: RwLock::default(),
        }
    }

    /// Takes the right to make one call.
    ///
    /// Waits for a sleeping server to wake up, and in line where the server is at its limit; the
    /// caller bounds the whole by its deadline.
    ///
    /// # Errors
    ///
    /// At once where the server is starting or down: waiting for a reconnect is the caller's
    /// decision. A server that is down is asked to try again.
    pub async fn lease(&self, demand: Demand<'_>) -> Result<Lease, RouteError> {
        let (upstream, gate) = self.server(demand.server)?;
        let place = gate.enter().await.map_err(|shut| busy(demand.server, shut))?;
        let (replica, in_flight) = Self::enter(&upstream).await?;
        let session = replica.session();
        Ok(Lease {
            _in_flight: in_flight,
            replica,
            upstream,
            session,
            _place: place,
        })
    }

    /// Enters a replica of the server; one that fell asleep in the same moment is woken again.
    async fn enter(upstream: &Upstream) -> Result<(Arc<Replica>, InFlight), RouteError> {
        loop {
            let replica = match upstream.replica() {
                Some(replica) => replica,
                None => Self::wake(upstream).await?,
            };
            let in_flight = replica.enter();
            if !replica.is_gone() || upstream.replica().is_some_and(|now| Arc::ptr_eq(&now, &replica)) {
                return Ok((replica, in_flight));
            }
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

    /// The server and its gate, which is made anew when the server is.
    fn server(&self, name: &ServerName) -> Result<Guarded, RouteError> {
        let upstream = self.pool.get(name);
        let upstream = upstream.ok_or_else(|| RouteError::new(name.clone(), RouteErrorKind::Removed))?;
        if let Some((known, gate)) = self.gates.read().get(name)
            && Arc::ptr_eq(known, &upstream)
        {
            return Ok((upstream, gate.clone()));
        }
        let gate = Arc::new(Gate::new(upstream.spec.max_concurrency, upstream.spec.queue));
        self.gates
            .write()
            .insert(name.clone(), (upstream.clone(), gate.clone()));
        Ok((upstream, gate))
    }
}

fn unavailable(upstream: &Upstream, status: &Status) -> RouteError {
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
