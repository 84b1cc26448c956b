//! Clients over streamable HTTP, of both eras on one URL, and operators on the control socket.

mod batch;
mod context;
mod events;
mod post;
mod refusal;
mod streams;

use std::io;
use std::sync::Arc;

use ::http::header::AUTHORIZATION;
use ::http::request::Parts;
use ::http::{HeaderValue, Response, StatusCode};
use bytes::Bytes;
use futures_util::StreamExt;
use mcpr_admin::refuse;
use mcpr_auth::{Memo, Principal, Scope, Timestamp, bearer};
use mcpr_protocol::RawJson;
use mcpr_transport::http::server::{self, Bound, Call, End, Front, Health, Operation, Options, Reply, Verb};
use mcpr_transport::sse;
use serde_json::json;

use self::refusal::unauthorized;
use crate::gateway::Gateway;
use crate::operations::Operator;

/// Who is let in at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    /// Whoever has a token.
    Tokens,
    /// Anybody; for loopback addresses only.
    Open,
    /// The operator, whom the permissions of the socket let in; also serves the admin API.
    Control,
}

/// Serves clients at an address until the gateway ends.
///
/// # Errors
///
/// When the runtime cannot watch the socket.
pub async fn serve(gateway: Arc<Gateway>, bound: Bound, door: Door, options: Options) -> io::Result<()> {
    // The operator's door closes last: whoever waits there for the end of the gateway sees it.
    let end = match door {
        Door::Control => End::at(gateway.ended.clone()),
        Door::Tokens | Door::Open => End {
            close: gateway.leaving.clone(),
            finish: gateway.stop.clone(),
        },
    };
    let loopback = bound
        .local_addr()
        .is_some_and(|address| address.ip().is_loopback());
    let options = Options {
        // SEC-06: the operator's socket, or a loopback address with an operator's token.
        admin: door == Door::Control || (door == Door::Tokens && loopback),
        ..options
    };
    server::serve(bound, Arc::new(HttpFront { gateway, door }), options, end).await
}

struct HttpFront {
    gateway: Arc<Gateway>,
    door: Door,
}

impl Front for HttpFront {
    type Caller = Principal;
    type Memo = Memo;

    fn admit(&self, head: &Parts, memo: &mut Memo) -> Result<Principal, Box<Reply>> {
        match self.door {
            Door::Open => Ok(Principal::anonymous()),
            Door::Control => Ok(Principal::local()),
            Door::Tokens => {
                let presented = bearer(head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes));
                let verified = presented
                    .and_then(|token| memo.verify(self.gateway.doorkeeper.tokens(), token, Timestamp::now()));
                verified.map_err(|denied| Box::new(unauthorized(&denied)))
            }
        }
    }

    async fn mcp(&self, caller: Principal, call: Call) -> Reply {
        match call.verb {
            Verb::Post => self.post(caller, call).await,
            Verb::Get => self.get(&caller, &call.head),
            Verb::Delete => self.delete(&caller, &call.head.headers),
        }
    }

    async fn admin(&self, caller: Principal, operation: Operation<'_>) -> Reply {
        if self.door == Door::Tokens && !caller.allows(Scope::Admin) {
            return whole(refuse(Operator::lacks_scope("admin")));
        }
        let operator = Operator::new(self.gateway.clone());
        let Operation { path, streamed, body } = operation;
        match operator.stream(&caller, path, streamed, &body).await {
            None => whole(operator.perform(&caller, path, &body).await),
            Some(Err(failure)) => whole(refuse(failure)),
            Some(Ok(texts)) => Reply::events(texts.map(|text| sse::message(None, text.into()))),
        }
    }

    fn health(&self, which: Health) -> Reply {
        let well = which == Health::Alive || self.gateway.is_ready();
        let status = if well {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        Reply::json(
            status,
            RawJson::render(&json!({ "status": if well { "ok" } else { "stopping" } })),
        )
    }
}

fn whole(answer: Response<Bytes>) -> Reply {
    let (head, body) = answer.into_parts();
    Reply::json(head.status, body)
}

/// Whether an operator's request is the operator's to make.
pub(crate) fn may_operate(principal: &Principal, read_only: bool) -> bool {
    principal.allows(if read_only { Scope::Read } else { Scope::Admin })
}
