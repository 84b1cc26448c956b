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
    Id, Method, Notification, Object, RawJson, Request, Response, Rope, declined, notification,
};
use mcpr_router::Lease;
use mcpr_telemetry::Status;
use mcpr_transport::Reason;
use serde_json::json;
use tokio::time::Instant;

use super::course::{Course, State};
use super::inputs::Collecting;
use super::kept::said;
use super::{Done, Step};
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::question::{Answer, Asked};
use crate::record::Ending;
use crate::suspension::{ROUNDS, tool_error};

/// How long more questions are waited for before a stateless client gets those there are.
const GATHER: Duration = Duration::from_millis(25);

/// How many questions of one call may be open at once; more are declined (SEC-05).
pub(super) const QUESTIONS: usize = 64;

/// How long a person may think about one question.
const LEG: Duration = Duration::from_secs(600);

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
    pub(super) inputs: Option<Collecting>,
    /// Whether the server has ever asked something.
    asked: bool,
    /// How often the client was asked.
    pub(super) round: u32,
    /// How many keys were given in this round.
    keys: u32,
    /// The names that mcpr gave visits of URLs to which the user went: a stateless server has none.
    visits: Vec<String>,
}

/// A question that was put.
pub(super) struct Put {
    pub(super) origin: Origin,
    pub(super) question: Question,
    pub(super) asked: Asked,
    pub(super) expires: Instant,
    /// What mcpr calls the visit of a URL that it is about.
    visit: Option<String>,
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

impl Asking {
    pub(super) fn gathered(&mut self) -> &mut [Gathered] {
        &mut self.gathered
    }

    /// Whether a question is open, put or about to be.
    pub(super) fn is_open(&self) -> bool {
        !(self.put.is_empty() && self.gathered.is_empty())
    }

    /// Whether nothing was ever asked.
    pub(super) fn is_untouched(&self) -> bool {
        !self.asked && self.round == 0
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

    pub(super) fn put(&mut self, origin: Origin, question: Question, asked: Asked, visit: Option<String>) {
        self.asked = true;
        self.put.push(Put {
            origin,
            question,
            asked,
            expires: Instant::now() + LEG,
            visit,
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

    /// What a stateless client came back with, in the order of the questions.
    pub(super) fn take_gathered(&mut self, answers: Vec<Answer>) -> Vec<(Id, Answer)> {
        let gathered = std::mem::take(&mut self.gathered);
        gathered
            .into_iter()
            .map(|gathered| gathered.id)
            .zip(answers)
            .collect()
    }

    fn gather(&mut self, id: Id, question: Question) {
        self.asked = true;
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
        let allowed = context.abilities.allows(method, question.params.as_ref());
        // Roots are kept by servers, so others must not have calls open here meanwhile.
        let shared = *method == Method::RootsList && !open.lease.replica.is_one_clients(open.lease.party);
        let too_many = self.asking.put.len() + self.asking.gathered.len() >= QUESTIONS;
        // Nobody reads what one says that was adopted.
        if self.adopted || shared || too_many || !allowed {
            self.told_roots(method, false);
            let answer = declined(method);
            self.reply(vec![(request.id, answer)]);
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
                self.asking
                    .put(Origin::Request(request.id), question, asked, None);
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

    /// Answers requests of the server.
    pub(super) fn reply(&mut self, answers: Vec<(Id, Answer)>) {
        let answers = self.answer_before(answers);
        if let State::Open(open) = &self.state {
            for (id, answer) in answers.into_iter().flatten() {
                self.call.gateway.answer_server(&open.lease, id, answer);
            }
        }
    }

    fn answered(&mut self, put: Put, answer: Option<Answer>) -> Option<Step> {
        self.heard_at = Instant::now();
        let method = &put.question.method;
        let answer = answer.unwrap_or_else(|| declined(method));
        match put.origin {
            Origin::Request(id) => {
                self.told_roots(method, answer.is_ok());
                if let State::Open(open) = &self.state {
                    let (client, server) = (self.call.context.client.version, open.lease.replica.version);
                    let said = said(method, answer, client, server);
                    self.reply(vec![(id, said)]);
                }
                None
            }
            Origin::Input(index) => {
                self.asking
                    .visits
                    .extend(put.visit.filter(|_| is_agreed(&answer)));
                match answer_as_input(method, answer.as_ref()) {
                    Ok(entry) => self.collected(index, entry),
                    Err(refused) => Some(self.give_up_for(&refused.to_string())),
                }
            }
        }
    }

    /// A call that cannot go on for what its client, or its server, did: a tool's own failure.
    pub(super) fn give_up_for(&mut self, text: &str) -> Step {
        self.give_up(Reason::Client);
        match self.call.method {
            Method::ToolsCall => {
                let result = tool_error(text, self.call.context.era());
                self.conclude(result.into(), Status::ToolError)
            }
            _ => self.fail(&Fault::Unanswered(text.to_owned())),
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
        self.end(Ending::of(Status::Ok, StatusCode::OK, None));
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

/// Whether the user did what was asked.
fn is_agreed(answer: &Answer) -> bool {
    let action = |result| Object::read(result).ok().and_then(|result| result.text("action"));
    answer.as_ref().ok().and_then(action).as_deref() == Some("accept")
}
