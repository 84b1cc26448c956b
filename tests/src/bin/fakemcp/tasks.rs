//! Calls that become tasks (extension of 2026-07-28).

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::Deserialize;

use crate::fault::Fault;
use crate::interview::Ask;
use crate::message::{Params, Request, quoted, text_content};
use crate::server::Server;
use crate::spec::{Raw, named};

/// The capability without which nobody gets a task.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The notification of how a task stands.
pub(crate) const STANDS: &str = "notifications/tasks";

/// How tasks go.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tasks {
    /// The calls that become tasks, by their keys; without any, all.
    on: Vec<String>,
    /// How often a task is still at work when it is asked for.
    polls: usize,
    /// Tasks are at work until the tool `finish` ends the one that it is given by its number.
    held: bool,
    /// A task of an earlier life is known, and has ended.
    revives: bool,
    /// What each task wants to know first.
    asks: Vec<Ask>,
    /// How often a task still asks for what it has been told.
    linger: usize,
    /// The exact result of each, instead of what was said, or the arguments.
    result: Option<Raw>,
    /// The exact error with which each fails.
    error: Option<Raw>,
    /// Each is given up in the end.
    gives_up: bool,
    /// How often to ask, in milliseconds.
    interval: u64,
}

/// The tasks there are, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Table(Mutex<BTreeMap<String, Task>>);

#[derive(Debug)]
struct Task {
    arguments: String,
    polls: usize,
    held: bool,
    linger: usize,
    answers: Option<String>,
    cancelled: bool,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            on: Vec::new(),
            polls: 0,
            held: false,
            revives: false,
            asks: Vec::new(),
            linger: 0,
            result: None,
            error: None,
            gives_up: false,
            interval: 20,
        }
    }
}

impl Tasks {
    /// Whether a call becomes a task.
    pub(crate) fn take(&self, request: &Request) -> bool {
        self.on.is_empty() || named(&self.on, request)
    }

    /// Whether there is a tool that ends them.
    pub(crate) fn are_held(&self) -> bool {
        self.held
    }
}

