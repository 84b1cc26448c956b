//! The extension for tasks.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

use crate::client::{Asking, Client, Halt, Silence};
use crate::fault::Fault;
use crate::hub::{Hub, Notice};
use crate::message::Request;
use crate::question::Question;
use crate::seal::random_id;

/// How long a task is kept.
const TTL_MS: u32 = 300_000;

/// How often to ask for it.
const POLL_MS: u32 = 200;

/// Every task there is.
#[derive(Default)]
pub(crate) struct Tasks {
    known: Mutex<HashMap<String, Arc<Task>>>,
    running: Mutex<JoinSet<()>>,
}

/// Work that goes on after its request has been answered.
pub(crate) struct Task {
    id: String,
    created: String,
    hub: Weak<Hub>,
    now: Mutex<Now>,
}

/// How a task is.
struct Now {
    changed: String,
    end: Option<End>,
    /// The questions that are not answered yet, by key.
    open: HashMap<&'static str, Open>,
    work: Option<AbortHandle>,
}

/// A question that waits for its answer.
struct Open {
    entry: Value,
    answer: oneshot::Sender<Value>,
}

/// How a task has ended.
enum End {
    Completed(Value),
    Failed(Fault),
    Cancelled,
}

impl Tasks {
    /// Makes a task of some work, and tells about it what `tools/call` tells.
    pub(crate) fn start<F>(
        &self,
        hub: &Arc<Hub>,
        client: &Client,
        work: impl FnOnce(Arc<Client>) -> F,
    ) -> Value
    where
        F: Future<Output = Result<Value, Halt>> + Send + 'static,
    {
        let task = Arc::new(Task::new(hub));
        self.known.lock().insert(task.id.clone(), Arc::clone(&task));
        let work = work(Arc::new(task.client(client)));
        let mut created = task.base();
        created["resultType"] = json!("task");
        let of_work = Arc::clone(&task);
        let handle = self.running.lock().spawn(async move {
            let end = match work.await {
                Ok(result) => End::Completed(result),
                Err(Halt::Fault(fault)) => End::Failed(fault),
                Err(Halt::Input(_)) => End::Failed(Fault::internal("a task asks later, not ahead")),
            };
            of_work.end(end);
        });
        task.now.lock().work = Some(handle);
        created
    }

    /// Answers a request about a task.
    pub(crate) fn answer(&self, request: &Request) -> Result<Value, Fault> {
        let id = request.text("taskId")?;
        let found = self.known.lock().get(id).cloned();
        let task = found.ok_or_else(|| Fault::invalid_params(&format!("Unknown task: {id}")))?;
        match request.method.as_str() {
            "tasks/get" => Ok(task.shown()),
            "tasks/update" => task.update(request),
            _ => {
                task.cancel();
                Ok(json!({}))
            }
        }
    }
}

impl Task {
    fn new(hub: &Arc<Hub>) -> Self {
        let now = timestamp();
        Self {
            id: random_id(),
            created: now.clone(),
            hub: Arc::downgrade(hub),
            now: Mutex::new(Now {
                changed: now,
                end: None,
                open: HashMap::new(),
                work: None,
            }),
        }
    }

    /// The client of the request that began it, who will be asked later.
    fn client(self: &Arc<Self>, client: &Client) -> Client {
        Client {
            era: client.era,
            capabilities: client.capabilities.clone(),
            level: None,
            progress_token: None,
            voice: Arc::new(Silence),
            asking: Asking::Later(Arc::clone(self)),
        }
    }

    /// What a task is, without what it brings or wants.
    fn base(&self) -> Value {
        let now = self.now.lock();
        json!({
            "taskId": self.id,
            "status": now.status(),
            "createdAt": self.created,
            "lastUpdatedAt": now.changed,
            "ttlMs": TTL_MS,
            "pollIntervalMs": POLL_MS,
        })
    }

    /// What `tasks/get` tells.
    fn shown(&self) -> Value {
        let mut shown = self.base();
        let now = self.now.lock();
        match &now.end {
            Some(End::Completed(result)) => shown["result"] = result.clone(),
            Some(End::Failed(fault)) => shown["error"] = fault.error(),
            Some(End::Cancelled) => {}
            None if now.open.is_empty() => {}
            None => {
                let entry = |(key, open): (&&str, &Open)| ((*key).to_owned(), open.entry.clone());
                let requests: Map<_, _> = now.open.iter().map(entry).collect();
                shown["inputRequests"] = Value::Object(requests);
            }
        }
        shown
    }

    /// Asks the client all questions and waits for all answers.
    pub(crate) async fn ask(&self, questions: &[Question]) -> Result<Vec<Value>, Fault> {
        let mut asked = Vec::new();
        for question in questions {
            let (answer, receiver) = oneshot::channel();
            let entry = question.entry();
            self.now.lock().open.insert(question.key, Open { entry, answer });
            asked.push(receiver);
        }
        self.changed();
        let mut answers = Vec::new();
        for (question, answer) in questions.iter().zip(asked) {
            let answer = answer.await.map_err(|_| Fault::internal("the task has ended"))?;
            question.check(&answer)?;
            answers.push(answer);
        }
        Ok(answers)
    }

    /// Takes answers; those to no question are ignored.
    fn update(&self, request: &Request) -> Result<Value, Fault> {
        let Some(Value::Object(answers)) = request.params.get("inputResponses") else {
            return Err(Fault::invalid_params("`inputResponses` must be an object"));
        };
        for (key, answer) in answers {
            if let Some(open) = self.now.lock().open.remove(key.as_str()) {
                // The work may have ended meanwhile.
                let _ = open.answer.send(answer.clone());
            }
        }
        self.changed();
        Ok(json!({}))
    }

    fn cancel(&self) {
        if let Some(work) = &self.now.lock().work {
            work.abort();
        }
        self.end(End::Cancelled);
    }

    /// Ends it, unless it has ended already.
    fn end(&self, end: End) {
        let mut now = self.now.lock();
        if now.end.is_some() {
            return;
        }
        now.end = Some(end);
        now.open.clear();
        drop(now);
        self.changed();
    }

    fn changed(&self) {
        self.now.lock().changed = timestamp();
        if let Some(hub) = self.hub.upgrade() {
            hub.announce(&Notice::Task(self.shown()));
        }
    }
}

impl Now {
    fn status(&self) -> &'static str {
        match &self.end {
            Some(End::Completed(_)) => "completed",
            Some(End::Failed(_)) => "failed",
            Some(End::Cancelled) => "cancelled",
            None if self.open.is_empty() => "working",
            None => "input_required",
        }
    }
}

fn timestamp() -> String {
    OffsetDateTime::now_utc()
        .format(&Rfc3339)
        .expect("the time of now can be written")
}
