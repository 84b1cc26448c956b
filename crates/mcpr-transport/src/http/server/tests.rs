//! The server as a client sees it: raw sockets against a small front.

mod bodies;
mod edge;
mod life;
mod streams;
#[cfg(feature = "tls")]
mod tls;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use mcpr_protocol::Rope;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Bound, Call, End, Front, Health, Operation, Options, Reply, serve};

type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// A front that knows one token and answers with a closure.
struct Desk {
    mcp: Box<dyn Fn(Call) -> Answering + Send + Sync>,
    verified: AtomicUsize,
}

impl Front for Desk {
    type Caller = ();
    type Memo = Option<HeaderValue>;

    fn admit(&self, head: &Arc<Parts>, memo: &mut Self::Memo) -> Result<(), Box<Reply>> {
        let token = head.headers.get(AUTHORIZATION);
        if memo.is_some() && memo.as_ref() == token {
            return Ok(());
        }
        self.verified.fetch_add(1, Ordering::Relaxed);
        if token.is_none_or(|token| token != "Bearer good") {
            let reply = Reply::json(StatusCode::UNAUTHORIZED, text(r#"{"error":"invalid_token"}"#));
            return Err(Box::new(reply.with(
                WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"mcpr\""),
            )));
        }
        *memo = token.cloned();
        Ok(())
    }

    fn mcp(&self, (): (), call: Call) -> impl Future<Output = Reply> + Send {
        (self.mcp)(call)
    }

    async fn admin(&self, (): (), Operation { path, streamed, .. }: Operation<'_>) -> Reply {
        let how = if streamed { ", streamed" } else { "" };
        Reply::json(
            StatusCode::OK,
            Rope::from(format!(r#"{{"operation":"{path}{how}"}}"#)),
        )
    }

    fn health(&self, which: Health) -> Reply {
        match which {
            Health::Alive => Reply::json(StatusCode::OK, text(r#"{"status":"ok"}"#)),
            Health::Ready => Reply::json(StatusCode::SERVICE_UNAVAILABLE, text(r#"{"status":"starting"}"#)),
        }
    }
}

/// A server that is running.
struct Server {
    addr: SocketAddr,
    desk: Arc<Desk>,
    shutdown: CancellationToken,
    serving: JoinHandle<io::Result<()>>,
}

impl Server {
    fn with<R: Future<Output = Reply> + Send + 'static>(
        options: Options,
        mcp: impl Fn(Call) -> R + Send + Sync + 'static,
    ) -> Self {
        let bound = Bound::tcp("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = bound.local_addr().unwrap();
        let mcp = Box::new(move |call| Box::pin(mcp(call)) as Answering);
        let desk = Arc::new(Desk {
            mcp,
            verified: AtomicUsize::new(0),
        });
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(serve(
            bound,
            Arc::clone(&desk),
            options,
            End::at(shutdown.clone()),
        ));
        Self {
            addr,
            desk,
            shutdown,
            serving,
        }
    }

    /// Answers with the body it is sent.
    fn echo(options: Options) -> Self {
        Self::with(options, async |call| Reply::json(StatusCode::OK, call.body))
    }

    async fn client(&self) -> Client {
        Client(BufReader::new(TcpStream::connect(self.addr).await.unwrap()))
    }

    /// One request on a connection of its own.
    async fn ask(&self, request: &str) -> Answer {
        let mut client = self.client().await;
        client.send(request).await;
        client.answer().await
    }
}

/// One end of a connection, byte by byte.
struct Client(BufReader<TcpStream>);

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Client {
    async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.0.write_all(text.as_ref()).await.unwrap();
    }

    async fn head(&mut self) -> Answer {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.0.read_line(&mut head).await.unwrap();
            assert!(read > 0, "the connection ended after {head:?}");
        }
        let status = head[9..12].parse().unwrap();
        Answer {
            status,
            head: head.to_lowercase(),
            body: String::new(),
        }
    }

    async fn answer(&mut self) -> Answer {
        let mut answer = self.head().await;
        let length = answer
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        answer.body = self.exactly(length).await;
        answer
    }

    /// One chunk of a chunked body; empty for the last.
    async fn chunk(&mut self) -> String {
        let mut size = String::new();
        self.0.read_line(&mut size).await.unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let chunk = self.exactly(size + 2).await;
        chunk.strip_suffix("\r\n").unwrap().to_owned()
    }

    async fn exactly(&mut self, length: usize) -> String {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).await.unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Waits for the other side to close, and gives what came before.
    async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        _ = self.0.read_to_end(&mut rest).await; // A reset is an end too.
        String::from_utf8(rest).unwrap()
    }

    /// Ends the connection as a crash does.
    fn reset(self) {
        let now = Some(std::time::Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(self.0.get_ref(), now).unwrap();
    }
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let line = self
            .head
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")))?;
        Some(line[name.len() + 1..].trim())
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }
}

fn text(text: &'static str) -> Rope {
    Rope::from(Bytes::from_static(text.as_bytes()))
}

/// A request with the right token; `headers` come on top, each line ended with CRLF.
fn request(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\n{headers}\r\n")
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    request(
        "POST",
        path,
        &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}"),
    ) + body
}

fn get() -> String {
    request("GET", "/mcp", "Accept: text/event-stream\r\n")
}
