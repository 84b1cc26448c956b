//! Notices when somebody sets the clock.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// What a clock that nobody sets may be off by: it is slewed by seconds, not by minutes.
const SLACK: Duration = Duration::from_secs(120);

/// How long it is not trusted after it was set: whoever sets it wrongly has time to set it right.
const DISTRUST: Duration = Duration::from_secs(3500);

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
}
