//! Keeps a part of a task from being polled for what concerns the others, and the task from being woken for what it
//! is just about to see.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// How often something goes on before other tasks have their turn.
const ROUNDS: usize = 16;

/// Tells that there is something to do.
#[derive(Debug)]
struct Bell {
    rung: AtomicBool,
    /// Whether somebody looks at this moment.
    attended: AtomicBool,
    user: AtomicWaker,
}

/// Polls one thing after another, each only when it has been woken.
pub(crate) struct Door {
    bell: Arc<Bell>,
    /// Rings the bell.
    waker: Waker,
}

impl Bell {
    /// A bell that has been rung.
    fn new() -> Arc<Self> {
        Arc::new(Self {
            rung: AtomicBool::new(true),
            attended: AtomicBool::new(false),
            user: AtomicWaker::new(),
        })
    }

    /// Notes that there is something to do, of which nobody has to be told.
    fn set(&self) {
        self.rung.store(true, Ordering::SeqCst);
    }

    /// From now on whoever attends looks by himself whether it was rung.
    fn attend(&self, user: &Waker) {
        self.attended.store(true, Ordering::SeqCst);
        self.user.register(user);
    }

    /// From now on whoever attended is woken.
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
        self.set();
        if !self.attended.load(Ordering::SeqCst) {
            self.user.wake();
        }
    }
}

impl Door {
    pub(crate) fn new() -> Self {
        let bell = Bell::new();
        Self {
            waker: Waker::from(Arc::clone(&bell)),
            bell,
        }
    }

    /// Something else is polled from now on, or it has changed: it has its turn with the next poll.
    pub(crate) fn open(&self) {
        self.bell.set();
    }

    /// Polls it for as long as it wakes itself, once it was woken.
    pub(crate) fn poll<F: Future + ?Sized>(
        &self,
        mut inner: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output> {
        let bell = &self.bell;
        bell.attend(cx.waker());
        for _ in 0..ROUNDS {
            if !bell.is_to_be_answered() {
                return Poll::Pending;
            }
            let polled = inner.as_mut().poll(&mut Context::from_waker(&self.waker));
            if polled.is_ready() {
                bell.leave();
                return polled;
            }
        }
        bell.leave();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Something behind a door.
    struct Attended<F> {
        inner: Pin<Box<F>>,
        door: Door,
    }

    impl<F: Future> Attended<F> {
        fn new(inner: F) -> Self {
            Self {
                inner: Box::pin(inner),
                door: Door::new(),
            }
        }

        fn poll(&mut self, waker: &Waker) -> Poll<F::Output> {
            self.door
                .poll(self.inner.as_mut(), &mut Context::from_waker(waker))
        }
    }

    /// Polls once; how often the task was woken meanwhile.
    fn polled<F: Future>(future: &mut Attended<F>) -> (Poll<F::Output>, usize) {
        let count = Arc::<Count>::default();
        let waker = Waker::from(Arc::clone(&count));
        let polled = future.poll(&waker);
        (polled, count.0.load(Ordering::SeqCst))
    }

    #[test]
    fn what_wakes_itself_goes_on_without_its_task_being_woken() {
        let mut left = 3;
        let mut future = Attended::new(poll_fn(|cx| {
            left -= 1;
            cx.waker().wake_by_ref();
            if left == 0 { Poll::Ready(()) } else { Poll::Pending }
        }));
        assert_eq!(polled(&mut future), (Poll::Ready(()), 0));
    }

    #[test]
    fn what_never_stops_leaves_the_others_their_turn() {
        let mut future = Attended::new(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        assert_eq!(polled(&mut future), (Poll::Pending, 1));
        assert_eq!(polled(&mut future), (Poll::Pending, 1));
    }

    #[test]
    fn it_is_polled_when_it_was_woken_and_not_otherwise() {
        let kept = Arc::new(parking_lot::Mutex::new(None));
        let polls = Arc::new(AtomicUsize::new(0));
        let mut future = Attended::new(poll_fn({
            let (kept, polls) = (Arc::clone(&kept), Arc::clone(&polls));
            move |cx| {
                polls.fetch_add(1, Ordering::SeqCst);
                *kept.lock() = Some(cx.waker().clone());
                Poll::<()>::Pending
            }
        }));
        let count = Arc::<Count>::default();
        let waker = Waker::from(Arc::clone(&count));
        let mut poll = || future.poll(&waker).is_pending();

        assert!(poll() && poll());
        assert_eq!(
            (polls.load(Ordering::SeqCst), count.0.load(Ordering::SeqCst)),
            (1, 0)
        );
        kept.lock().take().into_iter().for_each(Waker::wake);
        assert!(poll());
        assert_eq!(
            (polls.load(Ordering::SeqCst), count.0.load(Ordering::SeqCst)),
            (2, 1)
        );
    }
}
