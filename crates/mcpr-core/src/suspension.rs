//! Calls of stateless clients that wait for an answer of the client, and the sealed state under
//! which it comes back (2026-07-28, multi round-trip requests).
//!
//! What the client holds is opaque to it and good for one thing only: it is bound to the principal,
//! the method, what is called with which arguments, and a time. A call at a server of the session
//! era is held here, in the memory of this process, and its state is good once; a stateless server
//! keeps a state of its own, which is wrapped.

mod state;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use mcpr_auth::Principal;
use mcpr_bridge::{InputRequired, Question, REQUEST_STATE, Retry, input_as_answer, with_text};
use mcpr_protocol::{Era, Id, Method, Object, RawJson, Response, Rope};
use mcpr_registry::ServerName;
use mcpr_upstream::Upstream;
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;

use self::state::{Binding, State};
use crate::call::{Call, Inputs, Target};
use crate::client::Context;
use crate::fault::Fault;
use crate::flight::{Done, Parked};
use crate::gateway::Gateway;
use crate::question::Answer;
use crate::visits::Wanted;

/// How long a call that waits keeps its connection even if others need it.
const HELD: Duration = Duration::from_secs(1);

/// How often one call may ask its client.
pub(crate) const ROUNDS: u32 = 16;

/// How long a client may take to come back.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long the state of a stateless server is good here; the server has a limit of its own.
const WRAPPED: Duration = Duration::from_secs(24 * 3600);

/// How many calls of one principal may wait; the oldest gives way to one more.
const PER_PRINCIPAL: usize = 32;

/// How many calls may wait in all.
const IN_ALL: usize = 1000;

/// The calls that wait for their clients.
#[derive(Clone, Default)]
pub(crate) struct Suspensions(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    last_id: u64,
    waiting: HashMap<u64, Waiting>,
}

struct Waiting {
    principal: Principal,
    server: ServerName,
    since: Instant,
    expires: Instant,
    parked: Parked,
}

/// The place of a call that is about to wait.
pub(crate) struct Ticket {
    id: u64,
    principal: Principal,
    server: ServerName,
    /// What the client gets to hold.
    pub(crate) state: String,
}

impl Waiting {
    /// The same with all the time again.
    fn anew(self) -> Self {
        let since = Instant::now();
        Self {
            since,
            expires: since + PATIENCE,
            ..self
        }
    }
}

/// How a call begins.
pub(crate) enum Entrance {
    /// From nothing, or with what a stateless server wants to have.
    Anew(Option<Inputs>),
    /// After visits, which the server may still have to hear of.
    After(Vec<Box<str>>),
    /// Where it was left.
    Held(Parked, Vec<Answer>),
    /// Not yet, or not at all: this is the answer.
    Answered(Done),
}

impl Suspensions {
    /// A place for a call; the state for its client is sealed already.
    pub(crate) fn ticket(&self, call: &Call) -> Result<Ticket, Fault> {
        let principal = call.context.principal.clone();
        let own = |waiting: &Waiting| waiting.principal == principal;
        while self
            .0
            .lock()
            .waiting
            .values()
            .filter(|waiting| own(waiting))
            .count()
            >= PER_PRINCIPAL
        {
            self.give_up_oldest(own);
        }
        let id = {
            let mut table = self.0.lock();
            if table.waiting.len() >= IN_ALL {
                return Err(Fault::TooManySuspended(call.target.server.clone()));
            }
            table.last_id += 1;
            table.last_id
        };
        let binding = Binding::of(&call.method, call.params.as_ref());
        let held = State::held(&call.gateway, id);
        let state = binding.seal(&call.gateway, &call.context, &held, PATIENCE);
        let server = call.target.server.clone();
        Ok(Ticket {
            id,
            principal,
            server,
            state,
        })
    }

    /// Has a call wait.
    pub(crate) fn park(&self, ticket: Ticket, parked: Parked) {
        let waiting = Waiting {
            principal: ticket.principal,
            server: ticket.server,
            since: Instant::now(),
            expires: Instant::now() + PATIENCE,
            parked,
        };
        self.0.lock().waiting.insert(ticket.id, waiting);
    }

