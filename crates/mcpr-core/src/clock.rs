//! Notices when somebody sets the clock.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// What a clock that nobody sets may be off by: it is slewed by seconds, not by minutes.
const SLACK: Duration = Duration::from_secs(120);

/// How long it is not trusted after it was set: whoever sets it wrongly has time to set it right.
const DISTRUST: Duration = Duration::from_secs(3500);

/// So long may nothing have been recorded before a start, however short what is recorded is kept.
const ABSENCE: Duration = Duration::from_secs(3 * 24 * 3600);

/// Compares the time of day with the time that has passed.
///
/// What is forgotten by its age is forgotten for good, so a clock that has just jumped (a wrong date, a
/// dead battery, a machine that slept) decides about nothing for a while.
#[derive(Debug)]
pub(crate) struct Clock {
    wall: SystemTime,
    passed: Instant,
    set: Option<Instant>,
}

impl Clock {
    /// A clock that is trusted as it is now.
    pub(crate) fn new(wall: SystemTime, passed: Instant) -> Self {
        Self {
            wall,
            passed,
            set: None,
        }
    }

    /// Whether it can be trusted now.
    pub(crate) fn is_steady(&mut self, wall: SystemTime, passed: Instant) -> bool {
        let due = self.wall + passed.duration_since(self.passed);
        let off = wall.duration_since(due).unwrap_or_else(|early| early.duration());
        (self.wall, self.passed) = (wall, passed);
        if off > SLACK {
            tracing::warn!(
                seconds = off.as_secs(),
                "the clock of this machine has jumped; for an hour no past calls are forgotten for their age"
            );
            self.set = Some(passed);
        }
        self.set.is_none_or(|set| passed.duration_since(set) >= DISTRUST)
    }

    /// Compares it at the start with when something was recorded last. That most of what is kept is to be forgotten at
    /// once is rather a wrong date than a long absence, and after one it does no harm to wait.
    pub(crate) fn compare(&mut self, last: SystemTime, keep: Duration) {
        let absence = self.wall.duration_since(last).unwrap_or_default();
        if absence > ABSENCE.max(keep / 2) {
            tracing::warn!(
                days = absence.as_secs() / (24 * 3600),
                "by the clock of this machine the last call was long ago; in case it is wrong, for an hour no past \
                 calls are forgotten for their age"
            );
            self.set = Some(self.passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_06_a_clock_that_jumped_is_not_trusted_for_an_hour() {
        let (wall, start) = (
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
            Instant::now(),
        );
        let hours = |count: u64| Duration::from_secs(3600 * count);
        let year = hours(365 * 24);
        let mut clock = Clock::new(wall, start);

        assert!(clock.is_steady(wall + hours(1), start + hours(1)));
        assert!(!clock.is_steady(wall + year + hours(2), start + hours(2)));
        assert!(
            !clock.is_steady(wall + hours(2), start + hours(2) + SLACK / 2),
            "and back"
        );
        assert!(clock.is_steady(wall + hours(3), start + hours(3) + SLACK / 2));
        assert!(!clock.is_steady(wall, start + hours(4)), "and into the past");
        assert!(clock.is_steady(wall + hours(1), start + hours(5)));
    }

    #[test]
    fn log_06_a_clock_that_is_wrong_at_the_start_is_not_trusted_for_an_hour() {
        let (wall, start) = (
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
            Instant::now(),
        );
        let days = |count: u64| Duration::from_secs(24 * 3600 * count);
        let hour = Duration::from_secs(3600);
        let trusts = |ahead: Duration, keep: Duration| {
            let mut clock = Clock::new(wall + ahead, start);
            clock.compare(wall, keep);
            let at_once = clock.is_steady(wall + ahead, start);
            assert!(
                clock.is_steady(wall + ahead + hour, start + hour),
                "an hour later it is"
            );
            at_once
        };

        assert!(!trusts(days(700), days(30)));
        assert!(!trusts(days(16), days(30)));
        assert!(trusts(days(14), days(30)), "who was on holiday");
        assert!(trusts(days(2), hour), "who keeps little");
        assert!(!trusts(days(4), hour));
    }
}
