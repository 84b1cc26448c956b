//! Whether the last calls to a backend went well.
//!
//! A backend that is connected may still fail whatever it gets. After some failures in a row it gets
//! no calls for a while; then one may try, and what comes of that one decides. One that takes long
//! decides nothing: after the same while the next may try too.

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
    /// The one that tries, by a number of its own.
    tries: Option<Try>,
    /// How many have tried.
    count: u64,
}

/// One call that finds out whether a backend is back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Try(u64);

impl Trust {
    /// Whether it may get a call.
    pub(crate) fn is_given(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// How long it gets none, if so.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(now);
        (self.tries.is_none() && !left.is_zero()).then_some(left)
    }

    /// It gets a call; tells if that one is to try whether it is back. The next may try after
    /// another pause, if nothing has come of this one by then.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Try> {
        self.until.filter(|until| now >= *until)?;
        self.until = Some(now + pause(self.lost.saturating_sub(1)));
        self.count += 1;
        self.tries = Some(Try(self.count));
        self.tries
    }

    /// It has answered.
    pub(crate) fn confirm(&mut self) {
        *self = Self {
            count: self.count,
            ..Self::default()
        };
    }

    /// A call has left that tried, and nothing may be known of the outcome.
    pub(crate) fn give_back(&mut self, tried: Try, now: Instant) {
        if self.tries == Some(tried) {
            self.tries = None;
            self.until = Some(now);
        }
    }

    /// It has failed a call, which tried or did not; true if that costs its trust.
    pub(crate) fn strike(&mut self, tried: Option<Try>, now: Instant) -> bool {
        self.strikes += 1;
        let costs = match self.until {
            None => self.strikes >= STRIKES,
            Some(_) => tried.is_some() && self.tries == tried,
        };
        if costs {
            self.until = Some(now + pause(self.lost));
            self.lost += 1;
            self.tries = None;
        }
        costs
    }
}

/// How long a backend gets no calls that was lost so often before.
fn pause(lost: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << lost.min(8)).min(LONGEST_PAUSE)
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
        let mut tried = None;
        for event in events {
            match event {
                Fails => _ = trust.strike(tried.take(), now),
                Answers => trust.confirm(),
                Taken => tried = trust.take(now),
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
            trust.strike(None, now);
        }
        for _ in 0..20 {
            now += trust.pause(now).expect("it is not trusted");
            let tried = trust.take(now);
            trust.strike(tried, now);
        }
        assert_eq!(trust.pause(now), Some(LONGEST_PAUSE));
    }

    /// One that has just lost the trust, and the time at which it may be tried.
    fn lost() -> (Trust, Instant) {
        let (mut trust, now) = (Trust::default(), Instant::now());
        for _ in 0..STRIKES {
            trust.strike(None, now);
        }
        (trust, now + FIRST_PAUSE)
    }

    #[tokio::test(start_paused = true)]
    async fn lb_05_a_try_without_an_outcome_leaves_the_next_one_free() {
        let (mut trust, later) = lost();
        let tried = trust.take(later).expect("it is a try");
        assert!(!trust.is_given(later));

        trust.give_back(tried, later);

        assert!(trust.is_given(later));
    }

    #[tokio::test(start_paused = true)]
    async fn lb_05_a_try_that_takes_long_keeps_nobody_out_for_longer_than_the_pause() {
        let (mut trust, later) = lost();
        let long = trust.take(later).expect("it is a try");
        assert!(!trust.is_given(later + FIRST_PAUSE - Duration::from_millis(1)));

        let later = later + FIRST_PAUSE;
        assert!(trust.is_given(later));
        let next = trust.take(later).expect("it is a try too");

        trust.give_back(long, later);
        assert!(!trust.is_given(later), "who leaves is not who tries");
        assert!(
            !trust.strike(Some(long), later),
            "nor is it his failure that counts"
        );
        assert!(trust.strike(Some(next), later));
    }

    #[tokio::test(start_paused = true)]
    async fn lb_05_a_call_from_before_that_ends_makes_no_room_for_a_second_try() {
        let (mut trust, later) = lost();
        let tried = trust.take(later);

        assert!(!trust.strike(None, later));
        assert!(!trust.is_given(later));
        assert!(trust.strike(tried, later));
        assert_eq!(trust.pause(later), Some(FIRST_PAUSE * 2));
    }
}
