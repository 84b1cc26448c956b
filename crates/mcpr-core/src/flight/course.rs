//! The course of a flight: a state machine that is polled.

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context as Task, Poll, ready};
use std::time::Duration;

use http::StatusCode;
use mcpr_protocol::{Message, Method, Notification, Response, Rope, Version, notification};
use mcpr_router::Lease;
use mcpr_telemetry::Status;
use mcpr_transport::{Exchange, Reason};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::asking::Asking;
use super::attempts::Attempts;
use super::begin::{begin, set_log_level};
use super::old_task::{OldTask, begin_wait, cancel_task, unrelated};
use super::renewals::Renewals;
use super::task::{Followed, Followee, cancel_followed};
use super::{Cancel, Done, Step};
use crate::call::Call;
use crate::fault::Fault;
use crate::progress::Progress;
use crate::question::Answer;
use crate::quota::Spot;
use crate::record::{Ending, record, said_of, status_of};
use crate::suspension::Ticket;

/// A request on its way.
pub(super) struct Course {
    pub(super) call: Arc<Call>,
    pub(super) cancel: Arc<Cancel>,
    pub(super) state: State,
    /// The end of the gateway, waited for once there is a need to wait at all.
    end: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The one timer.
    pub(super) alarm: Option<Pin<Box<Sleep>>>,
    pub(super) deadline: Option<Instant>,
    pub(super) silence: Option<Duration>,
    pub(super) heard_at: Instant,
    pub(super) slow_told: bool,
    pub(super) progress: Progress,
    /// What the server waits for.
    pub(super) asking: Asking,
    /// What the client is told before `last`.
    pub(super) outbox: VecDeque<Rope>,
    /// How it ends, once that is known.
    last: Option<Step>,
    pub(super) renewals: Renewals,
    pub(super) refreshed: bool,
    /// Whether it goes on without anybody who reads what it says.
    pub(super) adopted: bool,
    /// The task of 2025-11-25 that is waited for.
    pub(super) task: Option<OldTask>,
    /// The task of a stateless server that is followed.
    pub(super) followed: Option<Followee>,
    /// Where it waits for the client after this answer.
    pub(super) parking: Option<Ticket>,
    /// Among what its principal has at servers; one that is parked has none.
    pub(super) spot: Option<Spot>,
}

pub(super) enum State {
    /// On its way to the server.
    Beginning(Pin<Box<dyn Future<Output = Result<Open, Fault>> + Send>>),
    /// What is known of the tool is read again.
    Refreshing(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// At the server.
    Open(Open),
    /// The call has become a task that is waited for.
    Following(Pin<Box<dyn Future<Output = Result<Followed, Fault>> + Send>>),
    /// The server has answered that it needs more; the client is asked.
    Asking,
    Over,
}

pub(super) struct Open {
    /// Dropped before the lease, which lets the next client in.
    pub(super) exchange: Exchange,
    pub(super) lease: Lease,
    /// Under which the server tells its progress.
    pub(super) token: u64,
    /// The call itself is not sent yet: until when a server may ask for roots before it.
    pub(super) before: Option<Instant>,
    /// What it took to get here.
    pub(super) attempts: Attempts,
}

impl Open {
    /// A request that was sent.
    pub(super) fn new(lease: Lease, exchange: Exchange, token: u64) -> Self {
        Self {
            lease,
            exchange,
            token,
            before: None,
            attempts: Attempts::default(),
        }
    }

    /// The same after some attempts.
    pub(super) fn after(self, attempts: Attempts) -> Self {
        Self { attempts, ..self }
    }
}

impl Course {
    pub(super) fn new(call: Call, cancel: Arc<Cancel>, spot: Spot) -> Self {
        let call = Arc::new(call);
        let (limit, silence) = call.limits();
        Self {
            deadline: limit.map(|limit| call.began + limit),
            silence,
            heard_at: call.began,
            progress: Progress::new(call.progress.clone(), call.began),
            state: State::Beginning(Box::pin(begin(call.clone()))),
            call,
            cancel,
            end: None,
            alarm: None,
            slow_told: false,
            asking: Asking::default(),
            outbox: VecDeque::new(),
            last: None,
            renewals: Renewals::default(),
            refreshed: false,
            adopted: false,
            task: None,
            followed: None,
            parking: None,
            spot: Some(spot),
        }
    }

