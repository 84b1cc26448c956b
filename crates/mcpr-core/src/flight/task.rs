//! Calls that a server takes only as tasks of 2025-11-25: mcpr makes the task and waits for it, and
//! the client sees a call like any other.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Message, Method, RawJson, Rope};
use mcpr_router::{Lease, RouteError};
use mcpr_transport::{Failed, Outgoing, Party};
use mcpr_upstream::Replica;

use super::course::Open;
use crate::fault::Fault;

/// How long the news that nobody wants a task any more may take.
const CANCEL: Duration = Duration::from_secs(5);

/// Asks for the result of a task. The answer comes when the task has ended, and is the result of
/// the call; what the server asks meanwhile comes on the same exchange.
pub(super) async fn begin_wait(lease: Lease, task: RawJson) -> Result<Open, Fault> {
    let request = about(&lease.replica, Method::TasksResult, &task, lease.party);
    let id = request.id;
    match lease.replica.open(request).await {
        Ok(exchange) => Ok(Open { lease, exchange, id }),
        Err(failed) => Err(RouteError::of(lease.upstream.name.clone(), &failed).into()),
    }
}

/// Tells the server that nobody wants a task any more.
pub(super) async fn cancel_task(replica: Arc<Replica>, task: RawJson) {
    let request = about(&replica, Method::TasksCancel, &task, Party::GATEWAY);
    let told = async {
        let mut exchange = replica.open(request).await?;
        while !matches!(exchange.next().await?, Message::Response(_)) {}
        Ok::<_, Failed>(())
    };
    if !matches!(tokio::time::timeout(CANCEL, told).await, Ok(Ok(()))) {
        tracing::debug!(server = %replica.server, "a task could not be cancelled");
    }
}

fn about(replica: &Replica, method: Method, task: &RawJson, party: Party) -> Outgoing {
    let mut params = Rope::from(bytes::Bytes::from_static(b"{\"taskId\":"));
    params.append(task.clone().into());
    params.push_static("}");
    Outgoing {
        id: replica.next_id(),
        method,
        params,
        name: None,
        headers: Vec::new(),
        party,
    }
}
