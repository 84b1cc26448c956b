//! A session of a client, over any transport.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::client::{Asking, Client, Era, Level, Voice};
use crate::fault::Fault;
use crate::hub::{Listen, Notice};
use crate::message::{self, Request, Response};
use crate::question::Question;
use crate::server::{self, Server, info};

/// The revisions that are spoken, the best first.
pub(crate) const REVISIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// All revisions of this era, which a header may name; that of the session counts.
pub(crate) const ERA: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What lasts from one request to the next.
pub(crate) struct Session {
    pub(crate) revision: &'static str,
    capabilities: Value,
    level: Mutex<Level>,
    subscribed: Mutex<HashSet<String>>,
    /// The questions that are not answered yet, by the ids of their requests.
    open: Mutex<HashMap<String, oneshot::Sender<Result<Value, Value>>>>,
    asked: AtomicU64,
    /// Where goes what belongs to no request.
    news: Arc<dyn Voice>,
}

impl Session {
    /// Opens a session with the params of `initialize`.
    pub(crate) fn open(initialize: &Request, news: Arc<dyn Voice>) -> Result<Self, Fault> {
        let wanted = initialize.text("protocolVersion")?;
        let revision = REVISIONS.into_iter().find(|revision| *revision == wanted);
        let capabilities = initialize.params.get("capabilities").cloned();
        Ok(Self {
            revision: revision.unwrap_or(REVISIONS[0]),
            capabilities: capabilities
                .ok_or_else(|| Fault::invalid_params("`capabilities` must be an object"))?,
            level: Mutex::new(Level::INFO),
            subscribed: Mutex::default(),
            open: Mutex::default(),
            asked: AtomicU64::default(),
            news,
        })
    }

    /// The result of `initialize`.
    pub(crate) fn welcome(&self) -> Value {
        json!({
            "protocolVersion": self.revision,
            "capabilities": server::capabilities(),
            "serverInfo": info(),
        })
    }

    /// Answers a request.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        server: &Arc<Server>,
        request: &Request,
        voice: Arc<dyn Voice>,
    ) -> Result<Value, Fault> {
        match request.method.as_str() {
            "ping" => Ok(json!({})),
            "logging/setLevel" => self.set_level(request),
            "resources/subscribe" => self.subscribe(request, true),
            "resources/unsubscribe" => self.subscribe(request, false),
            _ => {
                server
                    .answer(request, Arc::new(self.client(request, voice)))
                    .await
            }
        }
    }

    fn client(self: &Arc<Self>, request: &Request, voice: Arc<dyn Voice>) -> Client {
        Client {
            era: Era::Session,
            capabilities: self.capabilities.clone(),
            level: Some(*self.level.lock()),
            progress_token: request.meta("progressToken").cloned(),
            voice,
            asking: Asking::Live(Arc::clone(self)),
        }
    }

    fn set_level(&self, request: &Request) -> Result<Value, Fault> {
        let level = request.params.get("level").unwrap_or(&Value::Null);
        *self.level.lock() = Level::parse(level)?;
        Ok(json!({}))
    }

    fn subscribe(&self, request: &Request, on: bool) -> Result<Value, Fault> {
        let uri = request.text("uri")?;
        let mut subscribed = self.subscribed.lock();
        if on {
            subscribed.insert(uri.to_owned());
        } else {
            subscribed.remove(uri);
        }
        Ok(json!({}))
    }

    /// Asks the client all questions and waits for all answers.
    pub(crate) async fn ask(&self, voice: &dyn Voice, questions: &[Question]) -> Result<Vec<Value>, Fault> {
        let asked: Vec<_> = questions
            .iter()
            .map(|question| self.pose(voice, question))
            .collect();
        let mut answers = Vec::new();
        for (question, answer) in questions.iter().zip(asked) {
            let answer = answer
                .await
                .map_err(|_| Fault::internal("the session has ended"))?;
            let answer = answer.map_err(|error| Fault::internal(&format!("the client refused: {error}")))?;
            question.check(&answer)?;
            answers.push(answer);
        }
        Ok(answers)
    }

    fn pose(&self, voice: &dyn Voice, question: &Question) -> oneshot::Receiver<Result<Value, Value>> {
        let id = format!("question-{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, receiver) = oneshot::channel();
        self.open.lock().insert(id.clone(), sender);
        voice.say(&message::request(&id, question.method, &question.params));
        receiver
    }

    /// Takes the client's answer to a question.
    pub(crate) fn take(&self, response: Response) {
        let waiting = response.id.as_str().and_then(|id| self.open.lock().remove(id));
        if let Some(waiting) = waiting {
            // The call may have been cancelled meanwhile.
            let _ = waiting.send(response.outcome);
        }
    }
}

impl Listen for Session {
    fn hear(&self, notice: &Notice) {
        let wanted = match notice {
            Notice::Tools | Notice::Prompts => true,
            Notice::Updated(uri) => self.subscribed.lock().contains(uri),
            Notice::Task(_) => false,
        };
        if wanted {
            let message = message::notification(notice.method(), notice.params());
            self.news.say(&message);
        }
    }
}
