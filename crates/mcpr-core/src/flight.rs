//! A request in progress.
//!
//! A flight owns everything its request needs, so whoever polls it may come and go: a response
//! body attaches to it by polling and detaches by dropping it. Dropped before its end, it goes on
//! in the background where a lost connection is no cancel (session era), and is cancelled where it
//! is one (stateless era).

mod begin;

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll, ready};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use http::StatusCode;
use mcpr_protocol::{Message, Response, Rope};
use mcpr_router::{Lease, RouteError};
use mcpr_telemetry::Status;
use mcpr_transport::{Exchange, Failed, FailedKind, Reason, Sent};
use tokio::time::{Instant, Sleep};

use self::begin::{begin, begin_again, begin_renewed};
use crate::call::Call;
use crate::fault::Fault;
use crate::progress::Progress;
use crate::record::{Ending, record, status_of};

/// When the client is to be told that its answer takes longer (HTTP-06).
const SLOW: Duration = Duration::from_secs(2);

/// How often an expired session is renewed for one request before that is given up.
const RENEWALS: u32 = 10;

/// What a flight says next.
pub(crate) enum Step {
    /// A notification for the client.
    Note(Rope),
    /// Nothing came for two seconds.
    Slow,
    /// The answer; nothing follows.
    Done(Done),
    /// The client cancelled; there is no answer (2025-11-25, cancellation).
    Cancelled,
}

/// A complete answer.
pub(crate) struct Done {
    /// The text of the JSON-RPC response.
    pub(crate) text: Rope,
    /// The status of HTTP that goes with it.
    pub(crate) status: StatusCode,
}

/// A request in progress at a server.
pub(crate) struct Flight(Option<Box<Inner>>);

/// The wish of the client that a request be given up.
#[derive(Default)]
pub(crate) struct Cancel {
    wished: AtomicBool,
    waker: AtomicWaker,
}

struct Inner {
    call: Arc<Call>,
    cancel: Arc<Cancel>,
    state: State,
    alarm: Option<Pin<Box<Sleep>>>,
    deadline: Option<Instant>,
    silence: Option<Duration>,
    heard_at: Instant,
    slow_told: bool,
    progress: Progress,
    renewals: u32,
    came_back: bool,
    /// Whether it goes on without anybody who reads what it says.
    adopted: bool,
}

enum State {
    Beginning(Pin<Box<dyn Future<Output = Result<Open, Fault>> + Send>>),
    Open(Open),
    Over,
}

struct Open {
    lease: Lease,
    exchange: Exchange,
    id: u64,
}

impl Flight {
    /// Starts a request. Nothing happens until it is polled.
    pub(crate) fn new(call: Call, cancel: Arc<Cancel>) -> Self {
        let call = Arc::new(call);
        let (limit, silence) = call.limits();
        Self(Some(Box::new(Inner {
            deadline: limit.map(|limit| call.began + limit),
            silence,
            heard_at: call.began,
            progress: Progress::new(call.progress.clone(), call.began),
            state: State::Beginning(Box::pin(begin(call.clone()))),
            call,
            cancel,
            alarm: None,
            slow_told: false,
            renewals: 0,
            came_back: false,
            adopted: false,
        })))
    }

    /// What comes next. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Step {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Task<'_>) -> Poll<Step> {
        let Some(inner) = &mut self.0 else {
            return Poll::Ready(Step::Cancelled);
        };
        let polled = catch_unwind(AssertUnwindSafe(|| inner.poll(cx)));
        let step = ready!(polled.unwrap_or_else(|panic| Poll::Ready(inner.broke(&*panic))));
        if matches!(step, Step::Done(_) | Step::Cancelled) {
            self.0 = None;
        }
        Poll::Ready(step)
    }

    /// Drives it to its end; what it says has no reader.
    async fn drain(mut self) {
        while !matches!(self.next().await, Step::Done(_) | Step::Cancelled) {}
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let Some(mut inner) = self.0.take() else { return };
        // One that was adopted is dropped only with the runtime, which would drop it again and again.
        let adopted = std::mem::replace(&mut inner.adopted, true);
        let lives_on = inner.call.context.outlives_connection() && !inner.call.gateway.is_stopping();
        if lives_on && !adopted {
            let gateway = inner.call.gateway.clone();
            gateway.adopt(Flight(Some(inner)).drain());
        } else {
            inner.abandon();
        }
    }
}

