//! Why a command did not do what was asked.

use std::error::Error;
use std::io;

use mcpr_admin::ExitCode;
use mcpr_config::{ConfigError, Fault};
use mcpr_core::StartError;
use mcpr_core::front::bridge::Refused;
use mcpr_store::StoreError;
use mcpr_telemetry::InitError;
use mcpr_transport::http::client::TargetError;
use mcpr_transport::http::server::{BindError, TlsError};

/// Why a command did not do what was asked: what, why, and what to do next.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) exit: ExitCode,
}

impl Problem {
    /// A problem that ends the process in this way.
    pub(crate) fn new(exit: ExitCode, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit,
        }
    }

    /// It was tried and failed.
    pub(crate) fn failed(error: &dyn Error) -> Self {
        Self::new(ExitCode::Failed, chain(error))
    }

    /// Adds what to do next.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        let Fault { what, hint, place } = Fault::from(&error);
        let message = place.map_or_else(|| what.clone(), |place| format!("{place}: {what}"));
        Self {
            hint,
            ..Self::new(ExitCode::ConfigInvalid, message)
        }
    }
}

impl From<BindError> for Problem {
    fn from(error: BindError) -> Self {
        let exit = match &error {
            BindError::InUse { .. } | BindError::SocketInUse { .. } => ExitCode::AddressInUse,
            BindError::Refused { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                ExitCode::Permission
            }
            _ => ExitCode::Failed,
        };
        Self {
            exit,
            ..Self::failed(&error)
        }
    }
}

impl From<TlsError> for Problem {
    fn from(error: TlsError) -> Self {
        Self::new(ExitCode::ConfigInvalid, chain(&error))
            .hint("`tls.cert` and `tls.key`, or `--tls-cert` and `--tls-key`, name the files")
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::failed(&error)
    }
}

impl From<InitError> for Problem {
    fn from(error: InitError) -> Self {
        Self::failed(&error)
    }
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Self {
        Self::failed(&error)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::failed(&error)
    }
}

impl From<TargetError> for Problem {
    fn from(error: TargetError) -> Self {
        Self::new(ExitCode::Usage, error.to_string())
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let exit = match refused {
            Refused::Denied(_) => ExitCode::Permission,
            _ => ExitCode::NotRunning,
        };
        Self::new(exit, chain(&refused))
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !line.ends_with(&text) {
            line = format!("{line}: {text}");
        }
        next = cause.source();
    }
    line
}
