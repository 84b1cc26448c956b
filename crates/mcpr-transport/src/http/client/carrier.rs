//! One connection, run by the task that uses it: what comes on it wakes that task and no other.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use http::Request;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::body::Once;
use super::connect::Sender;
use super::pool::Outcome;
use crate::bell::{Bell, ROUNDS};

/// Reads and writes on a connection, until its end.
pub(super) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One connection to an origin. Nothing happens on it but within a poll.
pub(super) struct Carrier {
    sender: Sender,
    /// None once the connection is over.
    running: Option<Running>,
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
    /// Ends the connection.
    stop: CancellationToken,
}

/// The connections that there are, to tell them that their time is over.
#[derive(Debug, Default)]
pub(super) struct Carriers(Mutex<Vec<Weak<Bell>>>);

impl Carrier {
    /// Whoever cancels `stop` tells `all` of it.
    pub(super) fn new(sender: Sender, running: Running, stop: CancellationToken, all: &Carriers) -> Self {
        let bell = Bell::new();
        all.add(&bell);
        Self {
            sender,
            running: Some(running),
            stop,
            waker: Waker::from(Arc::clone(&bell)),
            bell,
        }
    }

    /// Takes a request; it goes out with the next poll.
    pub(super) fn send(&mut self, request: Request<Once>) -> impl Future<Output = Outcome> + Send + use<> {
        self.bell.forget_user();
        self.sender.try_send_request(request)
    }

    /// Lets the connection go on until there is what is wanted, or nothing left to do for now.
    pub(super) fn poll_for<T>(
        &mut self,
        cx: &Context<'_>,
        mut wanted: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.bell.attend(cx.waker());
        for _ in 0..ROUNDS {
            let found = wanted(&mut Context::from_waker(&self.waker));
            if found.is_ready() {
                self.bell.leave();
                return found;
            }
            if !self.bell.is_to_be_answered() {
                return Poll::Pending;
            }
            self.go_on();
        }
        self.bell.leave();
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Does what there is to do, for now.
    pub(super) fn poll_on(&mut self, cx: &Context<'_>) {
        let nothing = self.poll_for(cx, |_| Poll::<()>::Pending);
        debug_assert!(nothing.is_pending());
    }

    /// Gets it ready for the next request; `stir` is woken when something happens to it until then.
    pub(super) fn rest(&mut self, stir: &Waker) {
        self.bell.set();
        self.poll_on(&Context::from_waker(stir));
    }

    /// Whether it rests still and can take a request.
    pub(super) fn is_usable(&mut self) -> bool {
        self.is_still(Waker::noop()) && self.sender.is_ready()
    }

    /// Whether it rests still; `stir` is woken when it does no longer.
    pub(super) fn is_still(&mut self, stir: &Waker) -> bool {
        if self.bell.is_rung() {
            self.poll_on(&Context::from_waker(stir));
        }
        !self.is_over()
    }

    /// Whether the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.running.is_none() || self.sender.is_closed()
    }

    fn go_on(&mut self) {
        let Some(running) = &mut self.running else { return };
        let mut cx = Context::from_waker(&self.waker);
        if self.stop.is_cancelled() || running.as_mut().poll(&mut cx).is_ready() {
            self.running = None; // Which tells those who wait for an answer.
            self.bell.set();
        }
    }
}

impl Carriers {
    /// Has all look whether their time is over.
    pub(super) fn ring(&self) {
        let bells = std::mem::take(&mut *self.0.lock());
        bells.iter().filter_map(Weak::upgrade).for_each(Wake::wake);
    }

    fn add(&self, bell: &Arc<Bell>) {
        let mut bells = self.0.lock();
        if bells.len() == bells.capacity() {
            bells.retain(|bell| bell.strong_count() > 0);
        }
        bells.push(Arc::downgrade(bell));
    }
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Carrier(over: {})", self.is_over())
    }
}
