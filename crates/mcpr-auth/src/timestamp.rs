//! Points in time as mcpr stores and shows them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A point in time, to the second, between the years 1970 and 9999.
///
/// Stored as seconds since 1970-01-01 UTC ([`Timestamp::unix`]), shown and serialised as RFC 3339
/// text: `2027-01-15T08:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(i64);

/// A text that is no RFC 3339 time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write it like 2027-01-15T08:00:00Z")]
pub struct InvalidTimestamp(String);

impl Timestamp {
    /// The last second that RFC 3339 can write.
    const MAX: i64 = 253_402_300_799;

    /// The present, by the system's clock.
    pub fn now() -> Self {
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self::from_unix(0).after(since_1970)
    }

    /// The time `seconds` after 1970-01-01 UTC; what lies outside the range becomes its nearest end.
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.clamp(0, Self::MAX))
    }

    /// Seconds since 1970-01-01 UTC.
    pub fn unix(self) -> i64 {
        self.0
    }

    /// The time `duration` after this one, whole seconds only.
    pub fn after(self, duration: Duration) -> Self {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Self::from_unix(self.0.saturating_add(seconds))
    }
}

/// The milliseconds since 1970-01-01 UTC that an RFC 3339 text means: for times that are finer than a
/// [`Timestamp`].
///
/// # Errors
///
/// [`InvalidTimestamp`] if it means none.
pub fn unix_millis(text: &str) -> Result<i64, InvalidTimestamp> {
    let invalid = || InvalidTimestamp(text.to_owned());
    let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| invalid())?;
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).map_err(|_| invalid())
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = OffsetDateTime::from_unix_timestamp(self.0).map_err(|_| fmt::Error)?;
        f.write_str(&time.format(&Rfc3339).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidTimestamp(text.to_owned()))?;
        Ok(Self::from_unix(time.unix_timestamp()))
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_as_rfc_3339() {
        let shown: Vec<_> = [0, 1_800_000_000, i64::MAX]
            .map(|s| Timestamp::from_unix(s).to_string())
            .to_vec();

        assert_eq!(
            shown,
            [
                "1970-01-01T00:00:00Z",
                "2027-01-15T08:00:00Z",
                "9999-12-31T23:59:59Z"
            ]
        );
    }

    #[test]
    fn a_shown_time_reads_back() {
        let time = Timestamp::from_unix(1_800_000_000);

        assert_eq!(time.to_string().parse(), Ok(time));
        assert_eq!("2027-01-15T09:00:00+01:00".parse(), Ok(time));
        assert!("tomorrow".parse::<Timestamp>().is_err());
    }

    #[test]
    fn a_time_can_be_read_to_the_millisecond() {
        assert_eq!(unix_millis("2027-01-15T08:00:00.123Z"), Ok(1_800_000_000_123));
        assert_eq!(unix_millis("2027-01-15T09:00:00+01:00"), Ok(1_800_000_000_000));
        assert!(unix_millis("tomorrow").is_err());
    }

    #[test]
    fn adding_never_leaves_the_range() {
        let end = Timestamp::from_unix(0).after(Duration::MAX);

        assert_eq!(end.unix(), Timestamp::MAX);
    }
}
