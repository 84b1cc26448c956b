//! Nine real servers behind one gateway: seven over stdio, and server-everything over HTTP and old SSE too.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcpr_tests::peers::{self, Served, Words};
use mcpr_tests::{Brood, Builder, Gateway, gateway};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::page::{self, Page};

/// All that the nine servers need, and themselves as far as the gateway does not start them.
pub(crate) struct Servers {
    folder: TempDir,
    page: Page,
    http: Served,
    sse: Served,
    brood: Brood,
}

/// A call of which every server has one.
pub(crate) struct Sample {
    /// The server's name in the file.
    pub(crate) server: &'static str,
    /// What the server calls the tool.
    pub(crate) tool: &'static str,
    /// What the gateway calls it.
    pub(crate) exposed: &'static str,
    pub(crate) arguments: Value,
    /// What the first text of the result contains.
    pub(crate) says: String,
}

impl Sample {
    /// Whether this is the result that it must have, whoever got it.
    pub(crate) fn check(&self, result: &Value, client: &str) {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(
            text.contains(&self.says),
            "{client} calls {}: {result}",
            self.exposed
        );
        assert_ne!(
            result["isError"], true,
            "{client} calls {}: {result}",
            self.exposed
        );
    }
}

impl Servers {
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        fs::write(folder.path().join("note.txt"), "A note.\n").expect("a file for the filesystem server");
        let entity =
            json!({ "type": "entity", "name": "Bern", "entityType": "city", "observations": ["a bear"] });
        fs::write(folder.path().join("memory.jsonl"), entity.to_string())
            .expect("a file for the memory server");
        repository(&folder.path().join("repository"));
        let (page, http, sse) = tokio::join!(Page::start(), Served::everything(), Served::everything_sse());
        Self {
            folder,
            page,
            http,
            sse,
            brood: Brood::new(),
        }
    }

    /// The commands of the seven.
    pub(crate) fn commands(&self) -> [(&'static str, Words); 7] {
        let (peers, folder) = (peers::ready(), self.folder.path());
        [
            ("everything", peers.everything()),
            ("filesystem", peers.filesystem(folder)),
            ("memory", peers.memory(&folder.join("memory.jsonl"))),
            ("sequential-thinking", peers.sequential_thinking()),
            ("time", peers.time()),
            ("git", peers.git(&folder.join("repository"))),
            ("fetch", peers.fetch()),
        ]
    }

    /// A gateway in the making with all nine.
    pub(crate) fn gateway(&self) -> Builder {
        let seven = self.commands().into_iter();
        let seven = seven.fold(gateway(), |gateway, (name, words)| {
            gateway.server(name, self.brood.entry(&words))
        });
        seven
            .server(
                "everything-http",
                json!({ "type": "http", "url": self.http.url() }),
            )
            .server("everything-sse", json!({ "type": "sse", "url": self.sse.url() }))
    }

    /// One call for each.
    pub(crate) fn samples(&self) -> [Sample; 9] {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let thought =
            json!({ "thought": "So.", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
        let noon = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
        let sample = |server, tool, exposed, arguments, says: &str| Sample {
            server,
            tool,
            exposed,
            arguments,
            says: says.to_owned(),
        };
        [
            sample(
                "everything",
                "echo",
                "everything_echo",
                json!({ "message": "Grüezi" }),
                "Echo: Grüezi",
            ),
            sample(
                "everything-http",
                "get-sum",
                "everything_http_get_sum",
                json!({ "a": 2, "b": 40 }),
                "is 42",
            ),
            sample(
                "everything-sse",
                "echo",
                "everything_sse_echo",
                json!({ "message": "hi" }),
                "Echo: hi",
            ),
            sample(
                "filesystem",
                "read_text_file",
                "filesystem_read_text_file",
                json!({ "path": path("note.txt") }),
                "A note.",
            ),
            sample("memory", "read_graph", "memory_read_graph", json!({}), "a bear"),
            sample(
                "sequential-thinking",
                "sequentialthinking",
                "sequential_thinking_sequentialthinking",
                thought,
                "thoughtNumber",
            ),
            sample("time", "convert_time", "time_convert_time", noon, "Asia/Tokyo"),
            sample(
                "git",
                "git_log",
                "git_git_log",
                json!({ "repo_path": path("repository") }),
                "First words",
            ),
            sample(
                "fetch",
                "fetch",
                "fetch_fetch",
                json!({ "url": self.page.url() }),
                page::WORDS,
            ),
        ]
    }

    /// Stops the gateway; no process that it started is left after that.
    pub(crate) async fn stop(&self, gateway: Gateway) {
        self.brood.stop(gateway).await;
    }
}

/// A repository with one commit, which is the same at any time and place.
fn repository(folder: &Path) {
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C")
            .arg(folder)
            .args(words)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for person in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{person}_NAME"), "Ada")
                .env(format!("GIT_{person}_EMAIL"), "ada@example.com");
            git.env(format!("GIT_{person}_DATE"), "2026-01-01T00:00:00Z");
        }
        assert!(
            git.status()
                .expect("git is on PATH: install git for the test of mcp-server-git")
                .success()
        );
    };
    fs::create_dir(folder).expect("a folder for the repository");
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "First words"]);
}