impl Inner {
    fn poll(&mut self, cx: &mut Task<'_>) -> Poll<Step> {
        loop {
            if let Poll::Ready(step) = self.poll_server(cx) {
                match step {
                    Some(step) => return Poll::Ready(step),
                    None => continue,
                }
            }
            self.cancel.waker.register(cx.waker());
            if self.cancel.wished.load(Ordering::Acquire) {
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
            State::Open(open) => {
                let message = ready!(open.exchange.poll_next(cx));
                self.heard_at = Instant::now();
                Poll::Ready(match message {
                    Ok(message) => self.take(message),
                    Err(failed) => self.recover(&failed),
                })
            }
            State::Over => Poll::Ready(Some(Step::Cancelled)),
        }
    }

    fn take(&mut self, message: Message) -> Option<Step> {
        let State::Open(open) = &self.state else {
            return None;
        };
        match message {
            Message::Response(response) => Some(self.answer(response)),
            Message::Notification(notification) => {
                let note = self.progress.relay(&notification, open.id);
                note.or_else(|| self.call.gateway.relay_note(&self.call, &notification))
                    .map(Step::Note)
            }
            Message::Request(request) => {
                self.call.gateway.answer_server(&open.lease, request);
                None
            }
        }
    }

    fn answer(&mut self, response: Response) -> Step {
        let State::Open(open) = std::mem::replace(&mut self.state, State::Over) else {
            return Step::Cancelled;
        };
        let status = status_of(&response);
        let outcome = self.call.incoming(&open.lease, response.outcome);
        // The status that the stateless era has for a server's error, where the client is of it too.
        let http = match status {
            Status::Error(code) => self.call.gateway.status_for(&self.call.context, code),
            _ => StatusCode::OK,
        };
        let text = Response::text(Some(&self.call.id), outcome);
        self.end(Ending {
            status,
            http,
            error: None,
        });
        Step::Done(Done { text, status: http })
    }

    /// A failure of the way to the server: tried again where that is proven harmless (LB-03).
    fn recover(&mut self, failed: &Failed) -> Option<Step> {
        let State::Open(open) = std::mem::replace(&mut self.state, State::Over) else {
            return None;
        };
        let server = self.call.target.server.clone();
        if failed.kind == FailedKind::SessionExpired && self.renewals < RENEWALS {
            self.renewals += 1;
            self.state = State::Beginning(Box::pin(begin_renewed(self.call.clone(), open.lease)));
            return None;
        }
        if matches!(failed.kind, FailedKind::Unauthorized(401)) {
            open.lease.upstream.suspect();
        }
        if matches!(failed.kind, FailedKind::Closed | FailedKind::Unreachable) {
            open.lease.upstream.suspect();
            if failed.sent == Sent::No && !self.came_back {
                self.came_back = true;
                self.state = State::Beginning(Box::pin(begin_again(
                    self.call.clone(),
                    open.lease,
                    failed.clone(),
                )));
                return None;
            }
        }
        Some(self.fail(&RouteError::of(server, failed).into()))
    }

    fn fail(&mut self, fault: &Fault) -> Step {
        self.state = State::Over;
        let era = self.call.context.era();
        let fault = fault.scrubbed(&self.call.gateway.secrets);
        let error = fault.error(era, self.call.number);
        let status = fault.status(era);
        self.end(Ending {
            status: Status::Error(error.code),
            http: status,
            error: Some(error.message.clone()),
        });
        Step::Done(Done {
            text: Response::text(Some(&self.call.id), Err(error.render().into())),
            status,
        })
    }

    /// A mistake of the gateway ends this request and no other (HTTP-04).
    fn broke(&mut self, panic: &(dyn Any + Send)) -> Step {
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
        self.end(Ending {
            status: Status::Cancelled,
            http: StatusCode::OK,
            error: None,
        });
        Step::Cancelled
    }

    /// Nobody wants it any more.
    fn abandon(mut self: Box<Self>) {
        let why = if self.call.gateway.is_stopping() {
            Reason::Shutdown
        } else {
            Reason::Client
        };
        self.give_up(why);
        self.end(Ending {
            status: Status::Cancelled,
            http: StatusCode::OK,
            error: None,
        });
    }

    fn give_up(&mut self, why: Reason) {
        if let State::Open(open) = std::mem::replace(&mut self.state, State::Over) {
            open.exchange.cancel(why);
        }
    }

    fn end(&mut self, ending: Ending) {
        if let Some(flights) = &self.call.context.flights {
            flights.leave(&self.call.id);
        }
        if let Some(session) = &self.call.context.session {
            session.touch();
        }
        record(&self.call, ending);
    }

    /// The one timer of a flight, armed when there is first a need to wait.
    fn poll_alarm(&mut self, cx: &mut Task<'_>) -> Poll<Option<Step>> {
        let Some(due) = self.due() else {
            return Poll::Pending;
        };
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if alarm.deadline() != due {
            alarm.as_mut().reset(due);
        }
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(self.ring(Instant::now()))
    }

    /// When something happens if nothing else does.
    fn due(&self) -> Option<Instant> {
        let slow = (!self.slow_told).then(|| self.call.began + SLOW);
        let silence = self.silence.map(|silence| self.heard_at + silence);
        [slow, silence, self.deadline, self.progress.due()]
            .into_iter()
            .flatten()
            .min()
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
        if self.silence.is_some_and(|silence| now >= self.heard_at + silence) {
            let fault = Fault::Silence {
                server: server(),
                limit: self.silence?,
            };
            return Some(self.expire(&fault));
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

impl Cancel {
    /// Wishes that the request be given up.
    pub(crate) fn cancel(&self) {
        self.wished.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Waits for that wish, before the flight does.
    pub(crate) async fn until_wished(&self) {
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            if self.wished.load(Ordering::Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
