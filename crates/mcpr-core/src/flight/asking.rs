//! What a server asks within a call, and how its client is asked.
//!
//! A client of the session era gets a real request on the stream of its own; a stateless one gets
//! the questions for an answer (`input_required`), and comes back with what it has to say. A
//! server of the session era hears each answer as a response; a stateless one gets all of them with
//! the call that is sent again (2026-07-28, multi round-trip requests).

use std::task::{Context, Poll};
use std::time::Duration;

use http::StatusCode;
use mcpr_bridge::{InputRequired, Question, answer_as_input};
use mcpr_protocol::{
    Era, Id, Method, Notification, Object, RawJson, Request, Response, Rope, Version, declined, notification,
};
use mcpr_router::Lease;
use mcpr_telemetry::Status;
use mcpr_transport::Reason;
use serde_json::json;
use tokio::time::Instant;

use super::begin::begin_after;
use super::course::{Course, Open, State};
use super::kept::said;
use super::task::Task;
use super::{Done, Step};
use crate::call::Inputs;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::question::{Answer, Asked};
use crate::record::Ending;
use crate::suspension::{ROUNDS, tool_error};

/// How long more questions are waited for before a stateless client gets those there are.
const GATHER: Duration = Duration::from_millis(25);

/// How long a person may think about one question.
const LEG: Duration = Duration::from_secs(600);

/// How long a stateless server that asks nothing but to be called again is left alone.
const PAUSE: Duration = Duration::from_millis(200);

/// The questions of one flight.
#[derive(Default)]
pub(super) struct Asking {
    /// Put to a client of the session era.
    pub(super) put: Vec<Put>,
    /// For a stateless client.
    gathered: Vec<Gathered>,
    /// When those are sent.
    send_at: Option<Instant>,
    /// What a stateless server wants to have with the next call.
    inputs: Option<Collecting>,
    /// How often the client was asked.
    round: u32,
    /// How many keys were given in this round.
    keys: u32,
    /// The names that mcpr gave visits of URLs, which a stateless server has none for.
    visits: Vec<String>,
}

/// A question that was put.
pub(super) struct Put {
    pub(super) origin: Origin,
    pub(super) question: Question,
    pub(super) asked: Asked,
    pub(super) expires: Instant,
}

/// Where an answer goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// To the request of a server of the session era.
    Request(Id),
    /// To the member of that number of what a stateless server wants.
    Input(usize),
}

/// A question for a stateless client.
pub(crate) struct Gathered {
    /// What it is called there.
    pub(crate) key: String,
    pub(crate) question: Question,
    /// What the client said, if it has.
    pub(crate) answer: Option<Answer>,
    /// The server's request.
    id: Id,
}

/// What a stateless server wants, as far as it is there.
struct Collecting {
    answers: Vec<(String, Option<Rope>)>,
    state: Option<RawJson>,
    /// The task that waits for it, if it is one.
    task: Option<Box<Task>>,
}

impl Asking {
    pub(super) fn gathered(&mut self) -> &mut [Gathered] {
        &mut self.gathered
    }

    /// Whether a client has something to answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.put.is_empty()
    }

    /// When something has to happen.
    pub(super) fn due(&self) -> Option<Instant> {
        let expiry = self.put.iter().map(|put| put.expires).min();
        [self.send_at, expiry].into_iter().flatten().min()
    }

    fn put(&mut self, origin: Origin, question: Question, asked: Asked) {
        let expires = Instant::now() + LEG;
        self.put.push(Put {
            origin,
            question,
            asked,
            expires,
        });
    }

    /// The next answer of the client; `None` is one that will never come.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<(Put, Option<Answer>)> {
        for index in 0..self.put.len() {
            if let Poll::Ready(answer) = self.put[index].asked.poll(cx) {
                return Poll::Ready((self.put.remove(index), answer));
            }
        }
        Poll::Pending
    }

    /// The server takes a question back; what the client is told of that.
    pub(super) fn withdrawn(&mut self, note: &Notification) -> Option<Rope> {
        let params = Object::read(note.params.as_ref()?).ok()?;
        let id = Id::new(params.get("requestId")?)?;
        self.gathered.retain(|gathered| gathered.id != id);
        if self.gathered.is_empty() {
            self.send_at = None;
        }
        let index = self
            .put
            .iter()
            .position(|put| put.origin == Origin::Request(id.clone()))?;
        let reason = params.text("reason");
        let reason = reason.as_deref().unwrap_or("withdrawn by the server");
        Some(self.put.remove(index).asked.withdrawn(reason))
    }

    /// Tells the client that no answer is wanted any more.
    pub(super) fn withdraw_all(&mut self) -> Vec<Rope> {
        let put = std::mem::take(&mut self.put);
        put.iter()
            .map(|put| put.asked.withdrawn("the call has ended"))
            .collect()
    }

    /// Tells a client that the visits it was asked for are done, as far as the call goes.
    pub(super) fn visits_done(&mut self) -> Vec<Rope> {
        let visits = std::mem::take(&mut self.visits);
        visits.iter().map(|visit| visit_done(visit)).collect()
    }

    /// Tells a server that waits for answers that none will come.
    pub(super) fn decline_all(&mut self, gateway: &Gateway, lease: &Lease) {
        for gathered in std::mem::take(&mut self.gathered) {
            gateway.answer_server(lease, gathered.id, declined(&gathered.question.method));
        }
        for put in &self.put {
            if let Origin::Request(id) = &put.origin {
                gateway.answer_server(lease, id.clone(), declined(&put.question.method));
            }
        }
    }

    /// Gives the server what a stateless client came back with, in the order of the questions.
    pub(super) fn answer_gathered(&mut self, gateway: &Gateway, lease: &Lease, answers: Vec<Answer>) {
        for (gathered, answer) in std::mem::take(&mut self.gathered).into_iter().zip(answers) {
            gateway.answer_server(lease, gathered.id, answer);
        }
    }

    fn gather(&mut self, id: Id, question: Question) {
        self.keys += 1;
        let key = format!("r{}-{}", self.round + 1, self.keys);
        self.gathered.push(Gathered {
            key,
            question,
            answer: None,
            id,
        });
        self.send_at.get_or_insert_with(|| Instant::now() + GATHER);
    }
}

