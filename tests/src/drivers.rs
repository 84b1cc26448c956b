//! Real clients: each runs a list of operations against a URL and tells what it got.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::peers::{self, Words};

/// How long a client may take for all its operations.
const PATIENCE: Duration = Duration::from_secs(120);

/// A real client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// The TypeScript client 2.4, as a client of the session era.
    TypeScript,
    /// The same, which tries the stateless era first.
    TypeScriptAuto,
    /// The TypeScript SDK 1.32.
    TypeScript1,
    /// The Python SDK 2.3, as a client of the session era.
    Python,
    /// The same, which tries the stateless era first.
    PythonAuto,
}

/// Something that a client does.
#[derive(Clone, Debug)]
pub struct Operation(Value);

/// What a client tells.
#[derive(Clone, Debug, Deserialize)]
pub struct Told {
    /// The `serverInfo` of the other side.
    pub server: Value,
    /// The protocol version that was agreed on.
    pub version: Option<String>,
    /// One result for each operation.
    pub results: Vec<Outcome>,
}

/// The result of one operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The result as the client's library understood it.
    Ok(Value),
    /// The error, as `{code, message}`.
    Error(Value),
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::TypeScript,
        Self::TypeScriptAuto,
        Self::TypeScript1,
        Self::Python,
        Self::PythonAuto,
    ];

    /// Connects to `url` with a bearer token, and runs the operations in order.
    ///
    /// # Errors
    ///
    /// When the client cannot connect, or does not end within two minutes; the text holds what it said.
    pub async fn run(self, url: &str, token: Option<&str>, operations: &[Operation]) -> Result<Told> {
        let operations: Vec<_> = operations.iter().map(|operation| &operation.0).collect();
        let mut words = self.words();
        words.extend([url.to_owned(), json!(operations).to_string()]);
        words.extend(self.era().iter().map(|&word| word.to_owned()));
        let told = output(&words, token)
            .await
            .with_context(|| format!("{self:?} at {url}"))?;
        serde_json::from_str(&told).with_context(|| format!("{self:?} told {told:?}"))
    }

    /// Runs all of them at the same time.
    ///
    /// # Panics
    ///
    /// When one of them fails, with what it said.
    pub async fn run_all(url: &str, token: &str, operations: &[Operation]) -> Vec<(Self, Told)> {
        let mut clients = JoinSet::new();
        for client in Self::ALL {
            let (url, token, operations) = (url.to_owned(), token.to_owned(), operations.to_vec());
            clients.spawn(async move {
                let told = client.run(&url, Some(&token), &operations).await;
                (client, told.unwrap_or_else(|error| panic!("{error:#}")))
            });
        }
        clients.join_all().await
    }

    fn words(self) -> Words {
        let peers = peers::ready();
        match self {
            Self::TypeScript | Self::TypeScriptAuto => peers.ts_client(),
            Self::TypeScript1 => peers.ts1_client(),
            Self::Python | Self::PythonAuto => peers.py_client(),
        }
    }

    fn era(self) -> &'static [&'static str] {
        match self {
            Self::TypeScript | Self::Python => &["--era", "session"],
            Self::TypeScriptAuto | Self::PythonAuto => &["--era", "auto"],
            Self::TypeScript1 => &[],
        }
    }
}

impl Operation {
    /// Lists tools.
    pub fn list_tools() -> Self {
        Self(json!({ "op": "list_tools" }))
    }

    /// Lists prompts.
    pub fn list_prompts() -> Self {
        Self(json!({ "op": "list_prompts" }))
    }

    /// Lists resources.
    pub fn list_resources() -> Self {
        Self(json!({ "op": "list_resources" }))
    }

    /// Lists resource templates.
    pub fn list_templates() -> Self {
        Self(json!({ "op": "list_templates" }))
    }

