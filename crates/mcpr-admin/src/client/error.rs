//! Why an operation has no output.

use std::io;
use std::time::Duration;

use http::StatusCode;

use super::Target;
use crate::{ExitCode, Failure};

/// Why an operation has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nobody listens there.
    #[error("no gateway is running at {target}")]
    NotRunning {
        /// Where.
        target: Target,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The local socket belongs to somebody else.
    #[error("the gateway at {target} is not yours to command")]
    Forbidden {
        /// Where.
        target: Target,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The address cannot be reached.
    #[error("{target} cannot be reached")]
    Unreachable {
        /// Where.
        target: Target,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The connection broke before the answer was there; whether the operation was carried out is not known.
    #[error("the connection to the gateway broke before its answer was complete")]
    Broken(#[from] hyper::Error),
    /// There was no answer in time; whether the operation was carried out is not known.
    #[error("the gateway did not answer within {0:?}")]
    TimedOut(Duration),
    /// The answer has another shape than the operation's output.
    #[error("the gateway's answer cannot be understood")]
    Unreadable(#[source] serde_json::Error),
    /// The answer has no end, or is longer than any of the operation's.
    #[error("the answer is longer than {} MiB, which no gateway's is", .0 >> 20)]
    TooLong(usize),
    /// Something else than the admin API answered.
    #[error("the answer (HTTP {0}) is not from mcpr's admin API")]
    NotAdmin(StatusCode),
    /// The gateway wants a token, or a better one; the text says why.
    #[error("{reason}")]
    Unauthorized {
        /// Who wants it.
        target: Target,
        /// What it says.
        reason: String,
    },
    /// The gateway says why it was not done.
    #[error(transparent)]
    Refused(Failure),
}

impl ClientError {
    /// How a command ends that failed like this.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotRunning { .. } | Self::Unreachable { .. } | Self::NotAdmin(_) => ExitCode::NotRunning,
            Self::Forbidden { .. } | Self::Unauthorized { .. } => ExitCode::Permission,
            Self::Broken(_) | Self::Unreadable(_) | Self::TooLong(_) => ExitCode::Failed,
            Self::TimedOut(_) => ExitCode::TimedOut,
            Self::Refused(failure) => failure.code.exit_code(),
        }
    }
}
