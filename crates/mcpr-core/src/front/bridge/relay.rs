//! From an answer of HTTP to lines.

use mcpr_protocol::{ErrorObject, Id, Message, Object, RawJson, Response, code};
use mcpr_transport::http::client::Answer;
use mcpr_transport::{Failed, FailedKind, Sent};
use serde_json::json;

use super::Bridge;

impl Bridge {
    /// Passes on what comes for a request, its answer last.
    ///
    /// # Errors
    ///
    /// What to tell the client when there is none.
    pub(super) async fn relay(&self, id: &Id, mut answer: Answer) -> Result<Response, ErrorObject> {
        while let Some(text) = answer.next().await {
            let text = text.map_err(|failed| lost(&failed))?;
            match Message::parse(&text) {
                Ok(Message::Response(response)) if response.id.as_ref() == Some(id) => {
                    self.say(text.into()).await;
                    return Ok(response);
                }
                Ok(Message::Response(Response {
                    id: None,
                    outcome: Err(error),
                })) => {
                    // An error about a message that could not be read: it was this one.
                    self.say(Response::text(Some(id), Err(error.clone().into())))
                        .await;
                    return Ok(Response {
                        id: Some(id.clone()),
                        outcome: Err(error),
                    });
                }
                Ok(_) if answer.is_stream() => self.say(text.into()).await,
                _ if answer.is_stream() => {
                    tracing::warn!("a message of the gateway cannot be read and is left out")
                }
                _ => return Err(refused(&answer, &text)),
            }
        }
        Err(ended(&answer))
    }
}

/// What an answer without a response says to a person.
pub(super) async fn told(mut answer: Answer) -> String {
    let text = answer.next().await.and_then(Result::ok).unwrap_or_default();
    message_of(&text).unwrap_or_else(|| format!("the gateway answers HTTP {}", answer.status))
}

/// Whether a message without an answer was taken.
pub(super) async fn accepted(mut answer: Answer) -> Result<(), Failed> {
    let text = answer.next().await.transpose()?;
    if answer.status.is_success() {
        return Ok(());
    }
    let said = text.as_deref().and_then(message_of).unwrap_or_default();
    let detail = format!("the gateway answers HTTP {}: {said}", answer.status);
    Err(Failed::unsent(FailedKind::Status(answer.status.as_u16()), detail))
}

/// The error for a request that did not reach the gateway, or whose answer did not come back.
pub(super) fn lost(failed: &Failed) -> ErrorObject {
    match failed.sent {
        Sent::No => {
            let why = failed.whole();
            let text = format!(
                "the mcpr gateway cannot be reached: {why}; start it with `mcpr-gateway` and try again"
            );
            ErrorObject::new(code::INTERNAL, text).with(&json!({ "reason": "server_down", "retry": "safe" }))
        }
        Sent::Maybe => outcome_unknown(&failed.whole()),
    }
}

/// The error for an answer that ended before the response.
pub(super) fn ended(answer: &Answer) -> ErrorObject {
    if answer.status.is_success() {
        return outcome_unknown("the answer ended before the response");
    }
    refused(answer, b"")
}

fn outcome_unknown(why: &str) -> ErrorObject {
    let text = format!(
        "the connection to the mcpr gateway was lost: {why}; whether the request was carried out is not known"
    );
    ErrorObject::new(code::INTERNAL, text).with(&json!({ "reason": "outcome_unknown", "retry": "unsafe" }))
}

/// The error for an answer of HTTP that holds no response.
pub(super) fn refused(answer: &Answer, text: &[u8]) -> ErrorObject {
    let status = answer.status.as_u16();
    let said = message_of(text).unwrap_or_else(|| format!("the mcpr gateway answers HTTP {}", answer.status));
    let error = ErrorObject::new(code::INTERNAL, said);
    match status {
        401 => error.with(&json!({ "reason": "unauthorized", "retry": "no" })),
        403 => error.with(&json!({ "reason": "forbidden", "retry": "no" })),
        _ => error,
    }
}

/// The sentence in an error of the gateway's edge: `message`, or that of `error`.
fn message_of(text: &[u8]) -> Option<String> {
    let body = Object::read(&RawJson::parse(text.to_vec().into()).ok()?).ok()?;
    body.text("message")
        .or_else(|| body.object("error")?.text("message"))
}
