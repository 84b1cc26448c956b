//! Stories about a client on a pipe and a gateway that the test plays itself.

mod batches;
mod faults;
mod renewals;
mod sessions;
mod stateless;

use std::time::Duration;

use mcpr_transport::http::client::{Limits, Target};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::net::{TcpListener, TcpStream};

use super::*;

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A gateway that answers what the test says, one request on each connection.
struct Played(TcpListener);

/// A request that waits for its answer.
struct Asked {
    stream: TcpStream,
    /// In lower case.
    head: String,
    body: String,
}

/// A client with its bridge.
struct Client {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    bridge: JoinSet<io::Result<()>>,
}

impl Played {
    async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    fn link(&self) -> Link {
        let url = format!("http://{}/mcp", self.0.local_addr().unwrap());
        Link::new(&Target::new(&url, []).unwrap(), Limits::default())
    }

    fn client(&self) -> Client {
        let ((input, theirs), (ours, output)) = (duplex(1 << 16), duplex(1 << 16));
        let mut bridge = JoinSet::new();
        bridge.spawn(serve(self.link(), theirs, ours));
        Client {
            input: Some(input),
            output: BufReader::new(output).lines(),
            bridge,
        }
    }

    /// The next request, whole.
    async fn asked(&self) -> Asked {
        let (mut stream, _) = self.0.accept().await.unwrap();
        let mut text = Vec::new();
        loop {
            if let Some((head, body)) = whole(&text) {
                return Asked { stream, head, body };
            }
            assert_ne!(
                stream.read_buf(&mut text).await.unwrap(),
                0,
                "the bridge went away"
            );
        }
    }
}

fn whole(text: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let head = head.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    (body.len() == length).then(|| (head, body.to_owned()))
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    async fn answers(self, status: u16, headers: &str, body: &str) {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n");
        self.writes(&(head + body)).await;
    }

    async fn json(self, body: &Value) {
        self.answers(200, "content-type: application/json\r\n", &body.to_string())
            .await;
    }

    fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Answers `initialize` with this session.
    async fn opens(self, session: &str, version: &str) {
        let id = self.message()["id"].clone();
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "protocolVersion": version } });
        let headers = format!("content-type: application/json\r\nmcp-session-id: {session}\r\n");
        self.answers(200, &headers, &answer.to_string()).await;
    }

    /// Begins a stream of events with this one.
    async fn streams(self, event: &Value) -> TcpStream {
        let head = "HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
        self.writes(&format!("{head}data: {event}\n\n")).await
    }

    async fn writes(mut self, text: &str) -> TcpStream {
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream
    }
}

impl Client {
    async fn says(&mut self, line: impl ToString) {
        let line = line.to_string() + "\n";
        self.input
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .await
            .unwrap();
    }

    async fn hears(&mut self) -> Value {
        let line = self
            .output
            .next_line()
            .await
            .unwrap()
            .expect("the bridge still writes");
        serde_json::from_str(&line).unwrap()
    }

    /// Closes its end, and gives what is still said.
    async fn leaves(mut self) -> Vec<String> {
        self.input = None;
        let mut last = Vec::new();
        while let Some(line) = self.output.next_line().await.unwrap() {
            last.push(line);
        }
        self.bridge.join_next().await.unwrap().unwrap().unwrap();
        last
    }

    async fn opens_session(&mut self, gateway: &Played) {
        self.opens_session_of(gateway, "2025-06-18").await;
    }

    async fn opens_session_of(&mut self, gateway: &Played, version: &str) {
        self.says(INITIALIZE).await;
        gateway.asked().await.opens("s1", version).await;
        let answer = json!({ "jsonrpc": "2.0", "id": "i", "result": { "protocolVersion": version } });
        assert_eq!(self.hears().await, answer);
    }
}

fn request(id: u64, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method })
}

fn stateless(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn result(id: u64, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
