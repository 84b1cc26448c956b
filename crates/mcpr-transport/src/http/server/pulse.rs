//! What a connection is doing, as far as its time limits care.
//!
//! No request sets a timer or asks for the time: it leaves marks here, and the connection's one watch looks at them
//! now and then. What it finds for the first time has lasted since then.

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Limits;

/// The marks of one connection, shared by its socket, its requests and its watch.
#[derive(Debug)]
pub(super) struct Pulse(Mutex<Marks>);

#[derive(Debug)]
struct Marks {
    phase: Phase,
    /// Since when it does that; nothing until the watch looks.
    since: Option<Instant>,
    /// Whether the client does not take what is written.
    stuck: bool,
    /// Since when, as the watch has seen.
    stuck_since: Option<Instant>,
    /// Whether there is a part of the request's body that nobody has read.
    unread: bool,
    /// Whether who came last was not let in, or nobody has come.
    strange: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// A request head is on its way.
    Head,
    /// A request is being answered.
    Answering,
    /// There is no request.
    Idle,
}

impl Pulse {
    /// The marks of a new connection, which owes a request head.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Marks {
            phase: Phase::Head,
            since: Some(Instant::now()),
            stuck: false,
            stuck_since: None,
            unread: false,
            strange: true,
        }))
    }

    /// A request head has begun.
    pub(super) fn heard(&self) {
        let mut marks = self.0.lock();
        if marks.phase == Phase::Idle {
            marks.enter(Phase::Head);
        }
    }

    /// A request head is complete; `unread` says whether a body follows.
    pub(super) fn asked(&self, unread: bool) {
        let mut marks = self.0.lock();
        marks.enter(Phase::Answering);
        marks.unread = unread;
    }

    /// Somebody was let in, or turned away: who was let in before may come with a token that is not good any more.
    pub(super) fn met(&self, let_in: bool) {
        self.0.lock().strange = !let_in;
    }

    /// Since when a connection of somebody who was not let in asks nothing, or does not take what it is answered.
    pub(super) fn strange_since(&self) -> Option<Instant> {
        let marks = self.0.lock();
        match marks.phase {
            Phase::Head | Phase::Idle if marks.strange => marks.since,
            Phase::Answering if marks.strange && marks.stuck => marks.since,
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

    /// The answer was written, or given up.
    pub(super) fn answered(&self) {
        self.0.lock().enter(Phase::Idle);
    }

    /// The client takes nothing for now.
    pub(super) fn stuck(&self) {
        self.0.lock().stuck = true;
    }

    /// The client takes again.
    pub(super) fn unstuck(&self) {
        let mut marks = self.0.lock();
        marks.stuck = false;
        marks.stuck_since = None;
    }

    /// The limit that the connection is over, if any, for the watch that looks.
    pub(super) fn overdue(&self, limits: &Limits) -> Option<&'static str> {
        self.0.lock().overdue(limits, Instant::now())
    }
}

impl Marks {
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        // Of strangers the one goes first that has been there longest.
        self.since = self.strange.then(Instant::now);
    }

    fn overdue(&mut self, limits: &Limits, now: Instant) -> Option<&'static str> {
        let lasts = now - *self.since.get_or_insert(now);
        if self.stuck && now - *self.stuck_since.get_or_insert(now) >= limits.write_time {
            return Some("the client does not read its answer");
        }
        match self.phase {
            Phase::Head if lasts >= limits.head_time => Some("no whole request head came"),
            Phase::Idle if lasts >= limits.idle_time => Some("no further request came"),
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
            pulse.overdue(&limits);
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
    async fn a_phase_lasts_since_the_watch_has_seen_it_unless_it_is_that_of_a_stranger() {
        let limits = Limits::default();
        let pulse = Pulse::new();
        tokio::time::advance(limits.head_time).await;
        assert!(pulse.overdue(&limits).is_some(), "a stranger");
        pulse.met(true);
        pulse.answered();
        tokio::time::advance(limits.idle_time).await;
        assert_eq!(pulse.overdue(&limits), None, "seen for the first time");
        tokio::time::advance(limits.idle_time).await;
        assert!(pulse.overdue(&limits).is_some());
        pulse.heard();
        assert_eq!(pulse.overdue(&limits), None, "another phase");
    }

    #[tokio::test(start_paused = true)]
    async fn sec_05_only_who_was_not_let_in_and_asks_nothing_is_a_stranger() {
        let pulse = Pulse::new();
        let opened = Instant::now();
        assert_eq!(pulse.strange_since(), Some(opened));
        pulse.asked(false);
        assert_eq!(pulse.strange_since(), None);
        pulse.stuck();
        assert_eq!(
            pulse.strange_since(),
            Some(opened),
            "who does not read has no right to stay"
        );
        pulse.unstuck();
        tokio::time::advance(Duration::from_secs(1)).await;
        pulse.answered();
        assert_eq!(pulse.strange_since(), Some(Instant::now()));
        pulse.met(true);
        assert_eq!(pulse.strange_since(), None);
        pulse.asked(false);
        pulse.met(false);
        pulse.answered();
        assert_eq!(
            pulse.strange_since(),
            Some(Instant::now()),
            "who is not let in any more is a stranger again"
        );
    }
}
