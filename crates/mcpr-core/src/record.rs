//! One record for each request.

use std::time::Duration;

use http::StatusCode;
use mcpr_protocol::{Era, Mark, Method, Object, RawJson, Response, code};
use mcpr_telemetry::{CallRecord, HttpFacts, Payload, Status, Steps, Trace};
use tokio::time::Instant;

use crate::call::Call;
use crate::client::Context;
use crate::fault::Fault;
use crate::gateway::Gateway;

/// How a request ended.
pub(crate) struct Ending {
    pub(crate) status: Status,
    pub(crate) http: StatusCode,
    /// What mcpr tells of it.
    pub(crate) error: Option<String>,
    /// The same with what the server says. That may repeat what it was sent, so the log does not show it.
    pub(crate) said: Option<String>,
}

impl Ending {
    /// An ending of which no server has said anything more.
    pub(crate) fn of(status: Status, http: StatusCode, error: Option<String>) -> Self {
        Self {
            status,
            http,
            error,
            said: None,
        }
    }

    /// An ending by a fault, as it was told to the client.
    pub(crate) fn by(fault: &Fault, era: Era) -> Self {
        let (error, whole) = (fault.told(), fault.to_string());
        let said = Some(whole).filter(|whole| error.as_ref() != Some(whole));
        let status = Status::Error(fault.code(era));
        Self {
            said,
            ..Self::of(status, fault.status(era), error)
        }
    }
}

/// Records a request that went to a server, and has ended now.
pub(crate) fn record(call: &Call, ending: Ending, now: Instant) {
    let subject = Subject {
        method: &call.method,
        params: call.params.as_ref(),
        server: Some(call.target.server.as_str()),
        tool: call.target.tool.as_deref(),
        number: call.number,
        took: now - call.began,
        steps: call.steps(now),
        trace: call.trace.as_ref(),
    };
    subject.record(&call.gateway, &call.context, ending);
}

/// What a record is about.
pub(crate) struct Subject<'a> {
    pub(crate) method: &'a Method,
    pub(crate) params: Option<&'a Object>,
    pub(crate) server: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) number: u64,
    pub(crate) took: Duration,
    pub(crate) steps: Option<Steps>,
    pub(crate) trace: Option<&'a Trace>,
}

impl Subject<'_> {
    /// Makes the one record of the request, and hands it to all layers.
    pub(crate) fn record(&self, gateway: &Gateway, context: &Context, ending: Ending) {
        gateway.count(matches!(ending.status, Status::Error(_)));
        let session = context.session.as_ref().map_or("", |session| &session.id[..8]);
        let own = session.is_empty().then(|| self.number.to_string());
        let record = CallRecord {
            request_id: self.number,
            // What belongs together: the requests of one session; a stateless request is alone.
            correlation_id: own.as_deref().unwrap_or(session),
            server: self.server,
            tool: self.tool,
            method: self.method.as_str(),
            version: context.client.version.as_str(),
            duration: self.took,
            status: ending.status,
            principal: Some(context.principal.key()),
            client: context.client.name.as_deref(),
            project: context.principal.project().or(context.asked.project.as_deref()),
            http: context.path.map(|path| HttpFacts {
                method: "POST",
                path,
                status: ending.http.as_u16(),
            }),
            error: ending.error.as_deref(),
            said: ending.said.as_deref().map(Payload::new),
            params: self.params.map(|params| Payload::of(params.raw().as_bytes())),
            steps: self.steps,
            trace: self.trace,
        };
        gateway.layers.after(&record);
    }
}

/// How a server's answer counts.
pub(crate) fn status_of(response: &Response) -> Status {
    match &response.outcome {
        Ok(result) if is_tool_error(result) => Status::ToolError,
        Ok(_) => Status::Ok,
        Err(error) => Status::Error(code_of(error)),
    }
}

/// What a server's error says.
pub(crate) fn said_of(response: &Response) -> Option<String> {
    let error = response.outcome.as_ref().err()?;
    Object::read(error).ok()?.text("message")
}

/// Whether a result says of itself that the tool failed.
fn is_tool_error(result: &RawJson) -> bool {
    result.may_hold(Mark::Failure)
        && Object::read(result)
            .is_ok_and(|object| object.get("isError").is_some_and(|flag| flag.as_str() == "true"))
}

/// The code of an error object.
fn code_of(error: &RawJson) -> i64 {
    let object = Object::read(error).ok();
    let code = object.and_then(|object| object.get("code")?.as_str().parse().ok());
    code.unwrap_or(code::INTERNAL)
}
