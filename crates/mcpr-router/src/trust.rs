//! Whether the last calls to a backend went well.
//!
//! A backend that is connected may still fail whatever it gets. After some failures in a row it gets
//! no calls for a while; then one may try, and what comes of that one decides.

use std::time::Duration;

use tokio::time::Instant;

/// How many failures in a row cost the trust.
const STRIKES: u32 = 3;

/// For how long, the first time; each further time twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// At the most.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What is known of one backend.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trust {
    strikes: u32,
    /// How often in a row it was lost.
    lost: u32,
    /// When it may be tried.
    until: Option<Instant>,
    /// Whether somebody is trying.
    tried: bool,
}

impl Trust {
    /// Whether it may get a call.
    pub(crate) fn is_given(&self, now: Instant) -> bool {
        match self.until {
            None => true,
            Some(until) => now >= until && !self.tried,
        }
    }

    /// How long it gets none, if so.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// It gets a call.
    pub(crate) fn take(&mut self, now: Instant) {
        self.tried = self.until.is_some_and(|until| now >= until);
    }

    /// It has answered.
    pub(crate) fn confirm(&mut self) {
        *self = Self::default();
    }

    /// It was tried, and nothing is known of the outcome.
    pub(crate) fn give_back(&mut self) {
        self.tried = false;
    }

    /// It has failed; true if that costs its trust.
    pub(crate) fn strike(&mut self, now: Instant) -> bool {
        self.strikes += 1;
        let in_doubt = self.until.is_some();
        if self.strikes < STRIKES && !in_doubt || in_doubt && !self.tried {
            return false;
        }
        self.until = Some(
            now + FIRST_PAUSE
                .saturating_mul(1 << self.lost.min(8))
                .min(LONGEST_PAUSE),
        );
        self.lost += 1;
        self.tried = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens to a backend, and how it stands after that.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Fails,
        Answers,
        Taken,
        Wait(u64),
    }

    use Event::{Answers, Fails, Taken, Wait};

    fn is_given_after(events: &[Event]) -> bool {
        let (mut trust, mut now) = (Trust::default(), Instant::now());
        for event in events {
            match event {
                Fails => _ = trust.strike(now),
                Answers => trust.confirm(),
                Taken => trust.take(now),
                Wait(millis) => now += Duration::from_millis(*millis),
            }
        }
        trust.is_given(now)
    }

    #[tokio::test(start_paused = true)]
    async fn lb_03_three_failures_in_a_row_cost_the_trust_for_a_second() {
        assert!(is_given_after(&[Fails, Fails]));
        assert!(is_given_after(&[Fails, Fails, Answers, Fails, Fails]));
        assert!(!is_given_after(&[Fails, Fails, Fails]));
        assert!(!is_given_after(&[Fails, Fails, Fails, Wait(999)]));
        assert!(is_given_after(&[Fails, Fails, Fails, Wait(1000)]));
    }

    #[tokio::test(start_paused = true)]
    async fn lb_05_one_call_tries_whether_it_is_back() {
        let lost = [Fails, Fails, Fails, Wait(1000), Taken];
        let then = |events: &[Event]| is_given_after(&[&lost[..], events].concat());

        assert!(!then(&[]), "one at a time");
        assert!(then(&[Answers]));
        assert!(!then(&[Fails, Wait(1999)]), "the pause doubles");
        assert!(then(&[Fails, Wait(2000)]));
        assert!(!then(&[Fails, Wait(2000), Taken, Fails, Wait(3999)]));
        assert!(
            then(&[Answers, Fails, Fails]),
            "an answer makes good all that was"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn lb_03_failures_of_calls_from_before_count_once() {
        assert!(is_given_after(&[Fails, Fails, Fails, Fails, Fails, Wait(1000)]));
    }

    #[tokio::test(start_paused = true)]
    async fn lb_05_the_pause_has_an_end() {
        let mut trust = Trust::default();
        let mut now = Instant::now();
        for _ in 0..STRIKES {
            trust.strike(now);
        }
        for _ in 0..20 {
            now += trust.pause(now).expect("it is not trusted");
            trust.take(now);
            trust.strike(now);
        }
        assert_eq!(trust.pause(now), Some(LONGEST_PAUSE));
    }

    #[tokio::test(start_paused = true)]
    async fn lb_05_a_try_without_an_outcome_leaves_the_next_one_free() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        for _ in 0..STRIKES {
            trust.strike(now);
        }
        let later = now + FIRST_PAUSE;
        trust.take(later);
        assert!(!trust.is_given(later));

        trust.give_back();

        assert!(trust.is_given(later));
    }
}
