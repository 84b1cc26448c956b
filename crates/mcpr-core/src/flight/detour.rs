//! What is done in place of an answer: a server that wants something else first, and a way to it
//! that broke.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Ability, Era, Response, code};
use mcpr_router::RouteError;
use mcpr_telemetry::Status;
use mcpr_transport::{Failed, FailedKind, Sent};
use tokio::time::timeout;

use super::Step;
use super::attempts::{is_loss, is_turned_away};
use super::begin::{begin, begin_renewed, reach};
use super::course::{Course, Open, State};
use super::renewals::Renewals;
use super::task::lost;
use crate::call::{Call, takes_inputs};
use crate::record::status_of;
use crate::visits::Wanted;

/// How long a tool's schema may take to be read again.
const REFRESH: Duration = Duration::from_secs(5);

impl Course {
    /// A stateless server that finds a header wrong knows another schema of the tool than mcpr
    /// does: that is read again, and the call sent once more.
    pub(super) fn has_old_schema(&mut self, open: &Open, response: &Response) -> bool {
        let stateless = open.lease.replica.version.era() == Era::Stateless;
        let wrong = || status_of(response) == Status::Error(code::HEADER_MISMATCH);
        if !(stateless && response.outcome.is_err() && wrong())
            || std::mem::replace(&mut self.refreshed, true)
        {
            return false;
        }
        let (gateway, upstream) = (self.call.gateway.clone(), open.lease.upstream.clone());
        self.state = State::Refreshing(Box::pin(async move {
            let _ = timeout(REFRESH, upstream.relist_tools()).await;
            gateway.caught_up().await;
        }));
        true
    }

    pub(super) fn begin_anew(&mut self) -> Option<Step> {
        self.state = State::Over;
        let renewed = Arc::get_mut(&mut self.call).map_or(Ok(()), Call::resolve_again);
        if let Err(fault) = renewed {
            return Some(self.fail(&fault));
        }
        self.state = State::Beginning(Box::pin(begin(self.call.clone())));
        None
    }

    /// An error that wants URLs to be visited: a question for a stateless client, and for one of the
    /// session era what it understands itself.
    pub(super) fn needs_visits(&mut self, response: &Response) -> Option<Step> {
        let context = &self.call.context;
        if !context.abilities.has(Ability::Url) || !takes_inputs(&self.call.method) {
            return None;
        }
        let wanted = Wanted::read(response.outcome.as_ref().err()?)?;
        if let Some(session) = &context.session {
            for visit in &wanted {
                self.call
                    .gateway
                    .visits
                    .asked(&self.call.target.server, &visit.id, session);
            }
            return None;
        }
        let result = self.call.gateway.ask_for_visits(&self.call, &wanted);
        Some(self.conclude(result, Status::Ok))
    }

    /// A failure of the way to the server: tried again where that is harmless (LB-03, LB-04).
    pub(super) fn recover(&mut self, failed: &Failed) -> Option<Step> {
        let State::Open(open) = std::mem::replace(&mut self.state, State::Over) else {
            return None;
        };
        let (lease, mut attempts) = (open.lease, open.attempts);
        if self.task.is_some() {
            lease.upstream.suspect();
            return Some(self.fail(&lost(&lease, failed)));
        }
        let expired = failed.kind == FailedKind::SessionExpired;
        let worth_another = |renewals: &mut Renewals| {
            renewals.another(Arc::as_ptr(&lease.replica).addr(), lease.replica.answers())
        };
        if expired && failed.sent == Sent::No && worth_another(&mut self.renewals) {
            self.state = State::Beginning(Box::pin(begin_renewed(self.call.clone(), lease, attempts)));
            return None;
        }
        if expired || is_loss(failed.kind) || matches!(failed.kind, FailedKind::Unauthorized(401)) {
            lease.upstream.suspect();
        }
        let harmless = self.call.may_be_repeated() && self.asking.is_untouched();
        let lost = Failed {
            // Of most of what is no loss the server has said something about the request, which is no
            // reason to try another.
            sent: if is_loss(failed.kind) || is_turned_away(failed.kind) {
                failed.sent
            } else {
                Sent::Maybe
            },
            ..failed.clone()
        };
        match attempts.after_failure(&self.call, lease, &lost, harmless) {
            Ok(()) => self.state = State::Beginning(Box::pin(reach(self.call.clone(), attempts))),
            Err(_) => {
                return Some(self.fail(&RouteError::of(self.call.target.server.clone(), failed).into()));
            }
        }
        None
    }
}
