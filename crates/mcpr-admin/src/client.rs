//! Asks a gateway.

mod error;
mod exchange;
mod target;

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;

pub use self::error::ClientError;
pub use self::target::{InvalidUrl, Target};

use crate::failure::FailureBody;
use crate::{ErrorCode, Failure, Operation, Secret};

/// Asks one gateway, over a new connection each time. Cheap to make.
#[derive(Clone, Debug)]
pub struct Client {
    target: Target,
    limit: Option<Duration>,
}

impl Client {
    /// Asks the gateway that listens at this local socket.
    pub fn socket(path: impl Into<PathBuf>) -> Self {
        Self {
            target: Target::Socket(path.into()),
            limit: None,
        }
    }

    /// Asks the gateway at this URL, with or without `/mcp` at its end, showing it the token.
    ///
    /// # Errors
    ///
    /// [`InvalidUrl`] if it is no `http` URL.
    pub fn url(url: &str, token: Option<Secret>) -> Result<Self, InvalidUrl> {
        Ok(Self {
            target: Target::url(url, token)?,
            limit: None,
        })
    }

    /// Gives up an operation after so long; without it, when the gateway does.
    #[must_use]
    pub fn limit(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
    }

    /// Whom it asks.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Has an operation carried out. Dropping the future breaks the connection, and with it off a
    /// call that is under way.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with what the gateway says; otherwise why there was no answer.
    pub async fn run<O: Operation>(&self, operation: &O) -> Result<O::Output, ClientError> {
        let body = serde_json::to_vec(operation).expect("our own values are JSON");
        let asked = self.target.post(O::PATH, body.into());
        let (status, body) = match self.limit {
            None => asked.await?,
            Some(limit) => tokio::time::timeout(limit, asked)
                .await
                .map_err(|_| ClientError::TimedOut(limit))??,
        };
        if status.is_success() {
            serde_json::from_slice(&body).map_err(ClientError::Unreadable)
        } else {
            Err(refusal(status, &body))
        }
    }
}

/// What an answer that is no success says.
fn refusal(status: StatusCode, body: &Bytes) -> ClientError {
    match serde_json::from_slice::<FailureBody>(body) {
        Ok(FailureBody { error }) => ClientError::Refused(error),
        Err(_) if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            ClientError::Refused(turned_away(status, body))
        }
        Err(_) => ClientError::NotAdmin(status),
    }
}

/// The edge turns a request away before the admin API sees it, in words of its own.
fn turned_away(status: StatusCode, body: &Bytes) -> Failure {
    let said: Said = serde_json::from_slice(body).unwrap_or_default();
    let hint = said.hint.clone();
    let message = said
        .message()
        .unwrap_or_else(|| format!("the gateway did not let us in (HTTP {status})"));
    Failure {
        hint,
        ..Failure::new(ErrorCode::Permission, message)
    }
}

#[derive(Default, Deserialize)]
struct Said {
    message: Option<String>,
    hint: Option<String>,
    error: Option<serde_json::Value>,
}

impl Said {
    fn message(self) -> Option<String> {
        let inner = self
            .error
            .as_ref()
            .and_then(|error| error["message"].as_str())
            .map(str::to_owned);
        self.message.or(inner)
    }
}
