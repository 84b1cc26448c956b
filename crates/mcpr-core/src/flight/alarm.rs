//! What a flight does when nothing happens: it has one timer for all of it.

use std::task::{Context as Task, Poll, ready};
use std::time::Duration;

use mcpr_transport::Reason;
use tokio::task::coop;
use tokio::time::Instant;

use super::Step;
use super::course::{Course, State};
use crate::fault::Fault;

/// When the client is to be told that its answer takes longer (HTTP-06).
const SLOW: Duration = Duration::from_secs(2);

impl Course {
    /// The timer, armed when there is first a need to wait.
    pub(super) fn poll_alarm(&mut self, cx: &mut Task<'_>) -> Poll<Option<Step>> {
        let Some(due) = self.due() else {
            return Poll::Pending;
        };
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if alarm.deadline() != due {
            alarm.as_mut().reset(due);
        }
        // A server that says much may have used up the task's turn, and then no timer tells of its time.
        let heard = !coop::has_budget_remaining() && Instant::now() >= due;
        if !heard {
            ready!(alarm.as_mut().poll(cx));
        }
        Poll::Ready(self.ring(Instant::now()))
    }

    /// What becomes of a call whose server has said something after the limit, and not the answer: a server
    /// that goes on talking would keep the timer from ever being asked.
    pub(super) fn overdue(&mut self) -> Option<Step> {
        let late = self.deadline.is_some_and(|deadline| self.heard_at >= deadline);
        let goes_on = !matches!(self.state, State::Over);
        if late && goes_on {
            self.ring(self.heard_at)
        } else {
            None
        }
    }

    /// When something happens if nothing else does.
    fn due(&self) -> Option<Instant> {
        let slow = (!self.slow_told).then(|| self.call.began + SLOW);
        [
            slow,
            self.silent_at(),
            self.deadline,
            self.progress.due(),
            self.asking.due(),
            self.roots_due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When the server has been silent for too long; it may be while a person thinks. Before it has the request
    /// it has nothing to say.
    fn silent_at(&self) -> Option<Instant> {
        let session = self.call.context.session.as_ref();
        let asked = session.is_some_and(|session| session.questions.any_open());
        let silence = self.silence.filter(|_| !(asked || self.asking.is_waiting()));
        Some(self.heard_at.max(self.call.sent_at()?) + silence?)
    }

    fn ring(&mut self, now: Instant) -> Option<Step> {
        let server = || self.call.target.server.clone();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            let fault = Fault::Timeout {
                server: server(),
                limit: self.deadline? - self.call.began,
            };
            return Some(self.expire(&fault));
        }
        if self.silent_at().is_some_and(|due| now >= due) {
            let fault = Fault::Silence {
                server: server(),
                limit: self.silence?,
            };
            return Some(self.expire(&fault));
        }
        if self.roots_due().is_some_and(|due| now >= due) {
            self.begin_after_roots(now);
            return None;
        }
        if self.asking.due().is_some_and(|due| now >= due) {
            return self.ring_for_questions(now);
        }
        if !self.slow_told && now >= self.call.began + SLOW {
            self.slow_told = true;
            return Some(Step::Slow);
        }
        self.progress
            .synthetic(now, self.call.target.server.as_str())
            .map(Step::Note)
    }

    fn expire(&mut self, fault: &Fault) -> Step {
        self.give_up(Reason::Deadline);
        self.fail(fault)
    }
}