    /// Goes on under the request that brought what the server asked for.
    pub(super) fn resume(&mut self, call: Call, cancel: Arc<Cancel>, answers: Vec<Answer>) {
        let (limit, _) = call.limits();
        self.deadline = limit.map(|limit| call.began + limit);
        self.heard_at = call.began;
        self.slow_told = false;
        self.progress = Progress::new(call.progress.clone(), call.began);
        self.call = Arc::new(call);
        self.cancel = cancel;
        if let State::Open(open) = &self.state {
            if open.before.is_none() {
                self.call.note_sent(); // Its server is at it since the request before.
            }
            let gateway = &self.call.gateway;
            if let Some(level) = self
                .call
                .context
                .log_level
                .filter(|_| self.call.can_log(&open.lease))
            {
                gateway
                    .tasks
                    .spawn(set_log_level(open.lease.replica.clone(), level));
            }
            for (asked, answer) in self.asking.gathered().iter().zip(&answers) {
                if asked.question.method == Method::RootsList && answer.is_ok() {
                    open.lease.replica.roots().tell(self.call.roots());
                }
            }
        }
        let answers = self.asking.take_gathered(answers);
        self.reply(answers);
    }

    /// The revision of the server that it is at.
    pub(super) fn server_version(&self) -> Option<Version> {
        match &self.state {
            State::Open(open) => Some(open.lease.replica.version),
            _ => None,
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Task<'_>) -> Poll<Step> {
        loop {
            if let Some(note) = self.outbox.pop_front() {
                return Poll::Ready(Step::Note(note));
            }
            if let Some(last) = self.last.take() {
                return Poll::Ready(last);
            }
            if !self.is_sent() && self.call.gateway.is_stopping() {
                return Poll::Ready(self.stopped());
            }
            if self.begin_after_roots(self.heard_at) {
                continue;
            }
            if let Some(late) = self.overdue() {
                return Poll::Ready(late);
            }
            if let Poll::Ready(step) = self.poll_server(cx) {
                match step {
                    Some(step) => return Poll::Ready(step),
                    None => continue,
                }
            }
            if let Poll::Ready(step) = self.poll_client(cx) {
                match step {
                    Some(step) => return Poll::Ready(step),
                    None => continue,
                }
            }
            if self.is_at_the_end(cx) {
                return Poll::Ready(self.stopped());
            }
            if self.cancel.is_wished(cx) {
                return Poll::Ready(self.cancelled());
            }
            if let Some(step) = ready!(self.poll_alarm(cx)) {
                return Poll::Ready(step);
            }
        }
    }

    /// Advances what is under way; `Ready(None)` is progress without anything to say.
    fn poll_server(&mut self, cx: &mut Task<'_>) -> Poll<Option<Step>> {
        match &mut self.state {
            State::Beginning(begin) => {
                match ready!(begin.as_mut().poll(cx)) {
                    Ok(open) => self.state = State::Open(open),
                    Err(fault) => return Poll::Ready(Some(self.fail(&fault))),
                }
                Poll::Ready(None)
            }
            State::Following(follow) => {
                let followed = ready!(follow.as_mut().poll(cx));
                self.heard_at = Instant::now();
                Poll::Ready(self.followed(followed))
            }
            State::Refreshing(refresh) => {
                ready!(refresh.as_mut().poll(cx));
                Poll::Ready(self.begin_anew())
            }
            State::Open(open) => {
                let message = ready!(open.exchange.poll_next(cx));
                self.heard_at = Instant::now();
                Poll::Ready(match message {
                    Ok(message) => self.take(message),
                    Err(failed) => self.recover(&failed),
                })
            }
            State::Asking => Poll::Pending,
            State::Over => Poll::Ready(Some(Step::Cancelled)),
        }
    }

    fn take(&mut self, message: Message) -> Option<Step> {
        let message = match self.task {
            Some(_) => unrelated(message),
            None => message,
        };
        match message {
            Message::Response(response) => self.answer(response),
            Message::Notification(note) => self.note(&note).map(Step::Note),
            Message::Request(request) => self.question(request),
        }
    }

    fn note(&mut self, note: &Notification) -> Option<Rope> {
        let State::Open(open) = &self.state else {
            return None;
        };
        if &*note.method == notification::CANCELLED {
            return self.asking.withdrawn(note);
        }
        let told = self.progress.relay(note, open.token);
        told.or_else(|| self.call.gateway.relay_note(&self.call, &open.lease, note))
    }

    fn answer(&mut self, response: Response) -> Option<Step> {
        let State::Open(open) = std::mem::replace(&mut self.state, State::Over) else {
            return None;
        };
        open.lease.confirm();
        if let Some(task) = self.became_task(&open, &response) {
            self.task = Some(task.clone());
            self.state = State::Beginning(Box::pin(begin_wait(open.lease, task, open.token)));
            return None;
        }
        let response = match self.needs_more(&open, response) {
            Ok(step) => return step,
            Err(response) => response,
        };
        if self.has_old_schema(&open, &response) || self.wants_to_be_task(&open, &response) {
            return None;
        }
        if let Some(task) = self.follows(&response) {
            self.follow(open.lease, task);
            return None;
        }
        if let Some(step) = self.needs_visits(&response) {
            return Some(step);
        }
        Some(self.answered_with(&open.lease, response))
    }

    /// The answer of the server, as the client gets it.
    pub(super) fn answered_with(&mut self, lease: &Lease, response: Response) -> Step {
        let (status, said) = (status_of(&response), said_of(&response));
        let outcome = self.call.incoming(lease, response.outcome);
        // The status that the stateless era has for a server's error, where the client is of it too.
        let http = match status {
            Status::Error(code) => self.call.gateway.status_for(&self.call.context, code),
            _ => StatusCode::OK,
        };
        let text = Response::text(Some(&self.call.id), outcome);
        self.keep_questions(lease);
        self.end(Ending {
            said,
            ..Ending::of(status, http, None)
        });
        self.finish(Step::Done(Done { text, status: http }))
    }

    pub(super) fn fail(&mut self, fault: &Fault) -> Step {
        self.state = State::Over;
        let era = self.call.context.era();
        let fault = fault.scrubbed(&self.call.gateway.secrets);
        let error = fault.error(era, self.call.number);
        self.end(Ending::by(&fault, era));
        self.finish(Step::Done(Done {
            text: Response::text(Some(&self.call.id), Err(error.render().into())),
            status: fault.status(era),
        }))
    }

    /// An answer that mcpr gives in the name of the server.
    pub(super) fn conclude(&mut self, result: Rope, status: Status) -> Step {
        self.state = State::Over;
        self.end(Ending::of(status, StatusCode::OK, None));
        self.finish(Step::Done(Done {
            text: Response::text(Some(&self.call.id), Ok(result)),
            status: StatusCode::OK,
        }))
    }

    /// Whether its server may have seen it.
    fn is_sent(&self) -> bool {
        self.call.sent.load(Ordering::Relaxed)
    }

    fn is_at_the_end(&mut self, cx: &mut Task<'_>) -> bool {
        let stop = &self.call.gateway.stop;
        let end = self
            .end
            .get_or_insert_with(|| Box::pin(stop.clone().cancelled_owned()));
        end.as_mut().poll(cx).is_ready()
    }

    /// The gateway has waited for it as long as it could: client and server hear so (B47).
    fn stopped(&mut self) -> Step {
        let fault = match self.is_sent() {
            true => Fault::GivenUp(self.call.target.server.clone()),
            false => Fault::Stopping,
        };
        self.give_up(Reason::Shutdown);
        self.fail(&fault)
    }

    /// A mistake of the gateway ends this request and no other (HTTP-04).
    pub(super) fn broke(&mut self, panic: &(dyn Any + Send)) -> Step {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let reason = text
            .or(panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        tracing::error!(
            request_id = self.call.number,
            reason,
            "a request failed inside the gateway"
        );
        self.fail(&Fault::Internal)
    }

    fn cancelled(&mut self) -> Step {
        self.give_up(Reason::Client);
        self.end(Ending::of(Status::Cancelled, StatusCode::OK, None));
        self.finish(Step::Cancelled)
    }

    /// Nobody wants it any more.
    pub(super) fn abandon(mut self: Box<Self>) {
        self.give_up_for_good();
        self.end(Ending::of(Status::Cancelled, StatusCode::OK, None));
    }

    pub(super) fn give_up_for_good(&mut self) {
        self.give_up(if self.call.gateway.is_stopping() {
            Reason::Shutdown
        } else {
            Reason::Client
        });
    }

    pub(super) fn give_up(&mut self, why: Reason) {
        if let Some(task) = self.followed.take() {
            let cancelled = cancel_followed(self.call.clone(), task);
            self.call.gateway.farewells.spawn(cancelled);
        }
        if let Some(task) = self.task.take() {
            self.call.gateway.farewells.spawn(cancel_task(task));
        }
        if let State::Open(open) = std::mem::replace(&mut self.state, State::Over) {
            self.asking.decline_all(&self.call.gateway, &open.lease);
            open.exchange.cancel(why);
        }
    }

    /// The last step, after the client was told which questions need no answer any more.
    fn finish(&mut self, last: Step) -> Step {
        self.outbox.extend(self.asking.withdraw_all());
        if self.call.context.client.version == Version::V2025_11_25 {
            self.outbox.extend(self.asking.visits_done());
        }
        match self.outbox.pop_front() {
            Some(note) => {
                self.last = Some(last);
                Step::Note(note)
            }
            None => last,
        }
    }

    pub(super) fn end(&mut self, ending: Ending) {
        let now = Instant::now();
        if let Some(flights) = &self.call.context.flights {
            flights.leave(&self.call.id);
        }
        if let Some(session) = &self.call.context.session {
            session.touch(now);
        }
        record(&self.call, ending, now);
    }
}
