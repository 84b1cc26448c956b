//! A gateway, its server and its clients inside of this process, so that time can be paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use mcpr_auth::Principal;
use mcpr_config::{Config, Process};
use mcpr_core::Asked;
use mcpr_core::Gateway;
use mcpr_core::front::pipe;
use mcpr_protocol::{ErrorObject, Id, Message, Method, RawJson, Request, Response, Version, code};
use mcpr_registry::ServerName;
use mcpr_transport::pending::{Pending, Waiting, Withdraw};
use mcpr_transport::{Event, Exchange, Failed, FailedKind, Outgoing, Party, Reason, Transport};
use mcpr_upstream::{Dial, Dialled, UpstreamSpec, Wire};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A server that asks its client something during each call of its tool `ask`, and answers with what
/// it was told. A call of `wait` is answered when the test says so.
#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<Vec<Arc<Connection>>>>);

/// One connection to it, as to a process of its own.
pub(crate) struct Connection {
    pending: Arc<Pending>,
    /// The calls that wait for an answer of their client, by the numbers of the questions.
    asking: Mutex<Vec<(u64, u64)>>,
    answers: Mutex<Vec<String>>,
    cancelled: Mutex<Vec<u64>>,
    asked: AtomicU64,
    closed: AtomicBool,
    _events: mpsc::Sender<Event>,
}

/// The news that a request is given up.
struct News(Arc<Connection>);

/// A client on a pipe.
pub(crate) struct Client {
    input: DuplexStream,
    lines: Lines<BufReader<DuplexStream>>,
    _serving: JoinHandle<std::io::Result<tokio::time::Instant>>,
}

#[async_trait]
impl Dial for Server {
    async fn dial(&self, _: &ServerName, _: &UpstreamSpec, _: Wire) -> Result<Dialled, Failed> {
        let (sender, events) = mpsc::channel(16);
        let connection = Arc::new(Connection {
            pending: Pending::new(),
            asking: Mutex::default(),
            answers: Mutex::default(),
            cancelled: Mutex::default(),
            asked: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            _events: sender,
        });
        self.0.lock().push(connection.clone());
        Ok(Dialled {
            transport: Arc::new(News(connection)),
            events,
            signs: None,
        })
    }
}

impl Server {
    /// The connections that were opened so far.
    pub(crate) fn connections(&self) -> Vec<Arc<Connection>> {
        self.0.lock().clone()
    }

    /// A gateway before this server, once that is ready.
    pub(crate) async fn gateway(&self) -> Arc<Gateway> {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("mcpr-patience-{}-{number}.json", std::process::id()));
        let text = r#"{"mcpServers":{"a":{"command":"inside","mcpr":{"protocol":"session"}}}}"#;
        std::fs::write(&file, text).expect("a file can be written");
        let config = Config::from_files(std::slice::from_ref(&file), &Process).expect("the file is right");
        std::fs::remove_file(&file).expect("the file is there");
        let builder = Gateway::builder(config).dial(Arc::new(self.clone()));
        let gateway = builder.start().await.expect("the gateway starts");
        gateway.settled().await;
        gateway
    }
}

impl Connection {
    /// What it was told so far.
    pub(crate) fn answers(&self) -> Vec<String> {
        self.answers.lock().clone()
    }

    /// The requests that were given up.
    pub(crate) fn cancelled(&self) -> Vec<u64> {
        self.cancelled.lock().clone()
    }

