//! One connection, run by the task that uses it: what comes on it wakes that task and no other.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use http::Request;

use super::body::Once;
use super::connect::Sender;
use super::pool::Outcome;

/// How often a connection goes on before other tasks have their turn.
const ROUNDS: usize = 32;

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
}

/// Tells that there is something to do on a connection.
///
/// Both halves of a connection wake each other within one poll. That rings the bell only; the task
/// is not woken for what it is just about to see.
#[derive(Debug)]
struct Bell {
    rung: AtomicBool,
    /// Whether somebody looks at the connection at this moment.
    attended: AtomicBool,
    user: AtomicWaker,
}

impl Carrier {
    pub(super) fn new(sender: Sender, running: Running) -> Self {
        let bell = Arc::new(Bell {
            rung: AtomicBool::new(true),
            attended: AtomicBool::new(false),
            user: AtomicWaker::new(),
        });
        Self {
            sender,
            running: Some(running),
            waker: Waker::from(Arc::clone(&bell)),
            bell,
        }
    }

    /// Takes a request; it goes out with the next poll.
    pub(super) fn send(&mut self, request: Request<Once>) -> impl Future<Output = Outcome> + Send + use<> {
        self.bell.user.take();
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
        self.bell.rung.store(true, Ordering::SeqCst);
        self.poll_on(&Context::from_waker(stir));
    }

    /// Whether it rests still and can take a request.
    pub(super) fn is_usable(&mut self) -> bool {
        self.is_still(Waker::noop()) && self.sender.is_ready()
    }

    /// Whether it rests still; `stir` is woken when it does no longer.
    pub(super) fn is_still(&mut self, stir: &Waker) -> bool {
        if self.bell.rung.load(Ordering::SeqCst) {
            self.poll_on(&Context::from_waker(stir));
        }
        !self.is_over()
    }

    /// Whether the connection has ended.
    pub(super) fn is_over(&self) -> bool {
        self.running.is_none() || self.sender.is_closed()
    }

    fn go_on(&mut self) {
        let mut cx = Context::from_waker(&self.waker);
        if self
            .running
            .as_mut()
            .is_some_and(|running| running.as_mut().poll(&mut cx).is_ready())
        {
            self.running = None; // Which tells those who wait for an answer.
            self.bell.rung.store(true, Ordering::SeqCst);
        }
    }
}

impl Bell {
    fn attend(&self, user: &Waker) {
        self.attended.store(true, Ordering::SeqCst);
        self.user.register(user);
    }

    fn leave(&self) {
        self.attended.store(false, Ordering::SeqCst);
    }

    /// Whether it was rung. If not, whoever attended leaves, and is woken when it rings.
    fn is_to_be_answered(&self) -> bool {
        if self.rung.swap(false, Ordering::SeqCst) {
            return true;
        }
        self.leave();
        // It may have been rung just before that, in the belief that somebody is there.
        let missed = self.rung.swap(false, Ordering::SeqCst);
        self.attended.store(missed, Ordering::SeqCst);
        missed
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        if !self.attended.load(Ordering::SeqCst) {
            self.user.wake();
        }
    }
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Carrier(over: {})", self.is_over())
    }
}