    /// Gives up what has waited too long, and what nobody can come back to: `keep` tells whether the
    /// principal would still be let in.
    pub(crate) fn sweep(&self, keep: impl Fn(&Principal) -> bool) {
        let now = Instant::now();
        let late = self.take_out(|waiting| waiting.expires <= now);
        if !late.is_empty() {
            tracing::info!(
                count = late.len(),
                "calls were given up: their clients did not come back"
            );
        }
        let banished = self.take_out(|waiting| !keep(&waiting.principal));
        if !banished.is_empty() {
            tracing::info!(
                count = banished.len(),
                "calls were given up: the tokens of their clients are no longer good"
            );
        }
    }

    fn take_out(&self, which: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let mut table = self.0.lock();
        let out = table.waiting.extract_if(|_, waiting| which(waiting));
        out.map(|(_, waiting)| waiting).collect()
    }

    /// Gives up the call that has held a connection to a server longest without anybody coming back:
    /// another one waits for it. A client that refuses says nothing, so this is how that ends.
    pub(crate) fn make_room(&self, server: &ServerName) {
        let held = |waiting: &Waiting| waiting.server == *server && waiting.since.elapsed() >= HELD;
        if self.give_up_oldest(held) {
            tracing::info!(%server, "a call that waits for its client was given up: another needs its connection");
        }
    }

    fn give_up_oldest(&self, which: impl Fn(&Waiting) -> bool) -> bool {
        let oldest = {
            let mut table = self.0.lock();
            let some = table.waiting.iter().filter(|(_, waiting)| which(waiting));
            let oldest = some.min_by_key(|(_, waiting)| waiting.since).map(|(id, _)| *id);
            oldest.and_then(|id| table.waiting.remove(&id))
        };
        oldest.is_some()
    }

    /// Gives up all.
    pub(crate) fn end_all(&self) {
        let all = std::mem::take(&mut self.0.lock().waiting);
        drop(all);
    }

    fn take(&self, id: u64) -> Option<Waiting> {
        let waiting = self.0.lock().waiting.remove(&id)?;
        (waiting.expires > Instant::now()).then_some(waiting)
    }

    fn put_back(&self, id: u64, waiting: Waiting) {
        self.0.lock().waiting.insert(id, waiting);
    }
}

impl Gateway {
    /// How a call begins: a stateless client may come back with what it was asked for.
    pub(crate) fn entrance(
        &self,
        context: &Context,
        (id, method): (&Id, &Method),
        params: Option<&Object>,
        target: &Target,
    ) -> Result<Entrance, Fault> {
        if context.session.is_some() {
            return Ok(Entrance::Anew(None));
        }
        let read = params.map_or(Ok(None), Retry::read);
        let Some(retry) = read.map_err(|malformed| Fault::InvalidParams(malformed.to_string()))? else {
            return Ok(Entrance::Anew(None));
        };
        let responses = params.and_then(|params| params.get(mcpr_bridge::INPUT_RESPONSES));
        let Some(text) = &retry.state else {
            return Ok(Entrance::Anew(Some(Inputs::passed(responses, None, None))));
        };
        let binding = Binding::of(method, params);
        match binding.open(self, context, text).ok_or(Fault::InvalidState)? {
            State::Wrapped {
                server,
                state,
                backend,
            } if server == target.server.as_str() => {
                let state = Some(RawJson::string(&state));
                Ok(Entrance::Anew(Some(Inputs::passed(responses, state, backend))))
            }
            State::Wrapped { .. } => Err(Fault::InvalidState),
            State::Visits(ids) => come_back_from_visits((id, method), ids, &retry),
            State::Held { gateway, call } if gateway == self.pool.instance() => {
                let waiting = self.suspensions.take(call).ok_or(Fault::InvalidState)?;
                self.come_back((context, id), &binding, call, waiting, &retry)
            }
            State::Held { .. } => Err(Fault::InvalidState),
        }
    }

