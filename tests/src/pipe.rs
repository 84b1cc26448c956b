//! A client on stdin and stdout that sends and reads exact lines.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// The first id of requests that get one here; smaller ones are left to those who write their own lines.
const FIRST_ID: u64 = 1000;

/// How long a line may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is spoken to in lines. It is killed when dropped.
#[derive(Debug)]
pub struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: File,
    next_id: u64,
}

impl Pipe {
    /// Starts a command, given as its words.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start<S: AsRef<str>>(words: &[S]) -> Self {
        Self::start_in(words, None)
    }

    /// The same in a folder.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start_in<S: AsRef<str>>(words: &[S], folder: Option<&Path>) -> Self {
        let (program, arguments) = words.split_first().expect("a command has a program");
        let mut command = Command::new(program.as_ref());
        command
            .args(arguments.iter().map(AsRef::as_ref))
            .kill_on_drop(true);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let stderr = tempfile::tempfile().expect("a file for stderr");
        let writer = stderr.try_clone().expect("a second handle of the file");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(writer);
        let child = command.spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{} does not start: {error}", program.as_ref()));
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self {
            child,
            stdin,
            stdout,
            stderr,
            next_id: FIRST_ID,
        }
    }

    /// Sends one line.
    ///
    /// # Panics
    ///
    /// When the process no longer reads.
    pub async fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .expect("the process reads its stdin");
    }

    /// Reads one line without its end; `None` at the end of the output.
    ///
    /// # Panics
    ///
    /// When none comes within a minute.
    pub async fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = timeout(PATIENCE, self.stdout.read_until(b'\n', &mut line)).await;
        let count = read
            .expect("a line comes within a minute")
            .expect("stdout can be read");
        (count > 0).then(|| line.trim_ascii_end().to_vec())
    }

    /// Reads lines until one is a message that `wanted` accepts.
    ///
    /// # Panics
    ///
    /// When the output ends before.
    pub async fn message(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let Some(line) = self.line().await else {
                panic!("the output ended; stderr: {}", self.complaints())
            };
            let message = serde_json::from_slice(&line).unwrap_or_default();
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Sends a request, and reads its answer; other messages are passed over.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string()).await;
        self.message(|message| message["id"] == id && message["method"].is_null())
            .await
    }

    /// Opens a session, and gives the answer to `initialize`.
    pub async fn initialize(&mut self, version: &str) -> Value {
        self.initialize_with(version, json!({})).await
    }

    /// The same for a client that can be asked something.
    pub async fn initialize_with(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({ "name": "pipe", "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let answer = self.request("initialize", params).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer
    }

    /// Closes stdin, and gives the exit code.
    ///
    /// # Panics
    ///
    /// When the process does not end within a minute.
    pub async fn close(mut self) -> Option<i32> {
        self.stdin = None;
        let status = timeout(PATIENCE, self.child.wait())
            .await
            .expect("the process ends within a minute");
        status.expect("the process can be awaited").code()
    }

    /// What it wrote to stderr so far.
    pub fn complaints(&mut self) -> String {
        let mut text = Vec::new();
        let read = self
            .stderr
            .rewind()
            .and_then(|()| self.stderr.read_to_end(&mut text));
        read.expect("the file of stderr can be read");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }
}
