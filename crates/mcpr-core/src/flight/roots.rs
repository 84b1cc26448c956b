//! Before a call: a server that has asked for roots is told that they are another's now, and given
//! the time to ask again. What it asks then is a question within the call.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Id, Message, Method, Notification, Response, Rope, notification};
use mcpr_router::Lease;
use mcpr_transport::{Failed, Outgoing, Party};
use mcpr_upstream::{Replica, Told};
use tokio::time::{Instant, timeout};

use super::begin;
use super::course::{Course, Open, State};
use crate::call::Call;
use crate::question::Answer;

/// How long a server may take to ask again; those that keep roots do so at once.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long it may take to take in what it was told.
const TAKE_IN: Duration = Duration::from_secs(2);

/// Tells a server that its client's roots have changed, if it may take another's for them. Gives
/// back the lease where there is nothing to tell.
pub(super) async fn begin_roots(call: &Call, lease: Lease) -> Result<Open, Lease> {
    if !lease.replica.roots().are_others(call.roots()) {
        return Err(lease);
    }
    let Some(exchange) = lease.replica.attend(lease.party) else {
        return Err(lease);
    };
    let changed = Notification::new(notification::ROOTS_CHANGED, None);
    match lease.replica.send(Message::Notification(changed)).await {
        Ok(()) => Ok(Open {
            before: Some(Instant::now() + PATIENCE),
            ..Open::new(lease, exchange, 0)
        }),
        Err(_) => Err(lease), // The call itself will find out what is wrong.
    }
}

/// Sends answers, and waits until the server has come to what follows them.
async fn take_in(replica: &Replica, answers: Vec<(Id, Answer)>) {
    let told = async {
        for (id, outcome) in answers {
            let id = Some(id);
            replica.send(Message::Response(Response { id, outcome })).await?;
        }
        let ping = Outgoing {
            id: replica.next_id(),
            method: Method::Ping,
            params: Rope::new(),
            name: None,
            headers: Vec::new(),
            party: Party::GATEWAY,
        };
        let mut exchange = replica.open(ping).await?;
        while !matches!(exchange.next().await?, Message::Response(_)) {}
        Ok::<_, Failed>(())
    };
    if !matches!(timeout(TAKE_IN, told).await, Ok(Ok(()))) {
        tracing::debug!(server = %replica.server, "it is not known whether the server has taken in whose roots it was told");
    }
}

impl Course {
    /// When a server has had its time to ask for roots before the call.
    pub(super) fn roots_due(&self) -> Option<Instant> {
        match &self.state {
            State::Open(open) if !self.asking.is_open() => open.before,
            _ => None,
        }
    }

    /// Sends the call once the server knows whose roots are whose, or has had its time to ask.
    pub(super) fn begin_after_roots(&mut self, now: Instant) -> bool {
        let own = self.call.roots();
        let State::Open(open) = &self.state else {
            return false;
        };
        let Some(due) = open.before else { return false };
        let roots = open.lease.replica.roots();
        if self.asking.is_open() || roots.are_others(own) && now < due {
            return false;
        }
        roots.tell(own);
        if let State::Open(before) = std::mem::replace(&mut self.state, State::Over) {
            drop(before.exchange);
            let call: Arc<Call> = self.call.clone();
            self.state = State::Beginning(Box::pin(begin::open(call, before.lease, before.attempts)));
        }
        true
    }

    /// Takes answers to what a server asked before the call: it has to have taken them in before
    /// the call comes. Gives them back where the call is under way.
    pub(super) fn answer_before(&mut self, answers: Vec<(Id, Answer)>) -> Option<Vec<(Id, Answer)>> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Open(open) if open.before.is_some() => {
                let call = self.call.clone();
                self.state = State::Beginning(Box::pin(async move {
                    drop(open.exchange);
                    take_in(&open.lease.replica, answers).await;
                    begin::open(call, open.lease, open.attempts).await
                }));
                None
            }
            state => {
                self.state = state;
                Some(answers)
            }
        }
    }

    /// Notes whose roots a server is told.
    pub(super) fn told_roots(&self, method: &Method, answered: bool) {
        if let (Method::RootsList, State::Open(open)) = (method, &self.state) {
            let told = if answered {
                self.call.roots()
            } else {
                Told::default()
            };
            open.lease.replica.roots().tell(told);
        }
    }
}
