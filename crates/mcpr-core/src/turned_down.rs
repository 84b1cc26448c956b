//! Requests that are turned away before anything of them is done: counted, and told of at a pace that floods nothing.

use std::time::Duration;

use mcpr_auth::{Denied, Principal};
use mcpr_transport::http::server::Refusal;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::client::Context;
use crate::fault::Fault;
use crate::gateway::Gateway;

/// How long the log keeps quiet after it has told of one.
const QUIET: Duration = Duration::from_secs(1);

/// What the log was told of requests that came too often, or were too many.
#[derive(Default)]
pub(crate) struct TurnedDown(Mutex<Told>);

#[derive(Default)]
struct Told {
    last: Option<Instant>,
    /// How many there were since.
    since: u64,
}

impl TurnedDown {
    /// Counts one; how many there were since the last of which the log was told, if it is to hear of this one.
    fn count(&self, now: Instant) -> Option<u64> {
        let mut told = self.0.lock();
        told.since += 1;
        if told.last.is_some_and(|last| now < last + QUIET) {
            return None;
        }
        told.last = Some(now);
        Some(std::mem::take(&mut told.since))
    }
}

impl Gateway {
    /// Notes a request that is turned away at the door, and gives the number by which its answer and the log call it.
    pub(crate) fn turn_down(&self, principal: &Principal, fault: &Fault) -> u64 {
        let request_id = self.number();
        let (principal, reason) = (principal.key(), fault.reason().unwrap_or("invalid"));
        self.metrics.turned_down(reason);
        let told = fault
            .is_of_limits()
            .then(|| self.turned_down.count(Instant::now()));
        match told.flatten() {
            Some(count) => tracing::warn!(
                request_id, principal, reason, count, error = %fault,
                "requests are refused; `count` of them since this was last told, the others are in the log at debug"
            ),
            None => tracing::debug!(request_id, principal, reason, error = %fault, "a request was refused"),
        }
        request_id
    }

    /// Notes a request whose token is missing or no good.
    pub(crate) fn denied(&self, denied: &Denied) {
        self.metrics.refused();
        self.keep_out(denied.reason(), denied);
    }

    /// Notes a request that comes under a foreign name, or from a foreign page.
    pub(crate) fn foreign(&self, refusal: &Refusal) {
        self.metrics.turned_down("foreign");
        self.keep_out("foreign", refusal);
    }

    /// Notes a list that is empty because there is no such project for its caller (PRJ-03).
    pub(crate) fn went_astray(&self, context: &Context) {
        let principal = context.principal.key();
        let project = context.asked.project.as_deref().or(context.principal.project());
        match self.astray.count(Instant::now()) {
            Some(count) => tracing::warn!(
                principal,
                project,
                count,
                "lists are empty: there is no such project, or the token is bound to another; `count` of them since this \
                 was last told, the others are in the log at debug"
            ),
            None => tracing::debug!(principal, project, "a list is empty: no such project"),
        }
    }

    fn keep_out(&self, reason: &'static str, why: &dyn std::fmt::Display) {
        match self.kept_out.count(Instant::now()) {
            Some(count) => tracing::warn!(
                reason, count, error = %why,
                "requests are not let in; `count` of them since this was last told, the others are in the log at debug"
            ),
            None => tracing::debug!(reason, error = %why, "a request was not let in"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_03_the_log_hears_of_one_in_a_second_and_how_many_there_were() {
        let (down, start) = (TurnedDown::default(), Instant::now());
        let told = [0, 1, 500, 999, 1000, 1001, 5000].map(|at| down.count(start + Duration::from_millis(at)));
        assert_eq!(told, [Some(1), None, None, None, Some(4), None, Some(2)]);
    }
}
