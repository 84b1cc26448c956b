//! Getting a request to its server.

use std::sync::Arc;
use std::time::Duration;

use mcpr_router::{Demand, Lease, RouteError, RouteErrorKind};
use mcpr_transport::{Exchange, Failed, Sent};

use super::Open;
use crate::call::Call;
use crate::fault::Fault;

/// How long a request that is proven unsent waits for a lost server to come back.
const COMEBACK: Duration = Duration::from_secs(2);

/// Leases a replica and sends the request.
pub(super) async fn begin(call: Arc<Call>) -> Result<Open, Fault> {
    let lease = match lease_for(&call).await {
        Err(error) if error.kind == RouteErrorKind::Starting => {
            // Most servers that start were lost a moment ago, and are back in another.
            if let Some(upstream) = call.gateway.pool.get(&call.target.server) {
                let _ = tokio::time::timeout(COMEBACK, upstream.settled()).await;
            }
            lease_for(&call).await?
        }
        leased => leased?,
    };
    open(call, lease).await
}

async fn lease_for(call: &Call) -> Result<Lease, RouteError> {
    let server = &call.target.server;
    call.gateway.router().lease(Demand { server }).await
}

/// Sends the request on the lease, or after a reconnect if this one turns out to be gone.
async fn open(call: Arc<Call>, lease: Lease) -> Result<Open, Fault> {
    match send(&call, &lease).await {
        Ok((exchange, id)) => Ok(Open { lease, exchange, id }),
        Err(failed) if failed.sent == Sent::No => begin_again(call, lease, failed).await,
        Err(failed) => Err(RouteError::of(call.target.server.clone(), &failed).into()),
    }
}

async fn send(call: &Call, lease: &Lease) -> Result<(Exchange, u64), Failed> {
    let outgoing = call.outgoing(lease);
    let id = outgoing.id;
    Ok((lease.replica.open(outgoing).await?, id))
}

/// The session had expired: a 404 proves that the request was not executed (SRV-07).
pub(super) async fn begin_renewed(call: Arc<Call>, lease: Lease) -> Result<Open, Fault> {
    let renewed = lease.upstream.renew(&lease.replica, lease.session).await;
    match renewed {
        Ok(()) => {
            drop(lease);
            begin(call).await
        }
        Err(failed) => begin_again(call, lease, failed).await,
    }
}

/// The connection was gone before the request went out: most losses are restarts, so the server
/// gets a moment to come back.
pub(super) async fn begin_again(call: Arc<Call>, lease: Lease, failed: Failed) -> Result<Open, Fault> {
    let (upstream, replica) = (lease.upstream.clone(), lease.replica.clone());
    drop(lease);
    let back = tokio::time::timeout(COMEBACK, upstream.recovered(&replica)).await;
    if back != Ok(true) {
        return Err(RouteError::of(call.target.server.clone(), &failed).into());
    }
    let lease = lease_for(&call).await?;
    let sent = send(&call, &lease).await;
    let (exchange, id) = sent.map_err(|failed| RouteError::of(call.target.server.clone(), &failed))?;
    Ok(Open { lease, exchange, id })
}
