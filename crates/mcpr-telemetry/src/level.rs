//! How much is logged, and in which shape.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How grave an event is, and, as a setting, the least grave one that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Level {
    /// Every step; for finding a fault in mcpr itself.
    Trace,
    /// What a developer of a server or client wants to see.
    Debug,
    /// One line per request, and what changes in the life of the process.
    #[default]
    Info,
    /// Something is wrong that mcpr can live with.
    Warn,
    /// Something that was asked for could not be done.
    Error,
    /// Only what ends the process; see [`fatal!`](crate::fatal).
    Fatal,
}

/// The shape of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A line for people: time, level, message, then `key=value`.
    Pretty,
    /// One JSON object per line.
    Json,
}

/// The text is not the name of a [`Level`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a log level; use trace, debug, info, warn, error or fatal")]
pub struct UnknownLevel(String);

/// The text is not the name of a [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a log format; use pretty or json")]
pub struct UnknownFormat(String);

/// The `tracing` target whose error events count as [`Level::Fatal`].
pub const FATAL_TARGET: &str = "mcpr::fatal";

/// Logs what is about to end the process, at [`Level::Fatal`].
///
/// It takes what [`tracing::error!`] takes, without a target.
///
/// ```
/// mcpr_telemetry::fatal!(address = "127.0.0.1:3282", "the address is in use");
/// ```
#[macro_export]
macro_rules! fatal {
    ($($told:tt)+) => {
        $crate::__tracing::error!(target: $crate::FATAL_TARGET, $($told)+)
    };
}

impl Level {
    /// All levels, from the most talkative to the most silent.
    pub const ALL: [Self; 6] = [
        Self::Trace,
        Self::Debug,
        Self::Info,
        Self::Warn,
        Self::Error,
        Self::Fatal,
    ];

    /// The name as settings and JSON lines spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }

    /// The name in capitals, padded to the width of the longest.
    pub(crate) const fn padded(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => " INFO",
            Self::Warn => " WARN",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
        }
    }

    /// The level of an event with this `tracing` metadata.
    pub(crate) fn of(metadata: &tracing::Metadata<'_>) -> Self {
        match *metadata.level() {
            tracing::Level::TRACE => Self::Trace,
            tracing::Level::DEBUG => Self::Debug,
            tracing::Level::INFO => Self::Info,
            tracing::Level::WARN => Self::Warn,
            tracing::Level::ERROR if metadata.target() == FATAL_TARGET => Self::Fatal,
            tracing::Level::ERROR => Self::Error,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let named = |level: &Self| level.name().eq_ignore_ascii_case(text);
        Self::ALL
            .into_iter()
            .find(named)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

impl Format {
    /// The name as settings spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pretty => "pretty",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let named = |format: &Self| format.name().eq_ignore_ascii_case(text);
        let known = [Self::Pretty, Self::Json].into_iter().find(named);
        known.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_01_every_level_reads_back_as_written() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("WARN".parse(), Ok(Level::Warn));
    }

    #[test]
    fn log_01_an_unknown_name_is_answered_with_the_known_ones() {
        let level = "loud".parse::<Level>().unwrap_err().to_string();
        let format = "xml".parse::<Format>().unwrap_err().to_string();

        assert_eq!(
            level,
            "`loud` is not a log level; use trace, debug, info, warn, error or fatal"
        );
        assert_eq!(format, "`xml` is not a log format; use pretty or json");
    }
}
