//! Scripted servers: specs on disk, processes, and what they received.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bins::binary;
use crate::wait_until;

/// What a fake server shall do; see `fakemcp`'s spec for all keys.
///
/// ```ignore
/// let git = Fake::script().tool("status").delay("tools/call", 0.2).stdio();
/// let web = Fake::script().with(r#"{"tools": [{"name": "get"}], "session": true, "ttl": 3}"#).http();
/// ```
#[derive(Debug, Default)]
pub struct Script {
    keys: BTreeMap<String, Box<RawValue>>,
    tools: Vec<Box<RawValue>>,
}

/// A fake server: its spec, its log, and its process if it serves HTTP.
///
/// A stdio server has no process of its own here: whoever is given its [`Fake::entry`] starts it. An HTTP
/// server runs until it is [killed](Fake::kill) or dropped.
#[derive(Debug)]
pub struct Fake {
    folder: TempDir,
    wire: Wire,
    process: Mutex<Option<Child>>,
    port: u16,
}

/// One line of a fake server's log.
#[derive(Clone, Debug)]
pub struct Received {
    /// The process that received it: each life of a server has its own.
    pub pid: u32,
    /// When, in seconds of Unix time.
    pub at: f64,
    /// The message byte for byte (line ends as spaces); empty when there was none, as with GET.
    pub text: String,
    /// The method of the message.
    pub method: Option<String>,
    /// The id of a request whose client went away before the answer, as JSON text.
    pub closed: Option<String>,
    /// The head of the HTTP request.
    pub http: Option<ReceivedHead>,
}

/// The head of an HTTP request in a log.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedHead {
    /// The method.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// All headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

/// A line as `fakemcp` writes it.
#[derive(Deserialize)]
struct Line {
    pid: u32,
    at: f64,
    message: Option<Box<RawValue>>,
    garbage: Option<String>,
    closed: Option<Box<RawValue>>,
    http: Option<ReceivedHead>,
}

/// What tells one message from another.
#[derive(Deserialize)]
struct Named {
    method: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Stdio,
    Http,
    Sse,
}

impl Fake {
    /// Begins a script.
    pub fn script() -> Script {
        Script::default()
    }

    /// Its entry in a config file.
    pub fn entry(&self) -> Value {
        match self.wire {
            Wire::Stdio => {
                let [program, spec] = self.command();
                json!({ "command": program, "args": [spec] })
            }
            Wire::Http => json!({ "type": "http", "url": self.url() }),
            Wire::Sse => json!({ "type": "sse", "url": self.url() }),
        }
    }

    /// Its entry with a shell that starts it and waits, so that the server is a grandchild of the
    /// gateway; `prefix` is what it is started through, such as `setsid`.
    pub fn grandchild(&self, prefix: &str) -> Value {
        let [program, spec] = self.command();
        // In the background a shell gives its children no stdin, so it is handed on under another number.
        let script = format!("exec 3<&0; {prefix} {program} {spec} <&3 & wait");
        json!({ "command": "sh", "args": ["-c", script] })
    }

    /// The command that starts it on stdio.
    pub fn command(&self) -> [String; 2] {
        [
            binary("fakemcp").display().to_string(),
            self.spec_path().display().to_string(),
        ]
    }

