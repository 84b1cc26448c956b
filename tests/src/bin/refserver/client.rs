//! The client, as a tool sees it: whom it may ask, and whom it tells how far it is.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::fault::{Fault, TASKS};
use crate::message::notification;
use crate::question::Question;
use crate::session::Session;
use crate::tasks::Task;

/// The levels of the log, from the least.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// How grave an entry of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(usize);

/// Whoever waits for the answer of a request.
pub(crate) struct Client {
    pub(crate) era: Era,
    pub(crate) capabilities: Value,
    /// The least that it wants of the log; without one it wants nothing.
    pub(crate) level: Option<Level>,
    pub(crate) progress_token: Option<Value>,
    pub(crate) voice: Arc<dyn Voice>,
    pub(crate) asking: Asking,
}

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-06-18 and 2025-11-25.
    Session,
    /// 2026-07-28.
    Stateless,
}

/// Where messages go before the answer does.
pub(crate) trait Voice: Send + Sync {
    fn say(&self, message: &Value);

    /// Closes the connection; the rest has to be fetched.
    fn hang_up(&self) {}
}

/// Says nothing: a task has nobody who waits.
pub(crate) struct Silence;

/// How the client answers questions.
pub(crate) enum Asking {
    /// Each at once, by a message of its own.
    Live(Arc<Session>),
    /// Ahead of time, with the request.
    Ahead(Ahead),
    /// Some time, by `tasks/update`.
    Later(Arc<Task>),
}

/// The answers that came with a request.
#[derive(Default)]
pub(crate) struct Ahead {
    pub(crate) answers: Map<String, Value>,
    /// Those that were needed.
    used: Mutex<Map<String, Value>>,
}

/// Why a tool ends without a result.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The client has to answer first, and to call again.
    Input(Vec<Question>),
    Fault(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Voice for Silence {
    fn say(&self, _message: &Value) {}
}

impl Level {
    /// What servers tell who were not told otherwise.
    pub(crate) const INFO: Self = Self(1);

    pub(crate) fn parse(text: &Value) -> Result<Self, Fault> {
        let found = LEVELS.iter().position(|level| text == level);
        found
            .map(Self)
            .ok_or_else(|| Fault::invalid_params(&format!("no such log level: {text}")))
    }
}

impl Client {
    /// Tells how far the work is, if the client wants to know.
    pub(crate) fn progress(&self, progress: u32, total: u32) {
        if let Some(token) = &self.progress_token {
            let params = json!({ "progressToken": token, "progress": progress, "total": total });
            self.voice.say(&notification("notifications/progress", params));
        }
    }

    /// Writes to the log, as far as the client wants to read it.
    pub(crate) fn info(&self, data: &str) {
        if self.level.is_some_and(|least| least <= Level::INFO) {
            let params = json!({ "level": "info", "logger": "refserver", "data": data });
            self.voice.say(&notification("notifications/message", params));
        }
    }

    /// Whether it has declared the capability.
    pub(crate) fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
    }

    /// Whether it has declared the extension for tasks, which only the stateless era has.
    pub(crate) fn knows_tasks(&self) -> bool {
        let declared = self.capabilities["extensions"][TASKS].is_object();
        declared && self.era == Era::Stateless
    }

    /// Refuses the request of a client that has not declared the capability.
    pub(crate) fn require(&self, capability: &str) -> Result<(), Fault> {
        match (self.can(capability), self.era) {
            (true, _) => Ok(()),
            (false, Era::Stateless) => Err(Fault::missing_capability(&json!({ capability: {} }))),
            (false, Era::Session) => Err(Fault::invalid_params(&format!(
                "the client does not support {capability}"
            ))),
        }
    }

    /// Asks one question.
    pub(crate) async fn ask(&self, question: Question) -> Result<Value, Halt> {
        let mut answers = self.ask_all(vec![question]).await?;
        answers
            .pop()
            .ok_or_else(|| Fault::internal("a question without an answer").into())
    }

    /// Asks several questions at once; the answers are in the same order.
    pub(crate) async fn ask_all(&self, questions: Vec<Question>) -> Result<Vec<Value>, Halt> {
        for question in &questions {
            self.require(question.capability())?;
        }
        match &self.asking {
            Asking::Live(session) => Ok(session.ask(&*self.voice, &questions).await?),
            Asking::Ahead(ahead) => ahead.look_up(questions),
            Asking::Later(task) => Ok(task.ask(&questions).await?),
        }
    }

    /// The answers so far, for a client that calls again.
    pub(crate) fn gathered(&self) -> Map<String, Value> {
        match &self.asking {
            Asking::Ahead(ahead) => ahead.used.lock().clone(),
            Asking::Live(_) | Asking::Later(_) => Map::new(),
        }
    }
}

impl Ahead {
    pub(crate) fn new(answers: Map<String, Value>) -> Self {
        Self {
            answers,
            used: Mutex::default(),
        }
    }

    /// What is not answered yet is asked; what is answered is kept.
    fn look_up(&self, questions: Vec<Question>) -> Result<Vec<Value>, Halt> {
        let mut found = Vec::new();
        let mut open = Vec::new();
        for question in questions {
            match self.answers.get(question.key) {
                Some(answer) => {
                    question.check(answer)?;
                    self.used.lock().insert(question.key.to_owned(), answer.clone());
                    found.push(answer.clone());
                }
                None => open.push(question),
            }
        }
        if open.is_empty() {
            Ok(found)
        } else {
            Err(Halt::Input(open))
        }
    }
}
