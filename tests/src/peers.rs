//! Real servers and clients, installed once under `target/peers`, at exact versions.
//!
//! npm servers run on a Node of their own, Python ones in virtual environments. What is installed is
//! written down in `tests/peers`: four times a `package-lock.json`, and three lists of Python packages.

mod install;
mod parts;
mod served;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::bins::{package, target};

use parts::{Npm, Part, Python};

pub use served::Served;

/// A command as its words: the program, then its arguments.
pub type Words = Vec<String>;

/// Where everything is.
#[derive(Debug)]
pub struct Peers {
    folder: PathBuf,
}

/// All peers, ready to run. The first call on a machine installs them, which takes about a minute.
///
/// # Panics
///
/// When they cannot be installed; the text names the tool that is missing and what to do.
pub fn ready() -> &'static Peers {
    static READY: OnceLock<Peers> = OnceLock::new();
    READY.get_or_init(|| installed(Part::COMMON))
}

/// The same with the command lines of Claude Code, Codex and Gemini, which take a gigabyte and another
/// quarter of a minute.
///
/// # Panics
///
/// As [`ready`].
pub fn clis() -> &'static Peers {
    static READY: OnceLock<Peers> = OnceLock::new();
    READY.get_or_init(|| {
        ready();
        installed(Part::CLIS)
    })
}

fn installed(parts: &[Part]) -> Peers {
    let folder = target().join("peers");
    match install::ensure(&folder, parts) {
        Ok(()) => Peers { folder },
        Err(error) => panic!("the real MCP servers and clients for the tests are not ready: {error:#}"),
    }
}

impl Peers {
    /// The folder that holds everything.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Node 22.
    pub fn node22(&self) -> PathBuf {
        let modules = self.modules();
        let nodes = install::NODE_PACKAGES.map(|platform| modules.join(platform).join("bin/node"));
        nodes
            .into_iter()
            .find(|node| node.is_file())
            .expect("an installation without a Node fails")
    }

    /// server-everything over stdio.
    pub fn everything(&self) -> Words {
        self.npm_server("everything", &[])
    }

    /// server-everything over streamable HTTP at `/mcp`; its port is the variable `PORT`.
    pub fn everything_http(&self) -> Words {
        self.npm_server("everything", &["streamableHttp"])
    }

    /// server-everything over the old HTTP+SSE at `/sse`; its port is the variable `PORT`.
    pub fn everything_sse(&self) -> Words {
        self.npm_server("everything", &["sse"])
    }

    /// server-filesystem, which may use one folder.
    pub fn filesystem(&self, folder: &Path) -> Words {
        self.npm_server("filesystem", &[&folder.display().to_string()])
    }

    /// server-memory; its file is the variable `MEMORY_FILE_PATH`, which `env` sets here.
    pub fn memory(&self, file: &Path) -> Words {
        let variable = format!("MEMORY_FILE_PATH={}", file.display());
        let env = ["/usr/bin/env".to_owned(), variable];
        env.into_iter().chain(self.npm_server("memory", &[])).collect()
    }

    /// server-sequential-thinking.
    pub fn sequential_thinking(&self) -> Words {
        self.npm_server("sequential-thinking", &[])
    }

    /// mcp-server-time in UTC.
    pub fn time(&self) -> Words {
        self.python_words(
            Python::Current,
            &["-m", "mcp_server_time", "--local-timezone", "UTC"],
        )
    }

    /// mcp-server-git for one repository.
    pub fn git(&self, repository: &Path) -> Words {
        let repository = repository.display().to_string();
        self.python_words(
            Python::Current,
            &["-m", "mcp_server_git", "--repository", &repository],
        )
    }

    /// mcp-server-fetch, which may fetch from this machine.
    pub fn fetch(&self) -> Words {
        self.python_words(
            Python::Current,
            &[
                "-m",
                "mcp_server_fetch",
                "--ignore-robots-txt",
                "--allow-private-ips",
            ],
        )
    }

    /// A server on the Python SDK 1.2.0.
    pub fn old_python_1_2(&self) -> Words {
        self.python_words(Python::V1_2, &[&script("old_python_server.py")])
    }

    /// A server on the Python SDK 1.12.4.
    pub fn old_python_1_12(&self) -> Words {
        self.python_words(Python::V1_12, &[&script("old_python_server.py")])
    }

    /// The official conformance suite 0.1.16; its arguments follow.
    pub fn conformance_0_1(&self) -> Words {
        self.conformance(Npm::Conformance0_1)
    }

    /// The official conformance suite 0.2.0-alpha.12; its arguments follow.
    pub fn conformance_0_2(&self) -> Words {
        self.conformance(Npm::Conformance0_2)
    }

    /// The Inspector's command line; its arguments follow.
    pub fn inspector_cli(&self) -> Words {
        let launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        self.node_words(&self.modules().join(launcher), &["--cli"])
    }

    /// The TypeScript client 2.4; URL, operations and `--era` follow.
    pub fn ts_client(&self) -> Words {
        self.node_words(script("ts_client.mjs").as_ref(), &[])
    }

    /// The TypeScript SDK 1.32; URL and operations follow.
    pub fn ts1_client(&self) -> Words {
        self.node_words(script("ts1_client.mjs").as_ref(), &[])
    }

    /// The Python SDK 2.3; URL, operations and `--era` follow.
    pub fn py_client(&self) -> Words {
        self.python_words(Python::Current, &[&script("py_client.py")])
    }

    /// Claude Code; its arguments follow.
    pub fn claude_code(&self) -> Words {
        self.cli("@anthropic-ai/claude-code/cli-wrapper.cjs")
    }

    /// The Codex CLI; its arguments follow.
    pub fn codex(&self) -> Words {
        self.cli("@openai/codex/bin/codex.js")
    }

    /// The Gemini CLI; its arguments follow.
    pub fn gemini(&self) -> Words {
        self.cli("@google/gemini-cli/bundle/gemini.js")
    }

    fn cli(&self, entry: &str) -> Words {
        self.node_words(&self.modules_of(Npm::Clis).join(entry), &[])
    }

    fn modules(&self) -> PathBuf {
        self.modules_of(Npm::Peers)
    }

    fn modules_of(&self, packages: Npm) -> PathBuf {
        self.folder.join(packages.folder()).join("node_modules")
    }

    fn conformance(&self, suite: Npm) -> Words {
        let entry = "@modelcontextprotocol/conformance/dist/index.js";
        self.node_words(&self.modules_of(suite).join(entry), &[])
    }

    fn npm_server(&self, name: &str, arguments: &[&str]) -> Words {
        let entry = format!("@modelcontextprotocol/server-{name}/dist/index.js");
        self.node_words(&self.modules().join(entry), arguments)
    }

    fn node_words(&self, script: &Path, arguments: &[&str]) -> Words {
        let words = [self.node22().display().to_string(), script.display().to_string()];
        words
            .into_iter()
            .chain(arguments.iter().map(|&word| word.to_owned()))
            .collect()
    }

    fn python_words(&self, python: Python, arguments: &[&str]) -> Words {
        let program = self
            .folder
            .join(python.folder())
            .join("bin/python")
            .display()
            .to_string();
        [program]
            .into_iter()
            .chain(arguments.iter().map(|&word| word.to_owned()))
            .collect()
    }
}

/// The path of a file in `tests/peers`.
fn script(name: &str) -> String {
    package().join("peers").join(name).display().to_string()
}
