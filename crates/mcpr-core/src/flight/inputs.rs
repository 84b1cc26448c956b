//! What a stateless server wants to have of a client of the session era: its questions are put as
//! requests, and the call is sent again with all answers (2026-07-28, multi round-trip requests).

use std::time::Duration;

use mcpr_bridge::{InputRequired, Question, answer_as_input};
use mcpr_protocol::{Era, RawJson, Response, Rope, Version, declined};

use super::Step;
use super::asking::{Origin, QUESTIONS};
use super::begin::begin_after;
use super::course::{Course, Open, State};
use super::task::Task;
use crate::call::Inputs;
use crate::question::fresh_visit;
use crate::suspension::ROUNDS;

/// How long a server that asks nothing but to be called again is left alone.
const PAUSE: Duration = Duration::from_millis(200);

/// What a stateless server wants, as far as it is there.
pub(super) struct Collecting {
    answers: Vec<(String, Option<Rope>)>,
    state: Option<RawJson>,
    /// The backend that asked.
    home: Option<Box<str>>,
    /// The task that waits for it, if it is one.
    task: Option<Box<Task>>,
}

impl Course {
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
            Ok(Some(wanted)) => {
                let home = open.lease.backend().label.as_ref().into();
                Ok(self.ask_for_inputs(None, Some(home), wanted))
            }
            Err(malformed) => {
                let text = format!("the server asks for input in a way that cannot be read: {malformed}");
                Ok(Some(self.give_up_for(&text)))
            }
        }
    }

    /// Asks a client of the session era for what a stateless server, or a task of its, wants.
    pub(super) fn ask_for_inputs(
        &mut self,
        task: Option<Box<Task>>,
        home: Option<Box<str>>,
        wanted: InputRequired,
    ) -> Option<Step> {
        self.asking.round += 1;
        if self.asking.round > ROUNDS {
            return Some(self.give_up_for(&format!("the server asked for input more than {ROUNDS} times")));
        }
        if wanted.requests.len() > QUESTIONS {
            let text = format!("the server asked for more than {QUESTIONS} things at once");
            return Some(self.give_up_for(&text));
        }
        self.state = State::Asking;
        let keys = wanted.requests.iter().map(|(key, _)| (key.clone(), None));
        self.asking.inputs = Some(Collecting {
            answers: keys.collect(),
            state: wanted.state,
            home,
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
        let visit = fresh_visit();
        let server = Version::NEWEST_STATELESS;
        let params = question.for_session(server, context.client.version, Some(&visit));
        if let (true, Some(session), Ok(params)) = (allowed, &context.session, params) {
            let (text, asked) = session.questions.ask(&question.method, params);
            self.outbox.push_back(text);
            let visit = question.wants_visit().then_some(visit);
            self.asking.put(Origin::Input(index), question, asked, visit);
            return None;
        }
        match answer_as_input(&question.method, declined(&question.method).as_ref()) {
            Ok(entry) => self.collected(index, entry),
            Err(_) => {
                let text = format!(
                    "the tool asked for `{}`, which the client cannot answer",
                    question.method
                );
                Some(self.give_up_for(&text))
            }
        }
    }

    /// An entry of what a stateless server wants; with the last of them the call is sent again.
    pub(super) fn collected(&mut self, index: usize, entry: Rope) -> Option<Step> {
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
        self.call
            .bring(Inputs::collected(&answers, inputs.state, inputs.home));
        self.state = State::Beginning(Box::pin(begin_after(self.call.clone(), pause)));
    }
}
