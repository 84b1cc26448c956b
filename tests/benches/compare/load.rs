//! Clients that ask again as soon as they are answered.

use std::time::{Duration, Instant};

use mcpr_tests::client::Session;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Some clients, each with a connection of its own.
pub(crate) struct Load(Vec<Client>);

/// What came of it.
pub(crate) struct Seen {
    /// How long each answer took.
    pub(crate) delays: Vec<Duration>,
    /// How long all of it took.
    pub(crate) taken: Duration,
}

struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Load {
    /// Opens the connections, and asks once on each. Without a token there are no sessions.
    pub(crate) async fn open(port: u16, token: &str, tool: &str, clients: usize) -> Self {
        let mut all = Vec::new();
        for _ in 0..clients {
            let mut client = Client {
                stream: connected(port).await,
                request: request(&head(port, token).await, tool),
                answer: vec![0; 2 << 20],
            };
            client.ask().await;
            all.push(client);
        }
        Self(all)
    }

    /// Has all of them ask for so long.
    pub(crate) async fn run(self, time: Duration) -> Seen {
        let began = Instant::now();
        let mut running = JoinSet::new();
        for client in self.0 {
            running.spawn(client.run(began + time));
        }
        let delays = running.join_all().await.concat();
        Seen {
            delays,
            taken: began.elapsed(),
        }
    }
}

impl Client {
    async fn run(mut self, end: Instant) -> Vec<Duration> {
        let mut delays = Vec::new();
        while Instant::now() < end {
            let began = Instant::now();
            self.ask().await;
            delays.push(began.elapsed());
        }
        delays
    }

    async fn ask(&mut self) {
        self.stream.write_all(&self.request).await.expect("it reads");
        let mut read = 0;
        let mut whole = usize::MAX;
        while read < whole {
            read += self
                .stream
                .read(&mut self.answer[read..])
                .await
                .expect("an answer");
            if whole == usize::MAX {
                whole = length(&self.answer[..read]).unwrap_or(whole);
            }
        }
        let tail = &self.answer[..read.min(2048)];
        let failed = !tail.starts_with(b"HTTP/1.1 200") || tail.windows(8).any(|part| part == b"\"error\":");
        assert!(!failed, "{}", String::from_utf8_lossy(tail));
    }
}

async fn connected(port: u16) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await {
            stream.set_nodelay(true).expect("a socket");
            return stream;
        }
        tokio::task::yield_now().await;
    }
}

/// What only a client of a gateway says.
async fn head(port: u16, token: &str) -> String {
    if token.is_empty() {
        return String::new();
    }
    let session = Session::open(port, token, "2025-11-25").await;
    format!(
        "authorization: Bearer {token}\r\nmcp-session-id: {}\r\nmcp-protocol-version: {}\r\n",
        session.id, session.version
    )
}

fn request(head: &str, tool: &str) -> Vec<u8> {
    let body = match tool {
        "" => r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(),
        tool => format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"{}"}}}}}}"#,
            "x".repeat(100)
        ),
    };
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         {head}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// How many bytes an answer has in all, once its head is there.
fn length(answer: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(&answer[..answer.len().min(4096)]);
    let head = text.split_once("\r\n\r\n")?.0;
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let mut found = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let body: usize = found.next()?.1.parse().ok()?;
    Some(head.len() + 4 + body)
}
