//! Asks a gateway.

mod deadline;
mod error;
mod exchange;
mod stream;
mod target;

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;

pub use self::error::ClientError;
pub use self::stream::Stream;
pub use self::target::{InvalidUrl, Target};

use self::deadline::Deadline;
use self::stream::EVENT_STREAM;
use crate::failure::FailureBody;
use crate::{ErrorCode, Failure, Operation, Secret, Streamed};

/// Asks one gateway, over a new connection each time. Cheap to make.
#[derive(Clone, Debug)]
pub struct Client {
    target: Target,
    limit: Option<Duration>,
}

impl Client {
    /// Asks the gateway that listens at this local socket, which lets its user in without a token.
    pub fn socket(path: impl Into<PathBuf>) -> Self {
        Self::guarded_socket(path, None)
    }

    /// Asks the gateway that listens at this local socket, showing it the token, which one with
    /// `control.token` wants to see.
    pub fn guarded_socket(path: impl Into<PathBuf>, token: Option<Secret>) -> Self {
        let path = path.into();
        Self {
            target: Target::Socket { path, token },
            limit: None,
        }
    }

    /// Asks the gateway at this URL, with or without `/mcp` at its end, showing it the token.
    ///
    /// # Errors
    ///
    /// [`InvalidUrl`] if it is no URL of `http`, or of `https` with the feature `tls`.
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
        let deadline = Deadline::after(self.limit);
        let body = serde_json::to_vec(operation).expect("our own values are JSON");
        let answer = deadline
            .keep(self.target.post(O::PATH, None, body.into()))
            .await?;
        let status = answer.head.status;
        let body = deadline.keep(answer.rest()).await?;
        if status.is_success() {
            serde_json::from_slice(&body).map_err(ClientError::Unreadable)
        } else {
            Err(self.refusal(status, &body))
        }
    }

    /// Has an operation carried out and gives what comes of it, as it comes. A limit counts for all of it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with what the gateway says; otherwise why there was no answer.
    pub async fn stream<S: Streamed>(&self, operation: &S) -> Result<Stream<S::Item>, ClientError> {
        let deadline = Deadline::after(self.limit);
        let body = serde_json::to_vec(operation).expect("our own values are JSON");
        let answer = self.target.post(S::PATH, Some(EVENT_STREAM), body.into());
        let answer = deadline.keep(answer).await?;
        match answer.head.status {
            status if status.is_success() => Stream::of(answer, deadline).await,
            status => Err(self.refusal(status, &deadline.keep(answer.rest()).await?)),
        }
    }

    /// What an answer that is no success says.
    fn refusal(&self, status: StatusCode, body: &Bytes) -> ClientError {
        match (status, serde_json::from_slice::<FailureBody>(body)) {
            (StatusCode::UNAUTHORIZED, _) => ClientError::Unauthorized {
                target: self.target.clone(),
                reason: said(body).unwrap_or_else(|| status.to_string()),
            },
            (_, Ok(FailureBody { error })) => ClientError::Refused(error),
            (StatusCode::FORBIDDEN, Err(_)) => ClientError::Refused(turned_away(body)),
            (_, Err(_)) => match of_the_edge(status, body) {
                Some(failure) => ClientError::Refused(failure),
                None => ClientError::NotAdmin(status),
            },
        }
    }
}

/// The edge turns a request away before the admin API sees it, in words of its own.
fn turned_away(body: &Bytes) -> Failure {
    let message = said(body).unwrap_or_else(|| "the gateway takes no requests from here".to_owned());
    Failure::new(ErrorCode::Permission, message)
}

/// What the edge says of requests that it did not let through for another reason, as JSON-RPC.
fn of_the_edge(status: StatusCode, body: &Bytes) -> Option<Failure> {
    let code = match status {
        // 400 is what is said to http where https is spoken.
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::Invalid,
        StatusCode::REQUEST_TIMEOUT => ErrorCode::TimedOut,
        StatusCode::SERVICE_UNAVAILABLE => ErrorCode::Unavailable,
        StatusCode::INTERNAL_SERVER_ERROR => ErrorCode::Failed,
        _ => return None,
    };
    let is_rpc = serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|body| body["jsonrpc"] == "2.0");
    let message = is_rpc.then(|| said(body)).flatten()?;
    Some(Failure::new(code, message))
}

/// The message of a JSON body, at its top or in its `error`.
fn said(body: &Bytes) -> Option<String> {
    let Said { message, error } = serde_json::from_slice(body).ok()?;
    let inner = || error?.get("message")?.as_str().map(str::to_owned);
    message.or_else(inner)
}

#[derive(Deserialize)]
struct Said {
    message: Option<String>,
    error: Option<serde_json::Value>,
}
