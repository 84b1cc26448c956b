//! Calls that become tasks in the way of 2025-11-25.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::sleep;

use crate::fault::Fault;
use crate::interview::Ask;
use crate::message::{self, Params, quoted, text_content};
use crate::server::{Context, Server};
use crate::spec::{Raw, exact};

/// How such tasks go: they get to work when their result is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OldTasks {
    /// How long each works, in seconds.
    seconds: f64,
    /// How often each says how far it is, under the token of its call.
    progress: usize,
    /// What each asks before that.
    asks: Vec<Ask>,
    /// The exact error with which each fails.
    error: Option<Raw>,
}

/// The tasks there are, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Table(Mutex<BTreeMap<String, Task>>);

#[derive(Clone, Debug)]
struct Task {
    arguments: String,
    token: Option<String>,
}

/// What a tool says of tasks.
#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    execution: Value,
}

impl Server {
    /// Makes a task of a call that wants to be one; a tool may insist on that, or have none of it.
    pub(crate) fn begin_old_task(&self, params: &Params) -> Result<Option<String>, Fault> {
        let name = params.name.as_deref().unwrap_or_default();
        let refused = |why: &str| {
            Err(Fault::new(
                -32601,
                &format!("Tool {name} {why} task augmentation"),
            ))
        };
        match (self.support_of(name).as_str(), &params.task) {
            ("required", None) => refused("requires"),
            ("required" | "optional", Some(_)) => Ok(Some(self.enter_old_task(params))),
            (_, Some(_)) => refused("forbids"),
            (_, None) => Ok(None),
        }
    }

    /// The methods of such tasks.
    pub(crate) async fn old_task(
        &self,
        tasks: &OldTasks,
        method: &str,
        params: &Params,
        context: Context<'_>,
    ) -> Result<String, Fault> {
        let id = params.task_id.as_deref().unwrap_or_default();
        let known = self.old_tasks.0.lock().get(id).cloned();
        let task = known.ok_or_else(|| Fault::invalid_params(&format!("Unknown task: {id}")))?;
        match method {
            "tasks/result" => self.work_on(tasks, id, &task, context).await,
            "tasks/cancel" => Ok(facts(id, "cancelled")),
            _ => Ok(facts(id, "working")),
        }
    }

    fn support_of(&self, name: &str) -> String {
        let tools = self.spec.tools.iter();
        let tools = tools.filter_map(|raw| serde_json::from_str::<Tool>(raw.get()).ok());
        let tool = { tools }.find(|tool| tool.name == name);
        let support = tool.and_then(|tool| tool.execution["taskSupport"].as_str().map(str::to_owned));
        support.unwrap_or_default()
    }

    fn enter_old_task(&self, params: &Params) -> String {
        let mut table = self.old_tasks.0.lock();
        let id = format!("old-{}", table.len() + 1);
        let task = Task {
            arguments: params.arguments_text().to_owned(),
            token: params
                .meta
                .progress_token
                .as_ref()
                .map(|raw| raw.get().to_owned()),
        };
        table.insert(id.clone(), task);
        format!(r#"{{"task":{}}}"#, facts(&id, "working"))
    }

    async fn work_on(
        &self,
        tasks: &OldTasks,
        id: &str,
        task: &Task,
        context: Context<'_>,
    ) -> Result<String, Fault> {
        let mut said = task.arguments.clone();
        if !tasks.asks.is_empty() {
            said = self.ask_round(&tasks.asks, &task.arguments, context.outlet).await;
        }
        for step in 1..=tasks.progress {
            let Some(token) = &task.token else { break };
            let params = format!(r#"{{"progressToken":{token},"progress":{step},{}}}"#, related(id));
            context
                .outlet
                .send(&message::notification("notifications/progress", Some(&params)));
        }
        sleep(Duration::from_secs_f64(tasks.seconds)).await;
        match &tasks.error {
            Some(error) => Err(Fault {
                error: exact(error),
                status: 200,
            }),
            None => Ok(format!("{{{},{}}}", text_content(&said), related(id))),
        }
    }
}

/// What every message about a task says of it.
fn related(id: &str) -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":{}}}}}"#,
        quoted(id)
    )
}

fn facts(id: &str, status: &str) -> String {
    let (id, at) = (quoted(id), "2026-08-01T00:00:00Z");
    format!(
        r#"{{"taskId":{id},"status":"{status}","createdAt":"{at}","lastUpdatedAt":"{at}","ttl":60000,"pollInterval":20}}"#
    )
}