    /// Calls a tool.
    pub fn call_tool(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "call_tool", "name": name, "arguments": arguments }))
    }

    /// Calls a tool; the result is `{result, progress}`.
    pub fn call_with_progress(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "call_with_progress", "name": name, "arguments": arguments }))
    }

    /// Calls a tool, and cancels the call at its first progress; the result is an error.
    pub fn call_and_cancel(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "call_and_cancel", "name": name, "arguments": arguments }))
    }

    /// Completes an argument of a prompt or a resource template, given the other arguments.
    pub fn complete(reference: Value, argument: &str, value: &str, others: Value) -> Self {
        let argument = json!({ "name": argument, "value": value });
        Self(
            json!({ "op": "complete", "ref": reference, "argument": argument, "context": { "arguments": others } }),
        )
    }

    /// Gets a prompt.
    pub fn get_prompt(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "get_prompt", "name": name, "arguments": arguments }))
    }

    /// Subscribes to a resource, calls a tool that changes it, and ends the subscription; the result
    /// is `{heard}`, the URI that was told to have changed.
    pub fn hear(uri: &str, tool: &str, arguments: Value) -> Self {
        Self(json!({ "op": "hear", "uri": uri, "name": tool, "arguments": arguments }))
    }

    /// Reads a resource.
    pub fn read_resource(uri: &str) -> Self {
        Self(json!({ "op": "read_resource", "uri": uri }))
    }
}

impl Told {
    /// The result of operation number `index`, if it went well.
    ///
    /// # Panics
    ///
    /// When it failed; the text holds the error.
    pub fn ok(&self, index: usize) -> &Value {
        match &self.results[index] {
            Outcome::Ok(result) => result,
            Outcome::Error(error) => panic!("operation {index} failed: {error}"),
        }
    }

    /// The text of the error of operation number `index`.
    ///
    /// # Panics
    ///
    /// When it went well.
    pub fn failure(&self, index: usize) -> String {
        match &self.results[index] {
            Outcome::Error(error) => error["message"].as_str().unwrap_or_default().to_owned(),
            Outcome::Ok(result) => panic!("operation {index} went well: {result}"),
        }
    }

    /// The names of the tools that operation number `index` listed.
    pub fn tools(&self, index: usize) -> Vec<&str> {
        let tools = self.ok(index)["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["name"].as_str()).collect()
    }
}

/// Runs one method with the Inspector's command line, and gives the result.
///
/// `arguments` are the Inspector's own, such as `["--method", "tools/list"]`; `era` is `legacy`, `auto` or
/// `modern`.
///
/// # Errors
///
/// When the Inspector fails; the text holds its error.
pub async fn inspect(url: &str, token: Option<&str>, era: &str, arguments: &[&str]) -> Result<Value> {
    let mut words = peers::ready().inspector_cli();
    let fixed = [
        "--server-url",
        url,
        "--transport",
        "http",
        "--protocol-era",
        era,
        "--format",
        "json",
        "-q",
    ];
    words.extend(fixed.iter().chain(arguments).map(|&word| word.to_owned()));
    if let Some(token) = token {
        words.extend(["--header".to_owned(), format!("Authorization: Bearer {token}")]);
    }
    let told = output(&words, None)
        .await
        .with_context(|| format!("the Inspector at {url}"))?;
    let told: Value = serde_json::from_str(&told).with_context(|| format!("the Inspector told {told:?}"))?;
    Ok(told["result"].clone())
}

async fn output(words: &[String], token: Option<&str>) -> Result<String> {
    // Clients keep things in the home folder; they get one of their own.
    let home = TempDir::with_prefix("client-home-")?;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .kill_on_drop(true)
        .env("HOME", home.path());
    command.env("MCPR_PEERS", peers::ready().folder());
    if let Some(token) = token {
        command.env("MCPR_TEST_TOKEN", token);
    }
    let output = timeout(PATIENCE, command.output())
        .await
        .context("the client did not end in time")??;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    ensure!(output.status.success(), "{}: {stdout}{stderr}", output.status);
    Ok(stdout.into_owned())
}