impl Course {
    /// Takes a request of the server.
    pub(super) fn question(&mut self, request: Request) -> Option<Step> {
        let State::Open(open) = &self.state else {
            return None;
        };
        let question = Question::from(&request);
        let context = &self.call.context;
        let method = &question.method;
        // Nobody reads what one says that was adopted.
        if self.adopted || !context.abilities.allows(method, question.params.as_ref()) {
            let answer = declined(method);
            self.call.gateway.answer_server(&open.lease, request.id, answer);
            return None;
        }
        let Some(session) = &context.session else {
            self.asking.gather(request.id, question);
            return None;
        };
        let version = open.lease.replica.version;
        match question.for_session(version, context.client.version, None) {
            Ok(params) => {
                if let Some(visit) = question.visit() {
                    let server = &self.call.target.server;
                    self.call.gateway.visits.asked(server, &visit, session);
                }
                let (text, asked) = session.questions.ask(&question.method, params);
                self.asking.put(Origin::Request(request.id), question, asked);
                Some(Step::Note(text))
            }
            Err(unaskable) => {
                tracing::debug!(server = %self.call.target.server, reason = %unaskable, "a question was declined");
                let answer = declined(&question.method);
                self.call.gateway.answer_server(&open.lease, request.id, answer);
                None
            }
        }
    }

    /// Takes what the client answers.
    pub(super) fn poll_client(&mut self, cx: &mut Context<'_>) -> Poll<Option<Step>> {
        if self.asking.put.is_empty() {
            return Poll::Pending;
        }
        self.asking
            .poll(cx)
            .map(|(put, answer)| self.answered(put, answer))
    }

    fn answered(&mut self, put: Put, answer: Option<Answer>) -> Option<Step> {
        self.heard_at = Instant::now();
        let method = &put.question.method;
        let answer = answer.unwrap_or_else(|| declined(method));
        match put.origin {
            Origin::Request(id) => {
                if let State::Open(open) = &self.state {
                    let (client, server) = (self.call.context.client.version, open.lease.replica.version);
                    let said = said(method, answer, client, server);
                    self.call.gateway.answer_server(&open.lease, id, said);
                }
                None
            }
            Origin::Input(index) => match answer_as_input(method, answer.as_ref()) {
                Ok(entry) => self.collected(index, entry),
                Err(refused) => Some(self.refused(&refused.to_string())),
            },
        }
    }

    /// An entry of what a stateless server wants; with the last of them the call is sent again.
    fn collected(&mut self, index: usize, entry: Rope) -> Option<Step> {
        let wanted = self.asking.inputs.as_mut()?;
        wanted.answers[index].1 = Some(entry);
        if wanted.answers.iter().all(|(_, answer)| answer.is_some()) {
            self.call_again(Duration::ZERO);
        }
        None
    }

    fn call_again(&mut self, pause: Duration) {
        let Some(inputs) = self.asking.inputs.take() else {
            return;
        };
        let answers: Vec<_> = inputs
            .answers
            .into_iter()
            .filter_map(|(key, answer)| Some((key, answer?)))
            .collect();
        if let Some(task) = inputs.task {
            self.update_task(task, answers);
            return;
        }
        self.call.bring(Inputs::collected(&answers, inputs.state));
        self.state = State::Beginning(Box::pin(begin_after(self.call.clone(), pause)));
    }

    /// The client refused what only it can give: a message of its model.
    fn refused(&mut self, why: &str) -> Step {
        let text = self.asking.withdraw_all();
        self.outbox.extend(text);
        self.give_up_for(&format!("the client refused what the tool asked for: {why}"))
    }