    /// Its URL, if it serves HTTP.
    pub fn url(&self) -> String {
        let path = if self.wire == Wire::Sse { "sse" } else { "mcp" };
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Its port, if it serves HTTP.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path of its spec, by which its processes can be found.
    pub fn spec_path(&self) -> PathBuf {
        self.folder.path().join("spec.json")
    }

    /// Everything that it received so far, in all its lives.
    pub fn received(&self) -> Vec<Received> {
        let text = fs::read_to_string(self.log_path()).unwrap_or_default();
        // A line without its end is still being written.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(Received::read).collect()
    }

    /// The messages with this method that it received so far.
    pub fn received_of(&self, method: &str) -> Vec<Received> {
        self.received()
            .into_iter()
            .filter(|received| received.method.as_deref() == Some(method))
            .collect()
    }

    /// The answers to its questions that it received so far, byte for byte.
    pub fn answers(&self) -> Vec<String> {
        let received = self.received().into_iter();
        let answers = received.filter(|received| received.method.is_none() && received.text.starts_with('{'));
        answers.map(|received| received.text).collect()
    }

    /// Waits until it has received `count` answers to its questions, and gives them.
    pub async fn await_answers(&self, count: usize) -> Vec<String> {
        let what = format!("{count} answers at the fake server");
        let enough = || Some(self.answers()).filter(|answers| answers.len() >= count);
        wait_until(Duration::from_secs(10), &what, enough).await
    }

    /// The processes that a call came to, in their order.
    pub fn called_processes(&self) -> Vec<u32> {
        self.received_of("tools/call")
            .iter()
            .map(|call| call.pid)
            .collect()
    }

    /// Waits until it has received `count` messages with this method, and gives them.
    pub async fn await_received(&self, method: &str, count: usize) -> Vec<Received> {
        let what = format!("{count} × {method} at the fake server");
        let enough = || Some(self.received_of(method)).filter(|received| received.len() >= count);
        wait_until(Duration::from_secs(10), &what, enough).await
    }

    /// Ends its HTTP process at once; the port stays its own.
    pub fn kill(&self) {
        if let Some(mut child) = self.process.lock().take() {
            // It may have left by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts its HTTP process again, on the same port, with the same spec and log.
    pub fn restart(&self) {
        self.kill();
        *self.process.lock() = Some(self.spawn(self.port).0);
    }

    /// Gives it another spec, from its next start on.
    pub fn rescript(&self, script: Script) {
        script.write(&self.spec_path(), &self.log_path());
    }

    fn new(script: Script, wire: Wire) -> Self {
        let folder = TempDir::with_prefix("fakemcp-").expect("a folder for the spec");
        let mut fake = Self {
            folder,
            wire,
            process: Mutex::default(),
            port: 0,
        };
        script.write(&fake.spec_path(), &fake.log_path());
        if wire != Wire::Stdio {
            let (child, port) = fake.spawn(0);
            (fake.process, fake.port) = (Mutex::new(Some(child)), port);
        }
        fake
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("received.jsonl")
    }

    fn spawn(&self, port: u16) -> (Child, u16) {
        let [program, spec] = self.command();
        let flag = if self.wire == Wire::Sse { "--sse" } else { "--http" };
        let mut command = Command::new(program);
        command.args([&spec, flag, &port.to_string(), "--until-eof"]);
        // Stdin ends with this process, however it ends, and the server with it.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("fakemcp starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("fakemcp tells its port");
        let told: Value = serde_json::from_str(&line).expect("fakemcp tells its port as JSON");
        let port = told["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        (child, port.expect("a port has 16 bits"))
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Script {
    /// Sets all keys of a JSON object, every value byte for byte.
    pub fn with(mut self, keys: &str) -> Self {
        let keys: BTreeMap<String, Box<RawValue>> = serde_json::from_str(keys).expect("keys of a spec");
        self.keys.extend(keys);
        self
    }

    /// Sets one key.
    pub fn set(mut self, key: &str, value: Value) -> Self {
        self.keys.insert(key.to_owned(), raw(&value));
        self
    }

    /// Adds a plain tool that repeats its arguments.
    pub fn tool(self, name: &str) -> Self {
        self.tool_entry(&json!({ "name": name, "inputSchema": { "type": "object" } }).to_string())
    }

    /// Adds a tool whose entry is this JSON text.
    pub fn tool_entry(mut self, entry: &str) -> Self {
        self.tools
            .push(RawValue::from_string(entry.to_owned()).expect("a JSON text"));
        self
    }

    /// Answers a request with this result text, where `request` is `METHOD` or `METHOD:NAME`.
    pub fn raw(self, request: &str, result: &str) -> Self {
        let text = json!(result);
        self.entry("raw", request, text)
    }

    /// Asks the client during requests; see `fakemcp`'s interviews.
    pub fn interview(self, interview: Value) -> Self {
        let mut all: Vec<Box<RawValue>> = self.keys.get("interview").map_or_else(Vec::new, |all| {
            serde_json::from_str(all.get()).expect("a list of interviews")
        });
        all.push(raw(&interview));
        let mut keys = self.keys;
        keys.insert(
            "interview".to_owned(),
            to_raw_value(&all).expect("interviews are JSON"),
        );
        Self { keys, ..self }
    }

    /// Answers a request with this whole text, message or not; `{id}` stands for the request's id.
    pub fn reply(self, request: &str, text: &str) -> Self {
        self.entry("reply", request, json!(text))
    }

    /// Answers a request with this error object.
    pub fn error(self, request: &str, error: Value) -> Self {
        self.entry("error", request, error)
    }

    /// Waits before the answer to a request.
    pub fn delay(self, request: &str, seconds: f64) -> Self {
        self.entry("delay", request, json!(seconds))
    }

    /// A server that its client starts and speaks to over stdio.
    pub fn stdio(self) -> Fake {
        Fake::new(self, Wire::Stdio)
    }

    /// A server that listens for streamable HTTP.
    pub fn http(self) -> Fake {
        Fake::new(self, Wire::Http)
    }

    /// A server that listens for the old HTTP+SSE.
    pub fn sse(self) -> Fake {
        Fake::new(self, Wire::Sse)
    }

    fn entry(mut self, key: &str, request: &str, value: Value) -> Self {
        let table = self.keys.get(key).map_or("{}", |table| table.get());
        let mut table: BTreeMap<String, Box<RawValue>> = serde_json::from_str(table).expect("a table");
        table.insert(request.to_owned(), raw(&value));
        self.keys
            .insert(key.to_owned(), to_raw_value(&table).expect("a table is JSON"));
        self
    }

    fn write(mut self, spec: &Path, log: &Path) {
        if !self.tools.is_empty() {
            self.keys.insert(
                "tools".to_owned(),
                to_raw_value(&self.tools).expect("tools are JSON"),
            );
        }
        self.keys.insert("log".to_owned(), raw(&json!(log)));
        let text = serde_json::to_string(&self.keys).expect("a spec is JSON");
        fs::write(spec, text).expect("the spec can be written");
    }
}

impl Received {
    /// The message as a value.
    ///
    /// # Panics
    ///
    /// When it is not JSON, or holds numbers that only [`Received::text`] can show.
    pub fn message(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }

    /// The parameters of the message.
    pub fn params(&self) -> Value {
        self.message()["params"].take()
    }

    /// All values of an HTTP header, one for each line that had it.
    pub fn header(&self, name: &str) -> Vec<&str> {
        let headers = self.http.iter().flat_map(|head| &head.headers);
        headers
            .filter(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    fn read(line: &str) -> Self {
        let line: Line = serde_json::from_str(line).expect("a line of fakemcp's log");
        let text = line.message.map(|message| message.get().to_owned());
        let named: Option<Named> = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            pid: line.pid,
            at: line.at,
            text: text.or(line.garbage).unwrap_or_default(),
            method: named.and_then(|named| named.method),
            closed: line.closed.map(|id| id.get().to_owned()),
            http: line.http,
        }
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value is JSON")
}
