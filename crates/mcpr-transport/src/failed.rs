//! Why a message could not be moved.

use std::fmt;

/// A connection failed its user.
///
/// `Display` is a sentence for people and for the log: it holds no secret (no header value, no query
/// string), and nothing of what the server has said.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{detail}")]
pub struct Failed {
    /// Whether the server can have seen the message.
    pub sent: Sent,
    /// What happened.
    pub kind: FailedKind,
    /// The same for people, with what is known about it.
    pub detail: String,
    /// What the server has said instead, from its beginning. It may repeat what it was sent, so it is
    /// for whoever asked, and not for the log.
    pub said: Option<String>,
}

/// Whether the other side can have seen a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// It cannot: sending the message again, here or elsewhere, is safe.
    No,
    /// It may have: only what is harmless twice may be sent again.
    Maybe,
}

/// What happened to a message or a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FailedKind {
    /// Nobody answers: refused, unknown host, no such command.
    Unreachable,
    /// The connection or the process ended.
    Closed,
    /// The server no longer knows the session (HTTP 404, or what some servers say instead).
    SessionExpired,
    /// The server wants credentials (HTTP 401 or 403).
    Unauthorized(u16),
    /// An HTTP status that is no answer.
    Status(u16),
    /// The server sends us somewhere we do not go.
    Redirected,
    /// The answer is no MCP: wrong content type, no JSON.
    Malformed,
    /// A line, body or event is over its limit.
    TooLarge,
    /// Nothing came in time.
    TimedOut,
}

impl Failed {
    /// A failure of a message that the server cannot have seen.
    pub fn unsent(kind: FailedKind, detail: impl fmt::Display) -> Self {
        Self {
            sent: Sent::No,
            kind,
            detail: detail.to_string(),
            said: None,
        }
    }

    /// A failure of a message that the server may have seen.
    pub fn maybe_sent(kind: FailedKind, detail: impl fmt::Display) -> Self {
        Self {
            sent: Sent::Maybe,
            kind,
            detail: detail.to_string(),
            said: None,
        }
    }

    /// The same with what the server has said.
    #[must_use]
    pub fn saying(self, said: impl Into<String>) -> Self {
        Self {
            said: Some(said.into()).filter(|said| !said.is_empty()),
            ..self
        }
    }

    /// The sentence with what the server has said.
    pub fn whole(&self) -> String {
        match &self.said {
            Some(said) => format!("{self}: {said}"),
            None => self.detail.clone(),
        }
    }

    /// The same where what the server has said is for everybody: it was told nothing of a client.
    #[must_use]
    pub fn in_full(self) -> Self {
        Self {
            detail: self.whole(),
            said: None,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_04_a_failure_reads_without_what_the_server_has_said() {
        let failed = Failed::maybe_sent(FailedKind::Status(400), "it answers 400").saying("bad args");
        assert_eq!(failed.to_string(), "it answers 400");
        assert_eq!(failed.whole(), "it answers 400: bad args");
        assert_eq!(failed.in_full().to_string(), "it answers 400: bad args");
        assert_eq!(Failed::unsent(FailedKind::Closed, "x").saying("").whole(), "x");
    }
}