    /// Whether it was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn answer(&self, id: u64, outcome: Result<RawJson, RawJson>) {
        let id = Some(Id::number(id));
        self.pending.deliver(Message::Response(Response { id, outcome }));
    }

    fn take(&self, request: &Outgoing) {
        let params = String::from_utf8_lossy(&request.params.clone().into_bytes()).into_owned();
        let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
        let result = match request.method {
            Method::Initialize => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } })
            }
            Method::ToolsList => json!({ "tools": [tool("ask"), tool("wait")] }),
            Method::ToolsCall if params.contains("\"ask\"") => return self.ask(request.id),
            Method::ToolsCall => return,
            _ => {
                let unknown = ErrorObject::new(code::METHOD_NOT_FOUND, "unknown").render();
                return self.answer(request.id, Err(unknown));
            }
        };
        self.answer(request.id, Ok(RawJson::render(&result)));
    }

    fn ask(&self, call: u64) {
        let question = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        self.asking.lock().push((question, call));
        let params = json!({ "message": format!("question {question}") });
        self.pending.deliver(Message::Request(Request {
            id: Id::number(question),
            method: Method::Elicit,
            params: Some(RawJson::render(&params)),
        }));
    }

    fn told(&self, response: &Response) {
        let text = match &response.outcome {
            Ok(raw) | Err(raw) => raw.as_str().to_owned(),
        };
        self.answers.lock().push(text.clone());
        let question = response.id.as_ref().and_then(Id::as_number);
        let mut asking = self.asking.lock();
        let place = asking.iter().position(|(own, _)| Some(*own) == question);
        let Some((_, call)) = place.map(|place| asking.remove(place)) else {
            return;
        };
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        self.answer(call, Ok(RawJson::render(&result)));
    }
}

#[async_trait]
impl Transport for News {
    fn next_id(&self) -> u64 {
        self.0.pending.next_id()
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let ticket = self.0.pending.enter(request.id, request.party)?;
        self.0.take(&request);
        Ok(Exchange::new(Waiting::new(
            ticket,
            Some(Arc::new(News(self.0.clone()))),
        )))
    }

    async fn send(&self, message: Message) -> Result<(), Failed> {
        if let Message::Response(response) = message {
            self.0.told(&response);
        }
        Ok(())
    }

    fn negotiated(&self, _: Version) {}

    fn is_quiet_for(&self, party: Party) -> bool {
        self.0.pending.is_quiet_for(party)
    }

    async fn close(&self) {
        self.0.closed.store(true, Ordering::Relaxed);
        self.0
            .pending
            .fail_all(&Failed::maybe_sent(FailedKind::Closed, "closed"));
    }
}

impl Withdraw for News {
    fn withdraw(self: Arc<Self>, id: u64, _: Reason) {
        self.0.cancelled.lock().push(id);
    }
}

impl Client {
    /// A pipe on which nothing was said yet.
    pub(crate) fn new(gateway: &Arc<Gateway>) -> Self {
        let ((input, theirs), (output, ours)) = (duplex(1 << 16), duplex(1 << 16));
        let serving = pipe::serve(
            gateway.clone(),
            Principal::stdio("test"),
            Asked::default(),
            theirs,
            output,
        );
        Self {
            input,
            lines: BufReader::new(ours).lines(),
            _serving: tokio::spawn(serving),
        }
    }

    /// A session of a client that fills in forms.
    pub(crate) async fn session(gateway: &Arc<Gateway>) -> Self {
        let mut client = Self::new(gateway);
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} } });
        client.send(&request(0, "initialize", params)).await;
        client.next().await;
        client
    }

    /// Writes a message.
    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input
            .write_all(line.as_bytes())
            .await
            .expect("the gateway reads");
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("the pipe can be read");
        serde_json::from_str(&line.expect("the pipe is open")).expect("a message")
    }

    /// Calls a tool in a session.
    pub(crate) async fn call(&mut self, id: u64, tool: &str) {
        let params = json!({ "name": tool, "arguments": {} });
        self.send(&request(id, "tools/call", params)).await;
    }

    /// Calls a tool without a session, bringing these members, and reads the next message.
    pub(crate) async fn stateless(&mut self, id: u64, tool: &str, brought: Value) -> Value {
        self.begin_stateless(id, tool, brought).await;
        self.next().await
    }

    /// The same without waiting for anything.
    pub(crate) async fn begin_stateless(&mut self, id: u64, tool: &str, brought: Value) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let mut params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        for (name, value) in brought.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        self.send(&request(id, "tools/call", params)).await;
    }

    /// Answers a question.
    pub(crate) async fn answer(&mut self, question: &Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
        self.send(&answer).await;
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
