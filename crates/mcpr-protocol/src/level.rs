//! How grave a log message is (every revision, logging: the words of RFC 5424).

use std::fmt;
use std::str::FromStr;

/// How grave a log message is, the least grave first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LogLevel {
    /// For those who look for a fault.
    Debug,
    /// The usual course of things.
    Info,
    /// Usual, but worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part no longer works.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

/// A text that is no level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be one of debug, info, notice, warning, error, critical, alert, emergency")]
pub struct UnknownLevel;

impl LogLevel {
    /// Every level, the least grave first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let known = Self::ALL.into_iter().find(|level| level.as_str() == text);
        known.ok_or(UnknownLevel)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_read_back_and_they_rise() {
        assert!(
            LogLevel::ALL
                .iter()
                .all(|level| level.as_str().parse() == Ok(*level))
        );
        assert!(LogLevel::ALL.is_sorted());
        assert_eq!("loud".parse::<LogLevel>(), Err(UnknownLevel));
    }
}
