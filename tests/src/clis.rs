//! The command lines that people use MCP with, each in a home folder of its own and without a model.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

use crate::peers::{self, Words};
use crate::pipe::Pipe;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What keeps all of them from speaking to anybody but the gateway.
const ALONE: [&str; 4] = [
    "PATH=/usr/bin:/bin",
    "TERM=dumb",
    "HTTPS_PROXY=http://127.0.0.1:9",
    "NO_PROXY=127.0.0.1",
];

/// A command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cli {
    /// `claude`, Claude Code 2.1.332.
    ClaudeCode,
    /// `codex`, Codex CLI 0.171.0.
    Codex,
    /// `gemini`, Gemini CLI 0.61.0.
    Gemini,
}

/// A command line with a home, which knows a gateway by the name `mcpr`.
#[derive(Debug)]
pub struct User {
    cli: Cli,
    home: TempDir,
    token: String,
}

impl Cli {
    /// The name of its folder among the fixtures.
    pub fn folder(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Adds a gateway in the way that its users do.
    ///
    /// # Panics
    ///
    /// When the command fails.
    pub async fn add(self, url: &str, token: &str) -> User {
        let user = User {
            cli: self,
            home: TempDir::with_prefix("cli-home-").expect("a temporary folder"),
            token: token.to_owned(),
        };
        let header = format!("Authorization: Bearer {token}");
        let words = match self {
            Self::ClaudeCode => &[
                "--transport",
                "http",
                "--scope",
                "user",
                "mcpr",
                url,
                "--header",
                &header,
            ][..],
            Self::Codex => &["mcpr", "--url", url, "--bearer-token-env-var", "MCPR_TOKEN"],
            Self::Gemini => &["-s", "user", "--transport", "http", "-H", &header, "mcpr", url],
        };
        user.run(&[&["mcp", "add"], words].concat()).await;
        user
    }

    fn words(self) -> Words {
        let clis = peers::clis();
        match self {
            Self::ClaudeCode => clis.claude_code(),
            Self::Codex => clis.codex(),
            Self::Gemini => clis.gemini(),
        }
    }

    /// Variables that spare it what it need not do here.
    fn quiet(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[
                "ANTHROPIC_API_KEY=none",
                "ANTHROPIC_BASE_URL=http://127.0.0.1:9",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            ],
            Self::Codex => &[],
            Self::Gemini => &[
                "GEMINI_API_KEY=none",
                "GEMINI_CLI_NO_RELAUNCH=true",
                "GEMINI_CLI_TRUST_WORKSPACE=true",
            ],
        }
    }

    /// The arguments with which it is spoken to on a pipe, as editors and SDKs do.
    fn on_a_pipe(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[
                "-p",
                "--input-format",
                "stream-json",
                "--output-format",
                "stream-json",
                "--verbose",
            ],
            Self::Codex => &["app-server"],
            Self::Gemini => &["--acp"],
        }
    }
}

impl User {
    /// What `mcp list` says.
    ///
    /// # Panics
    ///
    /// When it fails.
    pub async fn list(&self) -> String {
        self.run(&["mcp", "list"]).await
    }

    /// Starts it, to be spoken to on its pipe.
    pub fn open(&self) -> Pipe {
        Pipe::start_in(&self.words(self.cli.on_a_pipe()), Some(self.home()))
    }

    /// Its home folder, which it also works in.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    async fn run(&self, arguments: &[&str]) -> String {
        let words = self.words(arguments);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(self.home());
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(PATIENCE, command.output())
            .await
            .expect("a command ends in time");
        let output = output.expect("a command can be run");
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(output.status.success(), "{:?} {arguments:?}: {said}", self.cli);
        said
    }

    fn words(&self, arguments: &[&str]) -> Words {
        let own = [
            format!("HOME={}", self.home().display()),
            format!("MCPR_TOKEN={}", self.token),
        ];
        let env = ["/usr/bin/env", "-i"].into_iter().chain(ALONE);
        let env = env.chain(self.cli.quiet().iter().copied()).map(str::to_owned);
        let arguments = arguments.iter().map(|&word| word.to_owned());
        env.chain(own).chain(self.cli.words()).chain(arguments).collect()
    }
}
