//! The tools.

mod asking;
mod content;
mod jobs;
mod telling;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::client::{Client, Era, Halt};
use crate::fault::Fault;
use crate::message::Request;
use crate::question::object;
use crate::server::Server;

/// A tool.
pub(crate) struct Tool {
    name: &'static str,
    description: &'static str,
    schema: fn() -> Value,
    task: TaskUse,
    run: Run,
}

/// What a tool does.
#[derive(Clone, Copy)]
enum Run {
    /// Its content is always the same.
    Content(fn() -> Vec<Value>),
    /// It works, and talks with the client meanwhile.
    Work(fn(Call) -> Work),
}

/// Work with a result at its end.
type Work = Pin<Box<dyn Future<Output = Result<Value, Halt>> + Send>>;

/// Whether a call becomes a task, where the client knows tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TaskUse {
    Never,
    Always,
    /// Also, and a client that knows none cannot call it.
    Required,
}

/// A call of a tool.
struct Call {
    server: Arc<Server>,
    client: Arc<Client>,
    arguments: Value,
}

/// What `tools/list` tells.
pub(crate) fn list() -> Value {
    let describe = |tool: &Tool| json!({ "name": tool.name, "description": tool.description, "inputSchema": (tool.schema)() });
    let tools: Vec<_> = all().map(describe).collect();
    json!({ "tools": tools })
}

/// What `tools/call` tells.
pub(crate) async fn call(
    server: &Arc<Server>,
    request: &Request,
    client: Arc<Client>,
) -> Result<Value, Fault> {
    let name = request.text("name")?;
    let tool = find(name).ok_or_else(|| Fault::invalid_params(&format!("Unknown tool: {name}")))?;
    let arguments = request.params.get("arguments").cloned();
    let call = Call {
        server: Arc::clone(server),
        client: Arc::clone(&client),
        arguments: arguments.unwrap_or_else(|| json!({})),
    };
    match tool.run(call).await {
        Ok(result) => Ok(result),
        // The session era has no codes for what may go wrong here, so the model is told.
        Err(Halt::Fault(fault)) if client.era == Era::Session => Ok(failure(fault.text())),
        Err(halt) => server.halted(request, &client, halt),
    }
}

/// The schema of the tool, whose parameters may have headers.
pub(crate) fn schema(name: &str) -> Option<Value> {
    find(name).map(|tool| (tool.schema)())
}

fn all() -> impl Iterator<Item = &'static Tool> {
    [content::TOOLS, telling::TOOLS, asking::TOOLS, jobs::TOOLS]
        .into_iter()
        .flatten()
}

fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

impl Tool {
    async fn run(&self, call: Call) -> Result<Value, Halt> {
        let work = match self.run {
            Run::Content(content) => return Ok(json!({ "content": content() })),
            Run::Work(work) => work,
        };
        match (self.task, call.client.era) {
            (TaskUse::Never, _) | (_, Era::Session) => work(call).await,
            _ if call.client.knows_tasks() => Ok(call.into_task(work)),
            (TaskUse::Required, _) => Err(Fault::missing_tasks().into()),
            (TaskUse::Always, _) => work(call).await,
        }
    }
}

impl Call {
    /// Goes on as a task.
    fn into_task(self, work: impl FnOnce(Self) -> Work) -> Value {
        let server = Arc::clone(&self.server);
        let client = Arc::clone(&self.client);
        server
            .tasks
            .start(&server.hub, &client, |client| work(Self { client, ..self }))
    }

    /// An argument that is a text.
    fn text(&self, name: &str) -> Result<String, Fault> {
        let text = self.arguments[name].as_str().map(str::to_owned);
        text.ok_or_else(|| Fault::invalid_params(&format!("the argument `{name}` must be a string")))
    }
}

/// A result with one text.
fn told(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A result with one text that tells of an error.
fn failure(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// The schema of a tool without parameters.
fn nothing() -> Value {
    object(&json!({}), &[])
}
