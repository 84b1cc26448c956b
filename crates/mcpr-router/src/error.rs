//! Why no replica could be leased, or why a call to one failed.

use std::time::Duration;

use mcpr_registry::ServerName;
use mcpr_transport::{Failed, FailedKind, Sent};

/// Whose fault a failure is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    /// The client's.
    Downstream,
    /// The server's, or the way to it.
    Upstream,
    /// mcpr's own.
    Gateway,
}

/// Whether trying again is wise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// The server cannot have seen the request.
    Safe,
    /// It may have, and may have done what was asked.
    Unsafe,
    /// It would end the same way.
    No,
}

/// A request could not be brought to its server.
#[derive(Clone, Debug, thiserror::Error)]
#[error("server `{server}` {kind}")]
pub struct RouteError {
    /// The server.
    pub server: ServerName,
    /// What happened.
    pub kind: RouteErrorKind,
    /// Why, in the words of whoever knows.
    pub reason: Option<String>,
    /// When trying again makes sense.
    pub retry_after: Option<Duration>,
}

/// What happened on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouteErrorKind {
    /// There is no such server any more.
    #[error("is no longer configured")]
    Removed,
    /// Its entry in the configuration cannot be used.
    #[error("is misconfigured")]
    Misconfigured,
    /// Not reachable.
    #[error("is not reachable")]
    Down,
    /// Wants credentials.
    #[error("asks for authorization")]
    AuthRequired,
    /// Inside its start.
    #[error("is starting")]
    Starting,
    /// The queue is full, or the wait in it was too long.
    #[error("is busy")]
    Busy,
    /// It ended, or the way to it did, while it worked on the request.
    #[error("was lost while it worked on the request; whether it was done is not known")]
    OutcomeUnknown,
    /// It answered with something that is no MCP.
    #[error("gave an answer that is no MCP")]
    Malformed,
    /// The time limit passed.
    #[error("did not answer within the time limit")]
    TimedOut,
}

impl RouteError {
    /// An error without more to say.
    pub fn new(server: ServerName, kind: RouteErrorKind) -> Self {
        Self {
            server,
            kind,
            reason: None,
            retry_after: None,
        }
    }

    /// The same with a reason.
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..self
        }
    }

    /// What a failure of the transport means for the request.
    pub fn of(server: ServerName, failed: &Failed) -> Self {
        let kind = match (failed.sent, failed.kind) {
            (_, FailedKind::Unauthorized(_)) => RouteErrorKind::AuthRequired,
            (_, FailedKind::TimedOut) => RouteErrorKind::TimedOut,
            (
                _,
                FailedKind::Malformed | FailedKind::TooLarge | FailedKind::Status(_) | FailedKind::Redirected,
            ) => RouteErrorKind::Malformed,
            (Sent::No, _) => RouteErrorKind::Down,
            (Sent::Maybe, _) => RouteErrorKind::OutcomeUnknown,
        };
        Self::new(server, kind).because(failed.to_string())
    }

    /// Whether trying again is wise.
    pub fn retry(&self) -> Retry {
        match self.kind {
            RouteErrorKind::Down | RouteErrorKind::Starting | RouteErrorKind::Busy => Retry::Safe,
            RouteErrorKind::OutcomeUnknown | RouteErrorKind::TimedOut | RouteErrorKind::Malformed => {
                Retry::Unsafe
            }
            RouteErrorKind::Removed | RouteErrorKind::Misconfigured | RouteErrorKind::AuthRequired => {
                Retry::No
            }
        }
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self.kind {
            RouteErrorKind::Removed | RouteErrorKind::Busy => Blame::Gateway,
            _ => Blame::Upstream,
        }
    }
}
