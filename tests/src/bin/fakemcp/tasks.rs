//! Calls that become tasks (extension of 2026-07-28).

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::Deserialize;

use crate::fault::Fault;
use crate::interview::Ask;
use crate::message::{Params, text_content};
use crate::server::Server;

/// The capability without which nobody gets a task.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How tasks go.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tasks {
    /// How often a task is still at work when it is asked for.
    #[serde(default)]
    polls: usize,
    /// What each task wants to know first.
    #[serde(default)]
    asks: Vec<Ask>,
}

/// The tasks there are, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Table(Mutex<BTreeMap<String, Task>>);

#[derive(Debug)]
struct Task {
    arguments: String,
    polls: usize,
    answers: Option<String>,
    cancelled: bool,
}

impl Server {
    /// Makes a task of a call, if the script says so.
    pub(crate) fn begin_task(&self, tasks: &Tasks, params: &Params) -> Result<String, Fault> {
        let capabilities = params.meta.capabilities.as_ref().map_or("", |raw| raw.get());
        if !capabilities.contains(EXTENSION) {
            let data = format!(r#"{{"requiredCapabilities":{{"extensions":{{"{EXTENSION}":{{}}}}}}}}"#);
            return Err(Fault::new(-32021, "this needs tasks").with_data(&data).with_status(400));
        }
        let mut table = self.tasks.0.lock();
        let id = format!("task/{} \"é\"", table.len() + 1);
        let task = Task {
            arguments: params.arguments_text().to_owned(),
            polls: tasks.polls,
            answers: None,
            cancelled: false,
        };
        table.insert(id.clone(), task);
        Ok(format!(r#"{{"resultType":"task",{}}}"#, facts(&id, "working")))
    }

    /// The methods of tasks.
    pub(crate) fn task(&self, method: &str, params: &Params) -> Result<String, Fault> {
        let id = params.task_id.as_deref().unwrap_or_default();
        let mut table = self.tasks.0.lock();
        let unknown = || Fault::invalid_params(&format!("Unknown task: {id}"));
        let task = table.get_mut(id).ok_or_else(unknown)?;
        match method {
            "tasks/get" => Ok(self.stand(id, task)),
            "tasks/cancel" => {
                task.cancelled = true;
                Ok(r#"{"resultType":"complete"}"#.to_owned())
            }
            _ => {
                let answers = params.input_responses.as_ref().map(|raw| raw.get().to_owned());
                task.answers = answers.or(task.answers.take());
                Ok(r#"{"resultType":"complete"}"#.to_owned())
            }
        }
    }

    /// How a task stands.
    fn stand(&self, id: &str, task: &mut Task) -> String {
        let asks = self.spec.tasks.as_ref().map_or(&[][..], |tasks| &tasks.asks);
        let (status, more) = if task.cancelled {
            ("cancelled", String::new())
        } else if !asks.is_empty() && task.answers.is_none() {
            let entries = asks.iter().enumerate();
            let entries: Vec<_> = entries
                .map(|(index, ask)| format!(r#""t{index}":{}"#, ask.entry(&task.arguments)))
                .collect();
            ("input_required", format!(r#","inputRequests":{{{}}}"#, entries.join(",")))
        } else if task.polls > 0 {
            task.polls -= 1;
            ("working", String::new())
        } else {
            let text = task.answers.as_ref().unwrap_or(&task.arguments);
            ("completed", format!(r#","result":{{{}}}"#, text_content(text)))
        };
        format!(r#"{{"resultType":"complete",{}{more}}}"#, facts(id, status))
    }
}

fn facts(id: &str, status: &str) -> String {
    let id = crate::message::quoted(id);
    let at = "2026-08-01T00:00:00Z";
    format!(
        r#""taskId":{id},"status":"{status}","createdAt":"{at}","lastUpdatedAt":"{at}","ttlMs":60000,"pollIntervalMs":20"#
    )
}
