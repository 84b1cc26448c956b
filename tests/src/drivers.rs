//! Real clients: each runs a list of operations against a URL and tells what it got.

mod answers;
mod inspector;
mod operation;
mod told;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::peers::{self, Words};

pub use answers::Answers;
pub use inspector::inspect;
pub use operation::Operation;
pub use told::{Asked, Outcome, Told};

/// How long a client may take for all its operations.
const PATIENCE: Duration = Duration::from_secs(120);

/// A real client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// The TypeScript client 2.4, as a client of the session era.
    TypeScript,
    /// The same, which tries the stateless era first.
    TypeScriptAuto,
    /// The same, which insists on the stateless era.
    TypeScriptStateless,
    /// The TypeScript SDK 1.32.
    TypeScript1,
    /// The Python SDK 2.3, as a client of the session era.
    Python,
    /// The same, which tries the stateless era first.
    PythonAuto,
    /// The same, which insists on the stateless era.
    PythonStateless,
}

impl Client {
    /// All of them, save those that insist on what the others find out.
    pub const ALL: [Self; 5] = [
        Self::TypeScript,
        Self::TypeScriptAuto,
        Self::TypeScript1,
        Self::Python,
        Self::PythonAuto,
    ];

    /// Those of the session era.
    pub const SESSION: [Self; 3] = [Self::TypeScript, Self::TypeScript1, Self::Python];

    /// Those that insist on the stateless era.
    pub const STATELESS: [Self; 2] = [Self::TypeScriptStateless, Self::PythonStateless];

    /// One for each SDK and era.
    pub const EACH: [Self; 5] = [
        Self::TypeScript,
        Self::TypeScriptStateless,
        Self::TypeScript1,
        Self::Python,
        Self::PythonStateless,
    ];

    /// Connects to `url` with a bearer token, and runs the operations in order.
    ///
    /// # Errors
    ///
    /// When the client cannot connect, or does not end within two minutes; the text holds what it said.
    pub async fn run(self, url: &str, token: Option<&str>, operations: &[Operation]) -> Result<Told> {
        self.run_with(url, token, &Answers::default(), operations).await
    }

    /// The same for a client that can be asked what it has answers for.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn run_with(
        self,
        url: &str,
        token: Option<&str>,
        answers: &Answers,
        operations: &[Operation],
    ) -> Result<Told> {
        let mut words = self.words();
        let given = [json!(operations), json!(answers)].map(|given| given.to_string());
        words.extend([url.to_owned()].into_iter().chain(given));
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
        Self::run_each(&Self::ALL, url, token, |_| {
            (Answers::default(), operations.to_vec())
        })
        .await
    }

    /// Runs some of them at the same time, each with answers and operations of its own.
    ///
    /// # Panics
    ///
    /// When one of them fails, with what it said.
    pub async fn run_each(
        clients: &[Self],
        url: &str,
        token: &str,
        work: impl Fn(Self) -> (Answers, Vec<Operation>),
    ) -> Vec<(Self, Told)> {
        let mut running = JoinSet::new();
        for &client in clients {
            let (url, token) = (url.to_owned(), token.to_owned());
            let (answers, operations) = work(client);
            running.spawn(async move {
                let told = client.run_with(&url, Some(&token), &answers, &operations).await;
                (client, told.unwrap_or_else(|error| panic!("{error:#}")))
            });
        }
        running.join_all().await
    }

    /// Whether it ends up in the stateless era at a server of both.
    pub fn is_stateless(self) -> bool {
        !Self::SESSION.contains(&self)
    }

    fn words(self) -> Words {
        let peers = peers::ready();
        match self {
            Self::TypeScript | Self::TypeScriptAuto | Self::TypeScriptStateless => peers.ts_client(),
            Self::TypeScript1 => peers.ts1_client(),
            Self::Python | Self::PythonAuto | Self::PythonStateless => peers.py_client(),
        }
    }

    fn era(self) -> &'static [&'static str] {
        match self {
            Self::TypeScript | Self::Python => &["--era", "session"],
            Self::TypeScriptAuto | Self::PythonAuto => &["--era", "auto"],
            Self::TypeScriptStateless | Self::PythonStateless => &["--era", "stateless"],
            Self::TypeScript1 => &[],
        }
    }
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
