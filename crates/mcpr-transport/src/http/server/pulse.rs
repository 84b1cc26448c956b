//! What a connection is doing, as far as its time limits care.
//!
//! No request sets a timer: it leaves marks here, and the connection's one watch looks at them
//! now and then.

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Limits;

/// The marks of one connection, shared by its socket, its requests and its watch.
#[derive(Debug)]
pub(super) struct Pulse(Mutex<Marks>);

#[derive(Debug)]
struct Marks {
    phase: Phase,
    /// Since when the client has not taken what is written.
    stuck: Option<Instant>,
    /// Whether there is a part of the request's body that nobody has read.
    unread: bool,
    /// Whether nobody has been let in on it.
    strange: bool,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// A request head is on its way.
    Head { since: Instant },
    /// A request is being answered.
    Answering,
    /// There is no request.
    Idle { since: Instant },
}

impl Pulse {
    /// The marks of a new connection, which owes a request head.
    pub(super) fn new() -> Self {
        let phase = Phase::Head {
            since: Instant::now(),
        };
        Self(Mutex::new(Marks {
            phase,
            stuck: None,
            unread: false,
            strange: true,
        }))
    }

    /// Bytes came.
    pub(super) fn heard(&self) {
        let mut marks = self.0.lock();
        if matches!(marks.phase, Phase::Idle { .. }) {
            marks.phase = Phase::Head {
                since: Instant::now(),
            };
        }
    }

    /// A request head is complete; `unread` says whether a body follows.
    pub(super) fn asked(&self, unread: bool) {
        let mut marks = self.0.lock();
        marks.phase = Phase::Answering;
        marks.unread = unread;
    }

    /// Somebody was let in.
    pub(super) fn met(&self) {
        self.0.lock().strange = false;
    }

    /// Since when a connection on which nobody was let in asks nothing.
    pub(super) fn strange_since(&self) -> Option<Instant> {
        let marks = self.0.lock();
        match marks.phase {
            Phase::Head { since } | Phase::Idle { since } if marks.strange => Some(since),
            _ => None,
        }
    }

    /// The whole body was read.
    pub(super) fn read(&self) {
        self.0.lock().unread = false;
    }

    /// Whether the request has a body that was left unread.
    pub(super) fn is_unread(&self) -> bool {
        self.0.lock().unread
    }

    /// The answer was written.
    pub(super) fn answered(&self) {
        self.0.lock().phase = Phase::Idle {
            since: Instant::now(),
        };
    }

    /// The client takes nothing for now.
    pub(super) fn stuck(&self) {
        self.0.lock().stuck = Some(Instant::now());
    }

    /// The client takes again.
    pub(super) fn unstuck(&self) {
        self.0.lock().stuck = None;
    }

    /// The limit that the connection is over, if any.
    pub(super) fn overdue(&self, limits: &Limits) -> Option<&'static str> {
        self.0.lock().overdue(limits, Instant::now())
    }
}

impl Marks {
    fn overdue(&self, limits: &Limits, now: Instant) -> Option<&'static str> {
        if self.stuck.is_some_and(|since| now - since >= limits.write_time) {
            return Some("the client does not read its answer");
        }
        match self.phase {
            Phase::Head { since } if now - since >= limits.head_time => Some("no whole request head came"),
            Phase::Idle { since } if now - since >= limits.idle_time => Some("no further request came"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_phase_has_its_own_limit_and_an_answer_has_none() {
        let limits = Limits::default();
        let pulse = Pulse::new();
        let after = async |wait: Duration| {
            tokio::time::advance(wait).await;
            pulse.overdue(&limits)
        };

        assert!(
            after(limits.head_time).await.is_some(),
            "a new connection owes a head"
        );
        pulse.asked(false);
        assert_eq!(
            after(limits.idle_time * 100).await,
            None,
            "an answer may take as long as it takes"
        );
        pulse.answered();
        assert_eq!(after(limits.head_time).await, None);
        pulse.heard();
        assert!(
            after(limits.head_time).await.is_some(),
            "a head that began must end"
        );
        pulse.answered();
        assert!(after(limits.idle_time).await.is_some());
        pulse.asked(false);
        pulse.stuck();
        assert!(after(limits.write_time).await.is_some());
        pulse.unstuck();
        assert_eq!(pulse.overdue(&limits), None);
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_was_never_let_in_and_asks_nothing_is_a_stranger() {
        let pulse = Pulse::new();
        let opened = Instant::now();
        assert_eq!(pulse.strange_since(), Some(opened));
        pulse.asked(false);
        assert_eq!(pulse.strange_since(), None);
        tokio::time::advance(Duration::from_secs(1)).await;
        pulse.answered();
        assert_eq!(pulse.strange_since(), Some(Instant::now()));
        pulse.met();
        assert_eq!(pulse.strange_since(), None);
    }
}
