//! Getting a request to its server.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::poll_immediate;
use mcpr_protocol::{LogLevel, Message, Method, RawJson};
use mcpr_router::{Demand, Lease, Pin, RouteError, RouteErrorKind};
use mcpr_transport::{Exchange, Failed, Outgoing, Party, Sent};
use mcpr_upstream::Replica;
use serde_json::json;
use tokio::time::timeout;

use super::course::Open;
use super::roots::begin_roots;
use crate::call::Call;
use crate::fault::Fault;

/// How long a request that is proven unsent waits for a lost server to come back.
const COMEBACK: Duration = Duration::from_secs(2);

/// How often it is looked whether a call waits for what suspended ones hold.
const ROOM: Duration = Duration::from_millis(250);

/// How long the setting of the log level may hold a call up.
const LOG_LEVEL: Duration = Duration::from_secs(2);

/// Leases a replica and sends the request.
pub(super) async fn begin(call: Arc<Call>) -> Result<Open, Fault> {
    if !call.after.is_empty() {
        let visits = &call.gateway.visits;
        visits.done(&call.target.server, &call.after).await;
    }
    let lease = match lease_for(&call).await {
        Err(error) if error.kind == RouteErrorKind::Starting => {
            // Most servers that start were lost a moment ago, and are back in another.
            if let Some(upstream) = call.gateway.pool.get(&call.target.server) {
                let _ = timeout(COMEBACK, upstream.settled()).await;
            }
            lease_for(&call).await?
        }
        leased => leased?,
    };
    match begin_roots(&call, lease).await {
        Ok(open) => Ok(open),
        Err(lease) => open(call, lease).await,
    }
}

async fn lease_for(call: &Call) -> Result<Lease, RouteError> {
    let server = &call.target.server;
    let context = &call.context;
    let pin = match &context.session {
        Some(session) => Pin {
            key: &session.id,
            until: &session.ended,
        },
        None => Pin {
            key: context.principal.key(),
            until: &call.gateway.stop,
        },
    };
    let party = call.party;
    let mut lease = pin!(call.gateway.router().lease(Demand { server, party, pin }));
    loop {
        match poll_immediate(&mut lease).await {
            Some(leased) => return leased,
            // Who does not come back must not keep out who is there.
            None if call.gateway.router().is_starved(server) => call.gateway.suspensions.make_room(server),
            None => {}
        }
        if let Ok(leased) = timeout(ROOM, &mut lease).await {
            return leased;
        }
    }
}

/// Sends the request on the lease, or after a reconnect if this one turns out to be gone.
pub(super) async fn open(call: Arc<Call>, lease: Lease) -> Result<Open, Fault> {
    match send(&call, &lease).await {
        Ok((exchange, token)) => Ok(Open {
            lease,
            exchange,
            token,
            before: None,
        }),
        Err(failed) if failed.sent == Sent::No => begin_again(call, lease, failed).await,
        Err(failed) => Err(RouteError::of(call.target.server.clone(), &failed).into()),
    }
}

/// Sends the request again with what the server asked for.
pub(super) async fn begin_after(call: Arc<Call>, pause: Duration) -> Result<Open, Fault> {
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    begin(call).await
}

async fn send(call: &Call, lease: &Lease) -> Result<(Exchange, u64), Failed> {
    if let Some(level) = call.context.log_level.filter(|_| call.can_log(lease)) {
        set_log_level(lease.replica.clone(), level).await;
    }
    let id = lease.replica.next_id();
    // A task goes on telling its progress when the call has been answered: to who waits for it.
    let token = match call.as_task(lease) {
        true => lease.replica.next_id(),
        false => id,
    };
    let outgoing = call.outgoing(lease, id, token);
    Ok((lease.replica.open(outgoing).await?, token))
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
    let back = timeout(COMEBACK, upstream.recovered(&replica)).await;
    // A further connection does not come back; the next that is needed is another one.
    let main = call.gateway.pool.get(&call.target.server);
    let replaceable = main.is_some_and(|main| !Arc::ptr_eq(&main, &upstream));
    if back != Ok(true) && !replaceable {
        return Err(RouteError::of(call.target.server.clone(), &failed).into());
    }
    let lease = lease_for(&call).await?;
    let sent = send(&call, &lease).await;
    let (exchange, token) = sent.map_err(|failed| RouteError::of(call.target.server.clone(), &failed))?;
    Ok(Open {
        lease,
        exchange,
        token,
        before: None,
    })
}

/// Has a server of the session era say log messages of a level, unless it says them already. All
/// clients share what is set, so it only ever becomes more; each is told what it wants to hear.
pub(super) async fn set_log_level(replica: Arc<Replica>, level: LogLevel) {
    if !replica.wants_log_level(level as u8 + 1) {
        return;
    }
    let request = Outgoing {
        id: replica.next_id(),
        method: Method::SetLevel,
        params: RawJson::render(&json!({ "level": level.as_str() })).into(),
        name: None,
        headers: Vec::new(),
        party: Party::GATEWAY,
    };
    let asked = async {
        let mut exchange = replica.open(request).await?;
        while !matches!(exchange.next().await?, Message::Response(_)) {}
        Ok::<_, Failed>(())
    };
    if !matches!(timeout(LOG_LEVEL, asked).await, Ok(Ok(()))) {
        tracing::debug!(server = %replica.server, "the level of log messages could not be set");
    }
}