    /// Looks at the answers a client came back with.
    fn come_back(
        &self,
        (context, id): (&Context, &Id),
        binding: &Binding,
        held: u64,
        mut waiting: Waiting,
        retry: &Retry,
    ) -> Result<Entrance, Fault> {
        let server = waiting.parked.server_version();
        for asked in waiting.parked.questions() {
            let Some(entry) = retry.response(&asked.key) else {
                continue;
            };
            match input_as_answer(&asked.question.method, entry, server) {
                Ok(answer) => asked.answer = Some(Ok(RawJson::trusted(answer.into_bytes()))),
                Err(malformed) => {
                    let text = format!("`inputResponses.{}` {malformed}", asked.key);
                    self.suspensions.put_back(held, waiting);
                    return Err(Fault::InvalidParams(text));
                }
            }
        }
        let open = waiting.parked.questions().iter();
        let missing: Vec<(&str, Rope)> = open
            .filter(|asked| asked.answer.is_none())
            .map(|asked| (asked.key.as_str(), asked.question.for_input()))
            .collect();
        if missing.is_empty() {
            let answers = waiting.parked.questions().iter_mut();
            let answers = answers.filter_map(|asked| asked.answer.take()).collect();
            return Ok(Entrance::Held(waiting.parked, answers));
        }
        let next = {
            let mut table = self.suspensions.0.lock();
            table.last_id += 1;
            table.last_id
        };
        let state = binding.seal(self, context, &State::held(self, next), PATIENCE);
        let result = InputRequired::render(missing, &state);
        self.suspensions.put_back(next, waiting.anew());
        Ok(Entrance::Answered(Done {
            text: Response::text(Some(id), Ok(result)),
            status: StatusCode::OK,
        }))
    }

    /// The questions in place of an error that wants URLs to be visited first.
    pub(crate) fn ask_for_visits(&self, call: &Call, wanted: &[Wanted]) -> Rope {
        let ids = wanted.iter().map(|visit| visit.id.clone()).collect();
        let binding = Binding::of(&call.method, call.params.as_ref());
        let state = binding.seal(self, &call.context, &State::Visits(ids), PATIENCE);
        let keys: Vec<_> = (1..=wanted.len()).map(visit_key).collect();
        let entry = |visit: &Wanted| {
            let question = Question {
                method: Method::Elicit,
                params: Some(visit.params()),
            };
            question.for_input()
        };
        let entries = keys.iter().map(String::as_str).zip(wanted.iter().map(entry));
        InputRequired::render(entries, &state)
    }

    /// The result of a stateless server that needs more, its state wrapped for the client.
    pub(crate) fn wrap_state(&self, call: &Call, backend: &Upstream, result: &RawJson) -> Option<RawJson> {
        let object = Object::read(result).ok()?;
        if object.text("resultType")? != "input_required" {
            return None;
        }
        let state = object.text(REQUEST_STATE)?;
        let wrapped = State::Wrapped {
            server: backend.name.as_str().to_owned(),
            state,
            backend: Some(backend.label.to_string()),
        };
        let binding = Binding::of(&call.method, call.params.as_ref());
        let sealed = binding.seal(self, &call.context, &wrapped, WRAPPED);
        let text = with_text(result, REQUEST_STATE, &sealed);
        Some(RawJson::trusted(text.into_bytes()))
    }
}

/// Looks at whether the user went to all the URLs.
fn come_back_from_visits(
    (id, method): (&Id, &Method),
    ids: Vec<Box<str>>,
    retry: &Retry,
) -> Result<Entrance, Fault> {
    for number in 1..=ids.len() {
        let key = visit_key(number);
        let missing = || Fault::InvalidParams(format!("`inputResponses.{key}` is missing"));
        let entry = retry.response(&key).ok_or_else(missing)?;
        let action = Object::read(entry).ok().and_then(|entry| entry.text("action"));
        if action.as_deref() != Some("accept") {
            let text = "the user did not visit the URL that the server asked for";
            return match method {
                Method::ToolsCall => Ok(Entrance::Answered(Done {
                    text: Response::text(Some(id), Ok(tool_error(text, Era::Stateless).into())),
                    status: StatusCode::OK,
                })),
                _ => Err(Fault::Unanswered(text.to_owned())),
            };
        }
    }
    Ok(Entrance::After(ids))
}

fn visit_key(number: usize) -> String {
    format!("v{number}")
}

/// A result that says that the tool failed, and why.
pub(crate) fn tool_error(text: &str, era: Era) -> RawJson {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if era == Era::Stateless {
        result["resultType"] = "complete".into();
    }
    RawJson::render(&result)
}
