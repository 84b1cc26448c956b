//! The servers of the demo: three small MCP servers of the session era, each a process of its own.
//!
//! They share nothing with the gateway but a few words of the protocol: they are ordinary servers,
//! and the gateway does not know them from others.

mod calc;
mod clock;
mod notes;
mod wire;

use clap::ValueEnum;
use mcpr_admin::ExitCode;
use serde_json::{Value, json};

use crate::problem::Problem;

use self::wire::Caller;

/// One of the servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Which {
    /// Tells the time
    Clock,
    /// Keeps notes
    Notes,
    /// Calculates
    Calc,
}

/// What a server has to offer. Lists are JSON arrays as `tools/list` and its siblings give them;
/// what a server does not have it leaves at `null`, and does not declare.
trait Serve: Sync {
    /// Its name.
    const NAME: &'static str;
    /// What a model should know of it.
    const INSTRUCTIONS: &'static str;

    /// Its tools.
    fn tools(&self) -> Value;

    /// Calls a tool; the result is a `CallToolResult`.
    fn call(&self, tool: &str, arguments: &Value, caller: &Caller<'_>) -> Result<Value, Refusal>;

    /// Its resources.
    fn resources(&self) -> Value {
        Value::Null
    }

    /// Its resource templates.
    fn templates(&self) -> Value {
        Value::Null
    }

    /// The content of a resource.
    fn read(&self, _uri: &str) -> Option<String> {
        None
    }

    /// Its prompts.
    fn prompts(&self) -> Value {
        Value::Null
    }

    /// The text of a prompt.
    fn prompt(&self, _name: &str, _arguments: &Value) -> Option<String> {
        None
    }
}

/// Why a request has no result.
#[derive(Debug, PartialEq)]
struct Refusal {
    code: i64,
    message: String,
}

impl Which {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Clock, Self::Notes, Self::Calc];

    /// Its name, on the command line and in the configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clock => clock::Clock::NAME,
            Self::Notes => notes::Notes::NAME,
            Self::Calc => calc::Calc::NAME,
        }
    }
}

/// Serves on standard input and output until the input ends.
pub(crate) fn run(which: Which) -> Result<ExitCode, Problem> {
    match which {
        Which::Clock => wire::serve(&clock::Clock)?,
        Which::Notes => wire::serve(&notes::Notes::default())?,
        Which::Calc => wire::serve(&calc::Calc)?,
    }
    Ok(ExitCode::Ok)
}

/// A result for programs and for people.
fn structured(content: Value, text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "structuredContent": content })
}

/// A result that says that the tool failed, so that the model can try otherwise.
fn tool_error(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// The schema of an object.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}
