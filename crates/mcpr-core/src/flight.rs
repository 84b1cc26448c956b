//! A request in progress.
//!
//! A flight owns everything its request needs, so whoever polls it may come and go: a response
//! body attaches to it by polling and detaches by dropping it. Dropped before its end, it goes on
//! in the background where a lost connection is no cancel (session era), and is cancelled where it
//! is one (stateless era). One whose server has asked a stateless client something is parked among
//! the [suspensions](crate::suspension) until the client comes back with the answers.

mod alarm;
mod asking;
mod attempts;
mod begin;
mod course;
mod detour;
mod inputs;
mod kept;
mod old_task;
mod renewals;
mod roots;
mod task;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll, ready};

use futures_util::task::AtomicWaker;
use http::StatusCode;
use mcpr_auth::Principal;
use mcpr_protocol::{Rope, Version};
use tokio::time::{Instant, timeout_at};

pub(crate) use self::asking::Gathered;
use self::course::Course;
use crate::call::Call;
use crate::question::Answer;
use crate::quota::Spot;

/// What a flight says next.
pub(crate) enum Step {
    /// A message for the client before the answer: a notification, or a question of the server.
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
pub(crate) struct Flight(Option<Box<Course>>);

/// A flight that waits for a stateless client to come back with answers. Dropped, it is given up.
pub(crate) struct Parked(Option<Box<Course>>);

/// The wish of the client that a request be given up.
#[derive(Default)]
pub(crate) struct Cancel {
    wished: AtomicBool,
    waker: AtomicWaker,
}

impl Flight {
    /// Starts a request, which keeps its spot until it ends. Nothing happens until it is polled.
    pub(crate) fn new(call: Call, cancel: Arc<Cancel>, spot: Spot) -> Self {
        Self(Some(Box::new(Course::new(call, cancel, spot))))
    }

    /// When it is given up; nothing while it has no limit, or has ended.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.deadline
    }

    /// For whom it is, while it is under way.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        Some(&self.0.as_ref()?.call.context.principal)
    }

    /// What comes next. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Step {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Task<'_>) -> Poll<Step> {
        let Some(course) = &mut self.0 else {
            return Poll::Ready(Step::Cancelled);
        };
        let polled = catch_unwind(AssertUnwindSafe(|| course.poll(cx)));
        let step = ready!(polled.unwrap_or_else(|panic| Poll::Ready(course.broke(&*panic))));
        if matches!(step, Step::Done(_) | Step::Cancelled) {
            self.conclude();
        }
        Poll::Ready(step)
    }

    fn conclude(&mut self) {
        let Some(mut course) = self.0.take() else { return };
        if let Some(ticket) = course.parking.take() {
            course.spot = None;
            let gateway = course.call.gateway.clone();
            let parked = Parked(Some(course));
            // Nobody can come back to a gateway that takes no more calls.
            if !gateway.is_ending() {
                gateway.suspensions.park(ticket, parked);
            }
        }
    }

    /// Drives it to its end; what it says has no reader.
    async fn drain(mut self) {
        while !matches!(self.next().await, Step::Done(_) | Step::Cancelled) {}
    }
}

/// Does something for a request until its deadline: what its client does not take by then is left
/// out, so that the request itself is given up in time.
pub(crate) async fn within(deadline: Option<Instant>, work: impl Future<Output = ()>) {
    match deadline {
        // Whether it was done is of no more interest then.
        Some(deadline) => drop(timeout_at(deadline, work).await),
        None => work.await,
    }
}

impl Parked {
    /// What it waits for.
    pub(crate) fn questions(&mut self) -> &mut [Gathered] {
        self.0.as_mut().map_or(&mut [], |course| course.asking.gathered())
    }

    /// The revision its server speaks.
    pub(crate) fn server_version(&self) -> Version {
        let version = self.0.as_ref().and_then(|course| course.server_version());
        version.unwrap_or(Version::NEWEST_SESSION)
    }

    /// Goes on with the answers, in the order of its questions, for the request that brought them.
    pub(crate) fn resume(
        mut self,
        call: Call,
        cancel: Arc<Cancel>,
        spot: Spot,
        answers: Vec<Answer>,
    ) -> Flight {
        let mut course = self.0.take();
        if let Some(course) = &mut course {
            course.spot = Some(spot);
            course.resume(call, cancel, answers);
        }
        Flight(course)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        // Its request has been answered, and recorded.
        if let Some(mut course) = self.0.take() {
            course.give_up_for_good();
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let Some(mut course) = self.0.take() else { return };
        // One that was adopted is dropped only with the runtime, which would drop it again and again.
        let adopted = std::mem::replace(&mut course.adopted, true);
        let lives_on = course.call.context.outlives_connection() && !course.call.gateway.is_stopping();
        // Who was turned away has heard that it was not done.
        let lives_on = lives_on
            && course
                .call
                .gateway
                .doorkeeper
                .lets_in(&course.call.context.principal);
        if lives_on && !adopted {
            let gateway = course.call.gateway.clone();
            gateway.adopt(Flight(Some(course)).drain());
        } else {
            course.abandon();
        }
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
            if self.is_wished(cx) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Whether it is wished; the task hears of it once it is.
    fn is_wished(&self, cx: &Task<'_>) -> bool {
        self.waker.register(cx.waker());
        self.wished.load(Ordering::Acquire)
    }
}
