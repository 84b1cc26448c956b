//! Tools whose calls become tasks, where the client knows tasks.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Call, Halt, Run, TaskUse, Tool, Work, failure, nothing, object, told};
use crate::client::{Asking, Era};
use crate::fault::Fault;
use crate::question::Question;

/// How long a short job takes.
const SHORT: Duration = Duration::from_millis(300);

/// How long a client is kept waiting for an answer; what takes longer is done as a task or not at all.
const PATIENCE: Duration = Duration::from_secs(5);

const fn tool(name: &'static str, description: &'static str, task: TaskUse, work: fn(Call) -> Work) -> Tool {
    Tool {
        name,
        description,
        schema: nothing,
        task,
        run: Run::Work(work),
    }
}

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        schema: || object(&json!({ "name": { "type": "string" } }), &["name"]),
        ..tool("greet", "Greets at once", TaskUse::Never, |call| {
            Box::pin(async move { Ok(told(&format!("Hello, {}!", call.text("name")?))) })
        })
    },
    Tool {
        schema: || {
            let properties = json!({ "seconds": { "type": "number" }, "label": { "type": "string" } });
            object(&properties, &["seconds"])
        },
        ..tool(
            "slow_compute",
            "Computes for some seconds",
            TaskUse::Always,
            |call| Box::pin(compute(call)),
        )
    },
    tool(
        "failing_job",
        "Ends with an error of the tool",
        TaskUse::Required,
        |_| {
            Box::pin(async {
                sleep(SHORT).await;
                Ok(failure("This job intentionally fails"))
            })
        },
    ),
    tool(
        "protocol_error_job",
        "Ends with an error of the protocol",
        TaskUse::Always,
        |_| {
            Box::pin(async {
                sleep(SHORT).await;
                Err(Fault::internal("this job intentionally breaks").into())
            })
        },
    ),
    Tool {
        schema: || object(&json!({ "filename": { "type": "string" } }), &["filename"]),
        ..tool(
            "confirm_delete",
            "Asks before it deletes",
            TaskUse::Always,
            |call| Box::pin(delete(call)),
        )
    },
    tool(
        "multi_input",
        "Asks for two things at once",
        TaskUse::Always,
        |call| Box::pin(two_names(call)),
    ),
    tool(
        "test_tool_with_task",
        "Asks first, and goes on as a task",
        TaskUse::Never,
        |call| Box::pin(ask_then_work(call)),
    ),
];

async fn compute(call: Call) -> Result<Value, Halt> {
    let seconds = call.arguments["seconds"].as_f64().unwrap_or_default();
    let span = Duration::try_from_secs_f64(seconds);
    let span = span.map_err(|_| Fault::invalid_params("`seconds` is no span of time"))?;
    if span > PATIENCE && !call.is_task() {
        return Err(call.needs_task().into());
    }
    sleep(span).await;
    Ok(told(&format!("Computed: {}", call.arguments["label"])))
}

async fn delete(call: Call) -> Result<Value, Halt> {
    let file = call.text("filename")?;
    let question = Question::yes("confirm", &format!("Delete {file}?"), "confirm");
    let answer = call.client.ask(question).await?;
    let deleted = answer["content"]["confirm"] == true;
    Ok(told(&format!("Deleted {file}: {deleted}")))
}

async fn two_names(call: Call) -> Result<Value, Halt> {
    let question = |key| Question::text(key, "What is your name?", "name");
    let answers = call
        .client
        .ask_all(vec![question("first"), question("second")])
        .await?;
    let name = |answer: &Value| answer["content"]["name"].clone();
    Ok(told(&format!(
        "Names: {:?}",
        answers.iter().map(name).collect::<Vec<_>>()
    )))
}

async fn ask_then_work(call: Call) -> Result<Value, Halt> {
    let knows_tasks = call.client.knows_tasks();
    if !knows_tasks && call.client.era == Era::Stateless {
        return Err(call.needs_task().into());
    }
    let question = Question::text("user_name", "What is your name?", "name").sealed();
    let answer = call.client.ask(question).await?;
    let name = answer["content"]["name"].as_str().unwrap_or("nobody").to_owned();
    let work = async move {
        sleep(SHORT).await;
        Ok(told(&format!("A long greeting for {name}")))
    };
    if knows_tasks {
        Ok(call.into_task(|_| Box::pin(work)))
    } else {
        work.await
    }
}

impl Call {
    fn is_task(&self) -> bool {
        matches!(self.client.asking, Asking::Later(_))
    }

    /// The refusal of what can only be done as a task.
    fn needs_task(&self) -> Fault {
        match self.client.era {
            Era::Stateless => Fault::missing_tasks(),
            Era::Session => Fault::invalid_params("this takes too long to wait for"),
        }
    }
}
