//! Why an operation was not carried out, as it travels.

use http::StatusCode;
use mcpr_protocol::RawJson;
use serde::{Deserialize, Serialize};

use crate::ExitCode;

/// Why an operation was not carried out. On the wire it is `{"error":{…}}` with a status that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Failure {
    /// Its kind.
    pub code: ErrorCode,
    /// What failed and why, as one sentence without an end mark.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// More for programs, such as the `data` of a server's own error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", from = "String")]
#[non_exhaustive]
pub enum ErrorCode {
    /// What was named does not exist.
    NotFound,
    /// The caller may not do this.
    Permission,
    /// The operation does not make sense as it was asked.
    Invalid,
    /// The configuration is not valid.
    InvalidConfig,
    /// A server that is needed cannot be reached now.
    Unavailable,
    /// It was tried and failed; also the meaning of any code that is not known here.
    Failed,
    /// It was not done in time.
    TimedOut,
}

/// The body of an answer that is no success.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FailureBody {
    pub(crate) error: Failure,
}

impl Failure {
    /// A failure without advice.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            data: None,
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Adds more for programs.
    #[must_use]
    pub fn data(self, data: RawJson) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }
}

impl ErrorCode {
    /// All of them, in the order of their declaration.
    pub const ALL: &[Self] = &[
        Self::NotFound,
        Self::Permission,
        Self::Invalid,
        Self::InvalidConfig,
        Self::Unavailable,
        Self::Failed,
        Self::TimedOut,
    ];

    /// The word in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Permission => "permission",
            Self::Invalid => "invalid",
            Self::InvalidConfig => "invalid_config",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
        }
    }

    /// The HTTP status of an answer with this code.
    pub fn status(self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Permission => StatusCode::FORBIDDEN,
            Self::Invalid | Self::InvalidConfig => StatusCode::BAD_REQUEST,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
            Self::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// How a command ends that failed like this.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::NotFound => ExitCode::NotFound,
            Self::Permission => ExitCode::Permission,
            Self::Invalid => ExitCode::Usage,
            Self::InvalidConfig => ExitCode::ConfigInvalid,
            Self::Unavailable | Self::Failed => ExitCode::Failed,
            Self::TimedOut => ExitCode::TimedOut,
        }
    }
}

impl From<ErrorCode> for &'static str {
    fn from(code: ErrorCode) -> Self {
        code.as_str()
    }
}

impl From<String> for ErrorCode {
    /// A newer gateway may have more codes; to an older client they all mean "failed".
    fn from(word: String) -> Self {
        let known = Self::ALL.iter().find(|code| code.as_str() == word);
        known.copied().unwrap_or(Self::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctl_03_a_failure_reads_back_with_its_data_byte_for_byte() {
        let failure = Failure::new(ErrorCode::Unavailable, "git is down")
            .hint("look at `mcpr-ctl status`")
            .data(RawJson::from_static(r#"{ "n": 123456789012345678901234567890 }"#));

        let text = serde_json::to_string(&FailureBody {
            error: failure.clone(),
        })
        .unwrap();

        insta::assert_snapshot!(text);
        assert_eq!(serde_json::from_str::<FailureBody>(&text).unwrap().error, failure);
    }

    #[test]
    fn a_code_of_a_newer_gateway_means_failed() {
        let failure: Failure = serde_json::from_str(r#"{"code":"on_fire","message":"m"}"#).unwrap();
        assert_eq!(failure, Failure::new(ErrorCode::Failed, "m"));
    }

    #[test]
    fn each_code_has_its_status_and_its_exit_code() {
        let row = |code: &ErrorCode| {
            format!(
                "{code:?} {} {}",
                code.status().as_u16(),
                code.exit_code().number()
            )
        };
        assert_eq!(
            ErrorCode::ALL.iter().map(row).collect::<Vec<_>>(),
            [
                "NotFound 404 3",
                "Permission 403 4",
                "Invalid 400 2",
                "InvalidConfig 400 7",
                "Unavailable 503 1",
                "Failed 500 1",
                "TimedOut 504 124"
            ]
        );
    }
}