impl Server {
    /// Makes a task of a call.
    pub(crate) fn begin_task(&self, tasks: &Tasks, params: &Params) -> Result<String, Fault> {
        admit(params)?;
        let mut table = self.tasks.0.lock();
        let id = id_of(table.len() + 1);
        let task = Task {
            arguments: params.arguments_text().to_owned(),
            polls: tasks.polls,
            held: tasks.held,
            linger: tasks.linger,
            answers: None,
            cancelled: false,
        };
        table.insert(id.clone(), task);
        let facts = facts(&id, "working", tasks.interval);
        Ok(format!(r#"{{"resultType":"task",{facts}}}"#))
    }

    /// The methods of tasks.
    pub(crate) fn task(&self, method: &str, params: &Params) -> Result<String, Fault> {
        admit(params)?;
        let id = params.task_id.as_deref().unwrap_or_default();
        self.revive(id);
        let mut table = self.tasks.0.lock();
        let unknown = || Fault::invalid_params(&format!("Unknown task: {id}"));
        let task = table.get_mut(id).ok_or_else(unknown)?;
        match method {
            "tasks/get" => {
                return Ok(format!(
                    r#"{{"resultType":"complete",{}}}"#,
                    self.look_at(id, task)
                ));
            }
            "tasks/cancel" => task.cancelled = true,
            _ => {
                let answers = params.input_responses.as_ref().map(|raw| raw.get().to_owned());
                task.answers = answers.or(task.answers.take());
            }
        }
        self.announce_task(id, task);
        Ok(r#"{"resultType":"complete"}"#.to_owned())
    }

    /// Ends the task that the tool `finish` is given.
    pub(crate) fn finish_task(&self, params: &Params) -> Option<()> {
        let arguments: serde_json::Value = serde_json::from_str(params.arguments_text()).ok()?;
        let id = id_of(usize::try_from(arguments["task"].as_u64()?).ok()?);
        let mut table = self.tasks.0.lock();
        let task = table.get_mut(&id)?;
        task.held = false;
        self.announce_task(&id, task);
        Some(())
    }

    /// What is accepted of the ids that a listen names.
    pub(crate) fn known_tasks(&self, ids: &mut Vec<serde_json::Value>) {
        ids.retain(|id| {
            let id = id.as_str().unwrap_or_default();
            self.revive(id);
            self.tasks.0.lock().contains_key(id)
        });
    }

    fn revive(&self, id: &str) {
        let revives = self.spec.tasks.as_ref().is_some_and(|tasks| tasks.revives);
        if revives && id.starts_with("task/") {
            self.tasks
                .0
                .lock()
                .entry(id.to_owned())
                .or_insert_with(Task::ended);
        }
    }

    fn announce_task(&self, id: &str, task: &Task) {
        let params = format!("{{{}}}", self.state_of(id, task));
        self.notices.announce(STANDS, Some(&params));
    }

    /// The same as seen from outside: it takes the task further.
    fn look_at(&self, id: &str, task: &mut Task) -> String {
        let state = self.state_of(id, task);
        if self.asks(task) {
            task.linger = task.linger.saturating_sub(usize::from(task.answers.is_some()));
        } else {
            task.polls = task.polls.saturating_sub(1);
        }
        state
    }

    fn asks(&self, task: &Task) -> bool {
        let asks = self
            .spec
            .tasks
            .as_ref()
            .is_some_and(|tasks| !tasks.asks.is_empty());
        asks && (task.answers.is_none() || task.linger > 0)
    }

    /// How a task stands, as the members of an object.
    fn state_of(&self, id: &str, task: &Task) -> String {
        let Some(tasks) = &self.spec.tasks else {
            return String::new();
        };
        let (status, more) = if task.cancelled {
            ("cancelled", String::new())
        } else if self.asks(task) {
            let entries = tasks.asks.iter().enumerate();
            let entries: Vec<_> = entries
                .map(|(index, ask)| format!(r#""t{index}":{}"#, ask.entry(&task.arguments)))
                .collect();
            (
                "input_required",
                format!(r#","inputRequests":{{{}}}"#, entries.join(",")),
            )
        } else if task.polls > 0 || task.held {
            ("working", String::new())
        } else {
            tasks.end_of(task)
        };
        format!("{}{more}", facts(id, status, tasks.interval))
    }
}

impl Task {
    fn ended() -> Self {
        Self {
            arguments: r#"{"revived":true}"#.to_owned(),
            polls: 0,
            held: false,
            linger: 0,
            answers: None,
            cancelled: false,
        }
    }
}

impl Tasks {
    fn end_of(&self, task: &Task) -> (&'static str, String) {
        let text = task.answers.as_ref().unwrap_or(&task.arguments);
        match (&self.error, &self.result) {
            _ if self.gives_up => ("cancelled", String::new()),
            (Some(error), _) => ("failed", format!(r#","error":{}"#, error.get())),
            (None, Some(result)) => ("completed", format!(r#","result":{}"#, result.get())),
            (None, None) => ("completed", format!(r#","result":{{{}}}"#, text_content(text))),
        }
    }
}

/// Refuses a client that does not say that it knows tasks.
fn admit(params: &Params) -> Result<(), Fault> {
    let capabilities = params.meta.capabilities.as_ref().map_or("", |raw| raw.get());
    if capabilities.contains(EXTENSION) {
        return Ok(());
    }
    let data = format!(r#"{{"requiredCapabilities":{{"extensions":{{"{EXTENSION}":{{}}}}}}}}"#);
    Err(Fault::new(-32021, "this needs tasks")
        .with_data(&data)
        .with_status(400))
}

/// The id of a task by its number: the same at every server, and nothing that fits in a header.
fn id_of(number: usize) -> String {
    format!("task/{number} \"é\"")
}

fn facts(id: &str, status: &str, interval: u64) -> String {
    let id = quoted(id);
    let at = "2026-08-01T00:00:00Z";
    format!(
        r#""taskId":{id},"status":"{status}","createdAt":"{at}","lastUpdatedAt":"{at}","ttlMs":60000,"pollIntervalMs":{interval}"#
    )
}
