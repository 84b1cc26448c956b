//! Revisions of MCP, and the two eras they fall into.

use std::fmt;
use std::str::FromStr;

/// A revision of the protocol that mcpr speaks, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Version {
    /// The first one: stdio and HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP, batches, annotations.
    V2025_03_26,
    /// Structured results, elicitation; batches removed.
    V2025_06_18,
    /// The last of the session era.
    V2025_11_25,
    /// Stateless: no handshake, each request says its version and capabilities.
    V2026_07_28,
}

/// How two peers understand each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: opened by `initialize`.
    Session,
    /// 2026-07-28: every request stands for itself.
    Stateless,
}

/// A version text that mcpr does not speak.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("protocol version `{0}` is not supported")]
pub struct UnknownVersion(pub String);

impl Version {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision with a handshake.
    pub const NEWEST_SESSION: Self = Self::V2025_11_25;

    /// The newest revision without one.
    pub const NEWEST_STATELESS: Self = Self::V2026_07_28;

    /// The era that the revision belongs to.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 {
            Era::Stateless
        } else {
            Era::Session
        }
    }

    /// The date that names the revision on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// What `initialize` is answered with: the asked revision if it has a handshake, else our newest that has one.
    pub fn negotiate(asked: &str) -> Self {
        let known = asked
            .parse::<Self>()
            .ok()
            .filter(|version| version.era() == Era::Session);
        known.unwrap_or(Self::NEWEST_SESSION)
    }
}

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let known = Self::ALL.into_iter().find(|version| version.as_str() == text);
        known.ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "session",
            Self::Stateless => "stateless",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b33_a_known_version_is_echoed_and_an_unknown_one_answered_with_the_newest() {
        let answers = [
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "2026-07-28",
            "2099-01-01",
        ]
        .map(|asked| Version::negotiate(asked).as_str());
        assert_eq!(
            answers,
            [
                "2024-11-05",
                "2025-03-26",
                "2025-06-18",
                "2025-11-25",
                "2025-11-25",
                "2025-11-25"
            ]
        );
    }
}
