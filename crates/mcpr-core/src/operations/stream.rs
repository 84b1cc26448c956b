//! Operations whose answer comes as a stream: what happens, and what comes of a call.

use std::pin::Pin;

use futures_util::{Stream, StreamExt, future, stream};
use mcpr_admin::{CallStep, CallTool, ErrorCode, Failure, Notice, Streamed, Watch};
use mcpr_auth::Principal;
use mcpr_protocol::{LogLevel, Message, Method, RawJson, Rope};
use serde::Serialize;
use serde_json::json;

use super::Operator;
use super::requests::{cancelled, context, outcome, request};
use crate::client::Context;
use crate::dispatch::Handled;
use crate::flight::{Flight, Step};
use crate::quota::Share;

/// The JSON texts of a stream, each as it comes. Dropping it gives up the call that is under way.
pub type Texts = Pin<Box<dyn Stream<Item = RawJson> + Send>>;

/// The parameters of a call whose progress is told.
#[derive(Serialize)]
struct Told<'a> {
    name: &'a str,
    arguments: &'a RawJson,
    #[serde(rename = "_meta")]
    meta: serde_json::Value,
}

impl Operator {
    /// Carries out what was sent to `path`, which is what follows `/admin/v1/`, if the answer is a
    /// stream: always, or where the caller asked for one.
    pub async fn stream(
        &self,
        caller: &Principal,
        path: &str,
        asked_for: bool,
        body: &[u8],
    ) -> Option<Result<Texts, Failure>> {
        let answer = match path {
            <Watch as Streamed>::PATH => self.watch(caller, body),
            <CallTool as Streamed>::PATH if asked_for => self.call(caller, body).await,
            _ => return None,
        };
        Some(answer)
    }

    fn watch(&self, caller: &Principal, body: &[u8]) -> Result<Texts, Failure> {
        Self::check_scope(caller, Watch::PATH)?;
        let asked = Watch::read(body)?;
        let gateway = &self.gateway;
        let spot = gateway.take_spot(caller, Share::Stream);
        let spot = spot.map_err(|full| Failure::new(ErrorCode::Unavailable, full.to_string()))?;
        let events = gateway.events(&asked.kinds);
        let texts = stream::unfold((events, spot), |(mut events, spot)| async move {
            let event = events.next().await?;
            Some((RawJson::render(&event), (events, spot)))
        });
        Ok(Box::pin(texts))
    }

    async fn call(&self, caller: &Principal, body: &[u8]) -> Result<Texts, Failure> {
        Self::check_scope(caller, <CallTool as Streamed>::PATH)?;
        let asked = CallTool::read(body)?;
        let arguments = asked.arguments.unwrap_or_else(|| RawJson::from_static("{}"));
        let params = Told {
            name: &asked.name,
            arguments: &arguments,
            meta: json!({ "progressToken": 1 }),
        };
        let context = Context {
            log_level: Some(LogLevel::Info),
            ..context(caller)
        };
        let request = request(Method::ToolsCall, &params);
        match self.gateway.dispatch(context, request).await {
            Handled::Done(done) => {
                let result = outcome(done.text)?;
                let step = RawJson::render(&CallStep::Result(result));
                Ok(Box::pin(stream::once(future::ready(step))))
            }
            Handled::Flight(flight) => Ok(Box::pin(steps(flight).map(|step| RawJson::render(&step)))),
            Handled::Listen(_) => Err(Failure::new(ErrorCode::Invalid, "a listen has no answer")),
        }
    }
}

/// What a flight says, until its answer.
fn steps(flight: Flight) -> impl Stream<Item = CallStep> + Send {
    stream::unfold(Some(flight), |flight| async move {
        let mut flight = flight?;
        loop {
            let last = match flight.next().await {
                Step::Slow => continue,
                Step::Note(text) => match notice(text) {
                    Some(notice) => return Some((CallStep::Notification(notice), Some(flight))),
                    None => continue,
                },
                Step::Done(done) => outcome(done.text).map_or_else(CallStep::Error, CallStep::Result),
                Step::Cancelled => CallStep::Error(cancelled()),
            };
            return Some((last, None));
        }
    })
}

/// A notification; an operator is asked nothing.
fn notice(text: Rope) -> Option<Notice> {
    match Message::parse(&text.into_bytes()) {
        Ok(Message::Notification(note)) => Some(Notice {
            method: note.method.to_string(),
            params: note.params,
        }),
        _ => None,
    }
}
