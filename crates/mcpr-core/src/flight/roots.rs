//! Before a call: a server that has asked for roots is told that they are another's now, and given
//! the time to ask again. What it asks then is a question within the call.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Message, Method, Notification, notification};
use mcpr_router::Lease;
use mcpr_upstream::NOBODY;
use tokio::time::Instant;

use super::begin;
use super::course::{Course, Open, State};
use crate::call::Call;

/// How long a server may take to ask again; those that keep roots do so at once.
const PATIENCE: Duration = Duration::from_millis(250);

/// Tells a server that its client's roots have changed, if it may take another's for them. Gives
/// back the lease where there is nothing to tell.
pub(super) async fn begin_roots(call: &Call, lease: Lease) -> Result<Open, Lease> {
    if !lease.replica.roots().are_others(call.roots_owner()) {
        return Err(lease);
    }
    let Some(exchange) = lease.replica.attend(lease.party) else {
        return Err(lease);
    };
    let changed = Notification::new(notification::ROOTS_CHANGED, None);
    match lease.replica.send(Message::Notification(changed)).await {
        Ok(()) => Ok(Open {
            lease,
            exchange,
            token: 0,
            before: Some(Instant::now() + PATIENCE),
        }),
        Err(_) => Err(lease), // The call itself will find out what is wrong.
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
        let owner = self.call.roots_owner();
        let State::Open(open) = &self.state else {
            return false;
        };
        let Some(due) = open.before else { return false };
        let roots = open.lease.replica.roots();
        if self.asking.is_open() || roots.are_others(owner) && now < due {
            return false;
        }
        roots.tell(owner);
        if let State::Open(before) = std::mem::replace(&mut self.state, State::Over) {
            drop(before.exchange);
            let call: Arc<Call> = self.call.clone();
            self.state = State::Beginning(Box::pin(begin::open(call, before.lease)));
        }
        true
    }

    /// Notes whose roots a server is told.
    pub(super) fn told_roots(&self, method: &Method, answered: bool) {
        if let (Method::RootsList, State::Open(open)) = (method, &self.state) {
            let owner = if answered { self.call.roots_owner() } else { NOBODY };
            open.lease.replica.roots().tell(owner);
        }
    }
}
