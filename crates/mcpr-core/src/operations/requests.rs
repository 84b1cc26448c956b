//! Requests to servers that an operator makes: the same path as a client's.

use mcpr_admin::{CallTool, ErrorCode, Execute, Failure, GetPrompt, ReadResource, Relayed};
use mcpr_auth::Principal;
use mcpr_protocol::{ErrorObject, Id, Message, Method, Object, RawJson, Request, Rope, code};
use serde::Serialize;
use serde_json::json;

use super::Operator;
use crate::client::Context;
use crate::dispatch::Handled;
use crate::fault::Fault;
use crate::flight::Step;

/// The parameters of a call; raw arguments stay the bytes they are.
#[derive(Serialize)]
struct Named<'a, A> {
    name: &'a str,
    arguments: &'a A,
}

impl Execute<CallTool, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: CallTool) -> Result<Relayed, Failure> {
        let arguments = asked.arguments.unwrap_or_else(|| RawJson::from_static("{}"));
        self.ask(
            caller,
            Method::ToolsCall,
            &Named {
                name: &asked.name,
                arguments: &arguments,
            },
        )
        .await
    }
}

impl Execute<ReadResource, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: ReadResource) -> Result<Relayed, Failure> {
        self.ask(caller, Method::ResourcesRead, &json!({ "uri": asked.uri }))
            .await
    }
}

impl Execute<GetPrompt, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: GetPrompt) -> Result<Relayed, Failure> {
        let answer = self
            .ask(
                caller,
                Method::PromptsGet,
                &Named {
                    name: &asked.name,
                    arguments: &asked.arguments,
                },
            )
            .await;
        // MCP has the same code for a prompt that is not there and for arguments that do not fit.
        let unknown = Fault::UnknownPrompt(asked.name).to_string();
        answer.map_err(|failure| match failure.message == unknown {
            true => Failure {
                code: ErrorCode::NotFound,
                ..failure
            },
            false => failure,
        })
    }
}

impl Operator {
    async fn ask(
        &self,
        caller: &Principal,
        method: Method,
        params: &impl serde::Serialize,
    ) -> Result<Relayed, Failure> {
        let request = request(method, params);
        let text = match self.gateway.dispatch(context(caller), request).await {
            Handled::Done(done) => done.text,
            Handled::Listen(_) => return Err(Failure::new(ErrorCode::Invalid, "a listen has no answer")),
            Handled::Flight(mut flight) => loop {
                match flight.next().await {
                    Step::Done(done) => break done.text,
                    Step::Cancelled => return Err(cancelled()),
                    Step::Note(_) | Step::Slow => {}
                }
            },
        };
        outcome(text).map(|result| Relayed { result })
    }
}

/// The request that is made of an operation.
pub(super) fn request(method: Method, params: &impl serde::Serialize) -> Request {
    Request {
        id: Id::number(1),
        method,
        params: Some(RawJson::render(params)),
    }
}

/// The result in an answer.
pub(super) fn outcome(text: Rope) -> Result<RawJson, Failure> {
    let Ok(Message::Response(response)) = Message::parse(&text.into_bytes()) else {
        return Err(Failure::new(ErrorCode::Failed, "the answer is no message"));
    };
    response.outcome.map_err(|error| failure(&error))
}

/// Why a request that was given up has no answer.
pub(super) fn cancelled() -> Failure {
    Failure::new(ErrorCode::Failed, "the request was cancelled")
}

/// An operator speaks the newest version with a handshake, without a session.
pub(super) fn context(caller: &Principal) -> Context {
    crate::local::context(caller.clone(), "mcpr-ctl")
}

fn failure(raw: &RawJson) -> Failure {
    let error: ErrorObject = raw
        .read()
        .unwrap_or_else(|_| ErrorObject::new(code::INTERNAL, "unreadable error"));
    let reason = error
        .data
        .as_ref()
        .and_then(|data| Object::read(data).ok()?.text("reason"));
    let kind = match (error.code, reason.as_deref()) {
        (_, Some("unknown_tool")) | (code::RESOURCE_NOT_FOUND, _) => ErrorCode::NotFound,
        (_, Some("server_down" | "no_backend" | "starting" | "busy")) => ErrorCode::Unavailable,
        (_, Some("timeout" | "silence")) => ErrorCode::TimedOut,
        (_, Some("forbidden")) => ErrorCode::Permission,
        (code::INVALID_PARAMS, None) => ErrorCode::Invalid,
        _ => ErrorCode::Failed,
    };
    let failure = Failure::new(kind, error.message);
    match error.data {
        Some(data) => failure.data(data),
        None => failure,
    }
}
