//! How many requests a principal may send.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// So many requests in such a time, such as `10/s`. As many may come at once; after that each request
/// that was made comes back in its part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Rate {
    count: u32,
    per: Per,
}

/// The time that a rate is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Per {
    Second,
    Minute,
    Hour,
}

/// A text that is no rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate; write one such as 10/s, 600/m or 5000/h")]
pub struct InvalidRate(String);

/// What is left of a rate.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// How many requests may come now; the part of the next that is there already counts too.
    left: f64,
}

impl Rate {
    const MOST: u32 = 1_000_000;

    /// How long one request takes to come back.
    pub fn interval(self) -> Duration {
        self.per.time() / self.count
    }
}

impl Bucket {
    /// All of a rate.
    pub fn full(rate: Rate) -> Self {
        Self {
            left: f64::from(rate.count),
        }
    }

    /// Gives back what comes back in this time; whether all of it is there then.
    pub fn refill(&mut self, rate: Rate, passed: Duration) -> bool {
        let full = f64::from(rate.count);
        let back = passed.as_secs_f64() / rate.interval().as_secs_f64();
        self.left = (self.left + back).min(full);
        self.left >= full
    }

    /// Takes so many requests. More than the rate has at all are taken when it is full, and then have
    /// to come back.
    ///
    /// # Errors
    ///
    /// How long to wait until they can be taken.
    pub fn take(&mut self, rate: Rate, requests: usize) -> Result<(), Duration> {
        #[expect(clippy::cast_precision_loss, reason = "no message holds so many")]
        let wanted = requests as f64;
        let missing = wanted.min(f64::from(rate.count)) - self.left;
        if missing > 0.0 {
            return Err(rate.interval().mul_f64(missing));
        }
        self.left -= wanted;
        Ok(())
    }
}

impl Per {
    const ALL: [(&'static str, Self); 3] = [("s", Self::Second), ("m", Self::Minute), ("h", Self::Hour)];

    fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
        })
    }
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let read = || {
            let (count, per) = text.split_once('/')?;
            let count = count.trim().parse::<u32>().ok()?;
            let (_, per) = Per::ALL.into_iter().find(|(unit, _)| *unit == per.trim())?;
            (1..=Self::MOST).contains(&count).then_some(Self { count, per })
        };
        read().ok_or_else(|| InvalidRate(text.to_owned()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = Per::ALL.iter().find(|(_, per)| *per == self.per);
        f.pad(&format!("{}/{}", self.count, unit.map_or("s", |(unit, _)| unit)))
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl TryFrom<String> for Rate {
    type Error = InvalidRate;

    fn try_from(text: String) -> Result<Self, InvalidRate> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn a_rate_is_read_as_people_write_it_and_reads_back() {
        for text in ["1/s", "600/m", "5000/h", "1000000/h"] {
            assert_eq!(rate(text).to_string(), text);
        }
        assert_eq!(rate(" 10 / s ").to_string(), "10/s");
        assert_eq!(rate("600/m").interval(), Duration::from_millis(100));
        for text in ["", "10", "/s", "0/s", "-1/s", "1.5/s", "10/d", "1000001/s", "off"] {
            assert_eq!(text.parse::<Rate>(), Err(InvalidRate(text.to_owned())));
        }
    }

    #[test]
    fn as_many_come_at_once_and_then_each_in_its_time() {
        let rate = rate("10/s");
        let mut bucket = Bucket::full(rate);
        assert!((0..10).all(|_| bucket.take(rate, 1).is_ok()));
        assert_eq!(bucket.take(rate, 1), Err(Duration::from_millis(100)));

        assert!(!bucket.refill(rate, Duration::from_millis(250)));
        assert!((0..2).all(|_| bucket.take(rate, 1).is_ok()));
        assert_eq!(bucket.take(rate, 1), Err(Duration::from_millis(50)));

        assert!(bucket.refill(rate, Duration::from_secs(3600)));
        assert!((0..10).all(|_| bucket.take(rate, 1).is_ok()));
        assert!(bucket.take(rate, 1).is_err(), "what is not used is not saved up");
    }

    #[test]
    fn more_than_there_is_at_all_is_taken_when_it_is_full() {
        let rate = rate("10/s");
        let mut bucket = Bucket::full(rate);
        assert!(bucket.take(rate, 25).is_ok());
        assert_eq!(bucket.take(rate, 1), Err(Duration::from_millis(1600)));
        assert_eq!(bucket.take(rate, 25), Err(Duration::from_millis(2500)));
    }
}
