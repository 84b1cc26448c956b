//! Why no replica could be leased, or why a call to one failed.

use std::sync::Arc;
use std::time::Duration;

use mcpr_registry::ServerName;
use mcpr_transport::{Failed, FailedKind, Sent};
use mcpr_upstream::{Phase, Server, Status, Upstream};

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
    /// What the server has said instead of an answer, which may repeat what it was sent.
    pub said: Option<String>,
    /// When trying again makes sense.
    pub retry_after: Option<Duration>,
    /// What is wrong with each backend, where the server has several.
    pub backends: Vec<BackendFault>,
}

/// Why one of several backends could not take a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackendFault {
    /// What tells it from the others.
    pub backend: Arc<str>,
    /// Why.
    pub reason: String,
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
    /// None of its backends could take the request.
    #[error("has no backend available")]
    NoBackend,
    /// Wants credentials.
    #[error("asks for authorization")]
    AuthRequired,
    /// Inside its start.
    #[error("is starting")]
    Starting,
    /// The queue is full, or the wait in it was too long; or the server itself says so (429).
    #[error("is busy")]
    Busy,
    /// It ended, or the way to it did, while it worked on the request.
    #[error("was lost while it worked on the request; whether it was done is not known")]
    OutcomeUnknown,
    /// It says by a status of HTTP, or a redirect, that it has not looked at the request.
    #[error("turned the request away")]
    TurnedAway,
    /// It answered with something that is no MCP.
    #[error("gave an answer that is no MCP")]
    Malformed,
    /// It answered with more than a message may have.
    #[error("gave an answer that is too long")]
    TooLarge,
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
            said: None,
            retry_after: None,
            backends: Vec::new(),
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
            (Sent::No, FailedKind::Status(429)) => RouteErrorKind::Busy,
            (_, FailedKind::TooLarge) => RouteErrorKind::TooLarge,
            (Sent::No, FailedKind::Status(_) | FailedKind::Redirected) => RouteErrorKind::TurnedAway,
            (_, FailedKind::Malformed | FailedKind::Status(_) | FailedKind::Redirected) => {
                RouteErrorKind::Malformed
            }
            (Sent::No, _) => RouteErrorKind::Down,
            (Sent::Maybe, _) => RouteErrorKind::OutcomeUnknown,
        };
        Self {
            said: failed.said.clone(),
            ..Self::new(server, kind).because(failed.to_string())
        }
    }

    /// Whether trying again is wise.
    pub fn retry(&self) -> Retry {
        match self.kind {
            RouteErrorKind::Down
            | RouteErrorKind::NoBackend
            | RouteErrorKind::Starting
            | RouteErrorKind::Busy => Retry::Safe,
            RouteErrorKind::OutcomeUnknown
            | RouteErrorKind::TimedOut
            | RouteErrorKind::Malformed
            | RouteErrorKind::TooLarge => Retry::Unsafe,
            RouteErrorKind::Removed
            | RouteErrorKind::Misconfigured
            | RouteErrorKind::AuthRequired
            | RouteErrorKind::TurnedAway => Retry::No,
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

/// Why a server without a replica cannot be used.
pub fn unavailable(server: &Server, status: &Status) -> RouteError {
    let kind = match status.phase {
        Phase::Idle | Phase::Starting => RouteErrorKind::Starting,
        Phase::Stopped => RouteErrorKind::Removed,
        _ if server.only_backend().is_none() => return no_backend(server, status, |_| None),
        Phase::AuthRequired { .. } => RouteErrorKind::AuthRequired,
        Phase::Ready | Phase::Down { .. } => RouteErrorKind::Down,
    };
    let soon = matches!(kind, RouteErrorKind::Starting).then_some(server.treatment().restart.min);
    let error = RouteError {
        retry_after: status.retry_in().or(soon),
        ..RouteError::new(server.name.clone(), kind)
    };
    match status.reason() {
        Some(reason) => error.because(reason),
        None => error,
    }
}

/// All backends of a server failed: `of_call` knows why they failed this very call, else their
/// states tell.
pub(crate) fn no_backend(
    server: &Server,
    status: &Status,
    of_call: impl Fn(&Arc<Upstream>) -> Option<BackendFault>,
) -> RouteError {
    let fault = |backend: &Arc<Upstream>| {
        let status = backend.status();
        let reason = status.reason().map_or_else(|| state(&status), str::to_owned);
        of_call(backend).unwrap_or_else(|| BackendFault {
            backend: backend.label.clone(),
            reason,
        })
    };
    let backends: Vec<BackendFault> = server.backends.iter().map(fault).collect();
    let texts = backends
        .iter()
        .map(|fault| format!("{}: {}", fault.backend, fault.reason));
    let reason = texts.collect::<Vec<_>>().join("; ");
    RouteError {
        retry_after: status.retry_in(),
        backends,
        ..RouteError::new(server.name.clone(), RouteErrorKind::NoBackend)
    }
    .because(reason)
}

fn state(status: &Status) -> String {
    let state = match status.phase {
        Phase::Idle => "it sleeps",
        Phase::Starting => "it is starting",
        Phase::Ready => "it has not what is asked for",
        Phase::Down { .. } | Phase::AuthRequired { .. } | Phase::Stopped => "it is not to be had",
    };
    state.to_owned()
}
