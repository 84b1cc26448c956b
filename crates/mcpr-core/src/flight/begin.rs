//! Getting a request to its server.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::poll_immediate;
use mcpr_protocol::{LogLevel, Message, Method, RawJson};
use mcpr_registry::{Compared, Origin, PinPolicy};
use mcpr_router::{Demand, Home, Lease, Pin, RouteError, RouteErrorKind, Tried};
use mcpr_transport::{Exchange, Failed, Outgoing, Party};
use mcpr_upstream::Replica;
use serde_json::json;
use tokio::time::timeout;

use super::attempts::Attempts;
use super::course::Open;
use super::roots::begin_roots;
use crate::call::{Call, Target};
use crate::fault::Fault;

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
    reach(call, Attempts::default()).await
}

/// The same for a request that has been through something: from backend to backend until one takes
/// it.
pub(super) async fn reach(call: Arc<Call>, mut attempts: Attempts) -> Result<Open, Fault> {
    loop {
        let (lease, waited) = match lease_for(&call, attempts.tried()).await {
            Ok(leased) => leased,
            Err(error) => {
                attempts.after_refusal(&call, error).await?;
                continue;
            }
        };
        if let Some(wait) = lease.waited() {
            call.gateway.metrics.waited(call.target.server.as_str(), wait);
        }
        if waited || attempts.are_some() || has_been_held_up(&call) {
            still_offered(&call).await?;
        }
        if let Some(held) = held_meanwhile(&call).await {
            return Err(held);
        }
        let lease = match begin_roots(&call, lease).await {
            Ok(before) => return Ok(before.after(attempts)),
            Err(lease) => lease,
        };
        match send(&call, &lease).await {
            Ok((exchange, token)) => return Ok(Open::new(lease, exchange, token).after(attempts)),
            Err(failed) => attempts.after_failure(&call, lease, &failed, call.may_be_repeated())?,
        }
    }
}

/// Whether it may have waited before it came here: for a layer, for a visit, or for whoever its server has asked when it
/// was sent before.
fn has_been_held_up(call: &Call) -> bool {
    !call.gateway.layers.only_watch() || !call.after.is_empty() || call.sent.load(Ordering::Relaxed)
}

/// Whether what is asked for is still what its caller may have: while it waited, tools may have been denied, servers
/// switched off or projects changed (AGG-07).
async fn still_offered(call: &Call) -> Result<(), Fault> {
    let gateway = &call.gateway;
    gateway.caught_up().await;
    let sight = gateway.sight(&call.context);
    if Arc::ptr_eq(&sight, &call.sight) {
        return Ok(());
    }
    let now = Target::resolve(gateway, &sight, &call.context, &call.method, call.params.as_ref())?;
    let target = &call.target;
    match now.server == target.server && now.origin == target.origin {
        true => Ok(()),
        // Its name is that of something else now.
        false => Err(RouteError::new(target.server.clone(), RouteErrorKind::Removed).into()),
    }
}

/// Whether what the server has listed meanwhile, such as when it was started for this very call, holds the
/// tool back.
async fn held_meanwhile(call: &Call) -> Option<Fault> {
    let tool = call.target.tool.as_deref()?;
    let server = &call.target.server;
    let plan = call.gateway.plan();
    let entry = plan.servers.get(server)?;
    if entry.pins != PinPolicy::Block {
        return None;
    }
    let mut snapshot = call.gateway.snapshot();
    let listed = call.gateway.pool.get(server)?.status().offers;
    let is_of = |judged: &Arc<Compared>| {
        listed
            .as_ref()
            .is_some_and(|listed| Arc::ptr_eq(listed, &judged.offers))
    };
    if !snapshot.judged(server).is_some_and(is_of) {
        call.gateway.caught_up().await;
        snapshot = call.gateway.snapshot();
    }
    snapshot.judged(server)?.held(tool)?;
    Some(Fault::HeldBack(Origin {
        server: server.clone(),
        name: tool.into(),
    }))
}

/// Sends the request, which has waited meanwhile, on the lease, or on another if this one turns out to be gone.
pub(super) async fn open(call: Arc<Call>, lease: Lease, mut attempts: Attempts) -> Result<Open, Fault> {
    still_offered(&call).await?;
    match send(&call, &lease).await {
        Ok((exchange, token)) => Ok(Open::new(lease, exchange, token).after(attempts)),
        Err(failed) => {
            attempts.after_failure(&call, lease, &failed, call.may_be_repeated())?;
            reach(call, attempts).await
        }
    }
}

/// A lease, and whether it was waited for.
async fn lease_for(call: &Call, tried: &Tried) -> Result<(Lease, bool), RouteError> {
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
    let home = call.home();
    let demand = Demand {
        server,
        party: call.party,
        pin,
        item: call.item(),
        likes: &call.likes,
        home: home.as_ref().map(|(label, only)| Home { label, only: *only }),
        tried,
    };
    let mut lease = pin!(call.gateway.router().lease(demand));
    let mut waited = false;
    loop {
        match poll_immediate(&mut lease).await {
            Some(leased) => return Ok((leased?, waited)),
            // Who does not come back must not keep out who is there.
            None if call.gateway.router().is_starved(server) => call.gateway.suspensions.make_room(server),
            None => {}
        }
        waited = true;
        if let Ok(leased) = timeout(ROOM, &mut lease).await {
            return Ok((leased?, waited));
        }
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
    call.note_sent();
    Ok((lease.replica.open(outgoing).await?, token))
}

/// The session had expired: a 404 proves that the request was not executed (SRV-07).
pub(super) async fn begin_renewed(
    call: Arc<Call>,
    lease: Lease,
    mut attempts: Attempts,
) -> Result<Open, Fault> {
    if let Err(failed) = lease.upstream.renew(&lease.replica, lease.session).await {
        attempts.after_failure(&call, lease, &failed, call.may_be_repeated())?;
    }
    reach(call, attempts).await
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
