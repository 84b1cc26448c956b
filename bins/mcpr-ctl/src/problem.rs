//! Why a command did not do what was asked.

use std::error::Error;
use std::io;

use mcpr_admin::{ClientError, ErrorCode, ExitCode, Failure, Target};
use mcpr_config::{ConfigError, Fault, VaultError, WriteError};
use mcpr_protocol::RawJson;
use serde::Serialize;

/// Why a command did not do what was asked: what, why, and what to do next.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    code: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<RawJson>,
    #[serde(skip)]
    pub(crate) exit: ExitCode,
    /// Whether there was no gateway that could have said anything.
    #[serde(skip)]
    absence: bool,
}

impl Problem {
    /// It was tried and failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure::new(ErrorCode::Failed, message).into()
    }

    /// The command line cannot be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::new(ErrorCode::Invalid, message).into()
    }

    /// It was not done in time.
    pub(crate) fn late(message: impl Into<String>) -> Self {
        Failure::new(ErrorCode::TimedOut, message).into()
    }

    /// What was named does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Failure::new(ErrorCode::NotFound, message).into()
    }

    /// The gateway is not there any more.
    pub(crate) fn not_running(message: impl Into<String>) -> Self {
        Self {
            code: "not_running",
            hint: Some("start one with `mcpr-gateway`".to_owned()),
            exit: ExitCode::NotRunning,
            ..Self::failed(message)
        }
    }

    /// The configuration is not valid, or would not be.
    pub(crate) fn config(message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            code: "invalid_config",
            hint,
            exit: ExitCode::ConfigInvalid,
            ..Self::failed(message)
        }
    }

    /// Adds more for scripts.
    pub(crate) fn data(self, data: RawJson) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    /// Adds what to do next, in place of what was said about that.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Adds what to do next, unless that was said.
    pub(crate) fn or_hint(self, hint: impl FnOnce() -> String) -> Self {
        let hint = self.hint.or_else(|| Some(hint()));
        Self { hint, ..self }
    }

    /// Whether something that was named does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.exit == ExitCode::NotFound
    }

    /// Whether there was no gateway that could have said anything; there may be one later.
    pub(crate) fn is_absence(&self) -> bool {
        self.absence
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let Failure {
            code,
            message,
            hint,
            data,
        } = failure;
        Self {
            code: code.as_str(),
            message,
            hint,
            data,
            exit: code.exit_code(),
            absence: false,
        }
    }
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        if let ClientError::Refused(failure) = error {
            return failure.into();
        }
        let (code, hint) = advice(&error);
        let message = match &error {
            // That there is no file or no listener is what the message says already.
            ClientError::NotRunning { .. } => error.to_string(),
            _ => chain(&error),
        };
        Self {
            code,
            message,
            hint: Some(hint.to_owned()),
            data: None,
            exit: error.exit_code(),
            absence: is_absence(&error),
        }
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        (&Fault::from(&error)).into()
    }
}

impl From<&Fault> for Problem {
    fn from(fault: &Fault) -> Self {
        let place = fault.place.as_ref().map(|place| format!("{place}: "));
        let message = format!("{}{}", place.unwrap_or_default(), fault.what);
        Self::config(message, fault.hint.clone())
    }
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Self {
        match &error {
            WriteError::Refused { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                let problem: Self = Failure::new(ErrorCode::Permission, chain(&error)).into();
                problem
                    .hint("run mcpr-ctl as somebody who may, or name a file of your own with --config FILE")
            }
            WriteError::Changed(_) => Self::failed(chain(&error)).hint("run the command again"),
            _ => Self::failed(chain(&error)),
        }
    }
}

impl From<VaultError> for Problem {
    fn from(error: VaultError) -> Self {
        Self::failed(chain(&error))
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::failed(chain(&error))
    }
}

fn is_absence(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::NotRunning { .. }
            | ClientError::Unreachable { .. }
            | ClientError::Broken(_)
            | ClientError::TimedOut(_)
    )
}

/// The word for scripts and the next step for people.
fn advice(error: &ClientError) -> (&'static str, &'static str) {
    match error {
        ClientError::NotRunning { .. } => (
            "not_running",
            "start one with `mcpr-gateway`, or say where it is with --socket PATH or --gateway URL",
        ),
        ClientError::Unreachable { .. } | ClientError::NotAdmin(_) => (
            "not_running",
            "check the address; `mcpr-gateway` shows its own when it starts",
        ),
        ClientError::Forbidden { .. } => ("permission", "run mcpr-ctl as the user that the gateway runs as"),
        ClientError::TimedOut(_) => (
            "timed_out",
            "wait longer with --timeout, or look into the gateway's log",
        ),
        ClientError::Unauthorized {
            target: Target::Socket { .. },
            ..
        } => (
            "permission",
            "put a token with the scope admin into MCPR_TOKEN; while the gateway is stopped, `mcpr-ctl tokens create \
             --name NAME --scope admin` makes one",
        ),
        ClientError::Unauthorized { .. } => (
            "permission",
            "put a token with the scope admin into MCPR_TOKEN; `mcpr-ctl tokens create --name NAME --scope admin` \
             on the gateway's machine makes one",
        ),
        ClientError::Unreadable(_) => ("failed", "use mcpr-ctl and mcpr-gateway of the same version"),
        _ => (
            "failed",
            "look at `mcpr-ctl status` and at the gateway's log for what became of it",
        ),
    }
}

/// An error and its causes in one line; a cause that only repeats the one above it is left out.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !texts
            .iter()
            .any(|above| above.ends_with(&text) || text.ends_with(above))
        {
            texts.push(text);
        }
        next = cause.source();
    }
    texts.join(": ")
}
