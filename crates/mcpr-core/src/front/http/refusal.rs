//! How requests are turned away.

use ::http::header::{ALLOW, CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{HeaderValue, StatusCode};
use mcpr_auth::{Denied, Principal};
use mcpr_protocol::{Era, Id, RawJson, Response};
use mcpr_transport::http::server::Reply;
use serde_json::json;

use super::HttpFront;
use crate::fault::{Fault, seconds};

impl HttpFront {
    /// Turns a message away before anything of it is done, and notes that.
    pub(super) fn refuse(&self, caller: &Principal, id: Option<&Id>, fault: &Fault, era: Era) -> Reply {
        refusal(self.gateway.turn_down(caller, fault), id, fault, era)
    }

    /// Refuses what a client may have more of when it has given back some (RFC 6585, section 4).
    pub(super) fn too_many(&self, caller: &Principal, fault: &Fault) -> Reply {
        Reply {
            status: StatusCode::TOO_MANY_REQUESTS,
            ..self.refuse(caller, None, fault, Era::Session)
        }
        .with(RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// The last answer on a connection that there is no room for.
    pub(super) fn hung_up(&self, caller: &Principal, fault: &Fault) -> Reply {
        self.too_many(caller, fault)
            .with(CONNECTION, HeaderValue::from_static("close"))
    }
}

/// An answer that says what is wrong with a message, for faults that name no request of the log.
pub(super) fn refuse(id: Option<&Id>, fault: &Fault, era: Era) -> Reply {
    refusal(0, id, fault, era)
}

fn refusal(number: u64, id: Option<&Id>, fault: &Fault, era: Era) -> Reply {
    let error = fault.error(era, number).render();
    let status = match (fault, era) {
        (Fault::MethodNotFound(_), Era::Session) | (Fault::InvalidParams(_), Era::Stateless) => {
            StatusCode::BAD_REQUEST
        }
        _ => fault.status(era),
    };
    let reply = Reply::json(status, Response::text(id, Err(error.into())));
    match fault {
        Fault::RateLimited { wait, .. } => reply.with(RETRY_AFTER, seconds(*wait).into()),
        _ => reply,
    }
}

/// There is no stream without a session: 405 tells clients to go on without one.
pub(super) fn no_stream() -> Reply {
    let fault = Fault::InvalidRequest("only POST without a session of the session era".into());
    not_allowed(refuse(None, &fault, Era::Session))
}

fn not_allowed(reply: Reply) -> Reply {
    Reply {
        status: StatusCode::METHOD_NOT_ALLOWED,
        ..reply
    }
    .with(ALLOW, HeaderValue::from_static("POST"))
}

/// The stream of the event that a client saw last says no more, or never was of its session. 405 is
/// how an endpoint says that it has no stream (2025-11-25, transports); clients do not ask again then.
pub(super) fn nothing_follows() -> Reply {
    let text = "nothing follows the event of `Last-Event-ID`: its stream has ended and was read, is not kept \
                any more, or is not of this session; send the request again if it has no answer yet";
    not_allowed(refuse(None, &Fault::InvalidRequest(text.into()), Era::Session))
}

/// The body is what Claude Code shows its user, so it says what to do.
pub(super) fn unauthorized(denied: &Denied) -> Reply {
    turned_away(denied, &format!("{denied}. {}", denied.next_step()))
}

/// At the operator's socket, where no token can be made without one.
pub(super) fn unauthorized_here(denied: &Denied) -> Reply {
    let message = match denied {
        Denied::Missing => {
            "the configuration says `control.token`, so this socket wants a token too: put one into MCPR_TOKEN".to_owned()
        }
        denied => format!("the configuration says `control.token`, and {denied}"),
    };
    turned_away(denied, &message)
}

fn turned_away(denied: &Denied, message: &str) -> Reply {
    let error = if *denied == Denied::Missing {
        "missing_token"
    } else {
        "invalid_token"
    };
    let body = json!({
        "error": error,
        "reason": denied.reason(),
        "message": message,
    });
    let challenge = match *denied {
        Denied::Missing => "Bearer realm=\"mcpr\"",
        _ => "Bearer realm=\"mcpr\", error=\"invalid_token\"",
    };
    Reply::json(StatusCode::UNAUTHORIZED, RawJson::render(&body))
        .with(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}