    /// A call that cannot go on for what its client, or its server, did: a tool's own failure.
    fn give_up_for(&mut self, text: &str) -> Step {
        self.give_up(Reason::Client);
        match self.call.method {
            Method::ToolsCall => {
                let result = tool_error(text, self.call.context.era());
                self.conclude(result.into(), Status::ToolError)
            }
            _ => self.fail(&Fault::Unanswered(text.to_owned())),
        }
    }

    /// Takes an answer that is none yet: the server wants to know something first. Gives back what
    /// is an answer.
    pub(super) fn needs_more(&mut self, open: &Open, response: Response) -> Result<Option<Step>, Response> {
        let stateless = open.lease.replica.version.era() == Era::Stateless;
        let session = self.call.context.session.is_some();
        if !(stateless && session) {
            return Err(response);
        }
        let Ok(result) = &response.outcome else {
            return Err(response);
        };
        match InputRequired::read(result) {
            Ok(None) => Err(response),
            Ok(Some(wanted)) => Ok(self.ask_for_inputs(None, wanted)),
            Err(malformed) => {
                let text = format!("the server asks for input in a way that cannot be read: {malformed}");
                Ok(Some(self.give_up_for(&text)))
            }
        }
    }

    /// Asks a client of the session era for what a stateless server, or a task of its, wants.
    pub(super) fn ask_for_inputs(&mut self, task: Option<Box<Task>>, wanted: InputRequired) -> Option<Step> {
        self.asking.round += 1;
        if self.asking.round > ROUNDS {
            return Some(self.give_up_for(&format!("the server asked for input more than {ROUNDS} times")));
        }
        self.state = State::Asking;
        let keys = wanted.requests.iter().map(|(key, _)| (key.clone(), None));
        self.asking.inputs = Some(Collecting {
            answers: keys.collect(),
            state: wanted.state,
            task,
        });
        if wanted.requests.is_empty() {
            self.call_again(PAUSE * self.asking.round);
            return None;
        }
        for (index, (_, question)) in wanted.requests.into_iter().enumerate() {
            if let Some(step) = self.ask_for_input(index, question) {
                return Some(step);
            }
        }
        None
    }

    fn ask_for_input(&mut self, index: usize, question: Question) -> Option<Step> {
        let context = &self.call.context;
        let allowed = !self.adopted
            && context
                .abilities
                .allows(&question.method, question.params.as_ref());
        let visit = crate::question::fresh_visit();
        let server = Version::NEWEST_STATELESS;
        let params = question.for_session(server, context.client.version, Some(&visit));
        if let (true, Some(session), Ok(params)) = (allowed, &context.session, params) {
            let (text, asked) = session.questions.ask(&question.method, params);
            self.outbox.push_back(text);
            if question.wants_visit() {
                self.asking.visits.push(visit);
            }
            self.asking.put(Origin::Input(index), question, asked);
            return None;
        }
        match answer_as_input(&question.method, declined(&question.method).as_ref()) {
            Ok(entry) => self.collected(index, entry),
            Err(_) => {
                let text = format!(
                    "the tool asked for `{}`, which the client cannot answer",
                    question.method
                );
                Some(self.refused(&text))
            }
        }
    }

    /// The time of questions has come: to be sent, or to be given up.
    pub(super) fn ring_for_questions(&mut self, now: Instant) -> Option<Step> {
        if self.asking.send_at.is_some_and(|due| now >= due) {
            return self.suspend();
        }
        let index = self.asking.put.iter().position(|put| now >= put.expires)?;
        let put = self.asking.put.remove(index);
        self.outbox
            .push_back(put.asked.withdrawn("no answer within 10 minutes"));
        self.answered(put, None)
    }

    /// Answers a stateless client with the questions, and waits for it to come back.
    fn suspend(&mut self) -> Option<Step> {
        self.asking.send_at = None;
        self.asking.round += 1;
        self.asking.keys = 0;
        let gateway = self.call.gateway.clone();
        if self.asking.round > ROUNDS {
            return Some(self.give_up_for(&format!("the server asked for input more than {ROUNDS} times")));
        }
        let ticket = match gateway.suspensions.ticket(&self.call) {
            Ok(ticket) => ticket,
            Err(fault) => {
                self.give_up(Reason::Client);
                return Some(self.fail(&fault));
            }
        };
        let entries = self.asking.gathered.iter();
        let entries = entries.map(|gathered| (gathered.key.as_str(), gathered.question.for_input()));
        let result = InputRequired::render(entries, &ticket.state);
        self.parking = Some(ticket);
        self.end(Ending {
            status: Status::Ok,
            http: StatusCode::OK,
            error: None,
        });
        Some(Step::Done(Done {
            text: Response::text(Some(&self.call.id), Ok(result)),
            status: StatusCode::OK,
        }))
    }
}

fn visit_done(visit: &str) -> Rope {
    let params = RawJson::render(&json!({ "elicitationId": visit }));
    Notification::text(notification::ELICITATION_COMPLETE, params.into())
}
