//! A server behind a URL that says exactly these bytes, and goes on for ever if that is wanted.

use std::sync::Arc;

use mcpr_tests::{Gateway, gateway};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::assert_unharmed;

/// What is answered to a request.
pub(crate) enum Reply {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, and then others again and again until the other side has had enough.
    Endless(Vec<u8>, Vec<u8>),
}

/// What a server answers to a method and an id, where it is not the usual.
type Answer = dyn Fn(&str, &str) -> Option<Reply> + Send + Sync;

/// A server with the tool `t`. It ends when dropped.
pub(crate) struct Sham {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Sham {
    /// Answers like this, and as usual where that says nothing.
    pub(crate) async fn new(answer: impl Fn(&str, &str) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let serving = tokio::spawn(serve(listener, Arc::new(answer), heads.clone()));
        Self {
            port,
            heads,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    /// One that answers like this to calls.
    pub(crate) async fn calling(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::new(move |method, id| (method == "tools/call").then(|| answer(id))).await
    }

    pub(crate) fn entry(&self) -> Value {
        json!({ "type": "http", "url": format!("http://127.0.0.1:{}/mcp", self.port), "mcpr": { "protocol": "session" } })
    }

    /// The heads of the requests that came.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().clone()
    }

    /// A gateway in front of it and of a server that does no harm.
    pub(crate) async fn in_front(&self) -> (Gateway, mcpr_tests::Fake) {
        let good = mcpr_tests::Fake::script().tool("echo").stdio();
        let limits = json!({ "serverMessage": "256KiB" });
        let gateway = gateway()
            .own("limits", limits)
            .fake("good", &good)
            .server("sham", self.entry());
        (gateway.ready().await, good)
    }

    /// What a call of its tool comes to, while and after which others are unharmed.
    pub(crate) async fn outcome(&self) -> Value {
        let (gateway, _good) = self.in_front().await;
        let client = gateway.client().await;
        let (answer, ()) = tokio::join!(client.call("sham_t", "{}"), assert_unharmed(&gateway));
        assert_unharmed(&gateway).await;
        answer
    }
}

/// An answer of HTTP.
pub(crate) fn http(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A response of MCP as JSON.
pub(crate) fn response(id: &str, result: &Value) -> Vec<u8> {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    http("content-type: application/json\r\n", body.as_bytes())
}

/// What a well-behaved server says.
fn usual(method: &str, id: &str) -> Vec<u8> {
    let result = match method {
        "GET" | "DELETE" => return b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_vec(),
        _ if id.is_empty() => return b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_vec(),
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "sham", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] }),
        _ => json!({}),
    };
    response(id, &result)
}

async fn serve(listener: TcpListener, answer: Arc<Answer>, heads: Arc<Mutex<Vec<String>>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, answer.clone(), heads.clone()));
    }
}

async fn converse(mut stream: TcpStream, answer: Arc<Answer>, heads: Arc<Mutex<Vec<String>>>) -> Option<()> {
    loop {
        let (head, body) = request(&mut stream).await?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let verb = head.split(' ').next().unwrap_or_default();
        let method = message["method"].as_str().unwrap_or(verb).to_owned();
        let id = message.get("id").map(Value::to_string).unwrap_or_default();
        heads.lock().push(head);
        match answer(&method, &id) {
            Some(Reply::Endless(begin, piece)) => {
                stream.write_all(&begin).await.ok()?;
                while stream.write_all(&piece).await.is_ok() {}
                return None;
            }
            Some(Reply::Bytes(bytes)) => stream.write_all(&bytes).await.ok()?,
            None => stream.write_all(&usual(&method, &id)).await.ok()?,
        }
    }
}

/// The head of a request in lower case, and its body.
async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut came, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        came.extend_from_slice(&piece[..count]);
        let Some(end) = came.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&came[..end]).into_owned();
        let length = head
            .to_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let length: usize = length.unwrap_or(0);
        while came.len() < end + 4 + length {
            let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
            came.extend_from_slice(&piece[..count]);
        }
        return Some((head, came[end + 4..].to_vec()));
    }
}
