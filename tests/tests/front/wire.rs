//! A client on a pipe to a gateway in this process.

use std::io;
use std::time::Duration;

use mcpr_auth::Principal;
use mcpr_core::Asked;
use mcpr_core::front::pipe;
use mcpr_tests::Gateway;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a line may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the pipe holds unread before its writer waits.
const ROOM: usize = 64 * 1024;

/// The client's ends of a pipe.
pub(crate) struct Wire {
    input: DuplexStream,
    lines: Lines<BufReader<DuplexStream>>,
    serving: JoinHandle<io::Result<tokio::time::Instant>>,
}

impl Wire {
    /// A pipe on which nothing was said yet.
    pub(crate) fn new(gateway: &Gateway) -> Self {
        let (input, theirs) = duplex(ROOM);
        let (output, ours) = duplex(ROOM);
        let principal = Principal::stdio("test");
        let serving = tokio::spawn(pipe::serve(
            gateway.core.clone(),
            principal,
            Asked::default(),
            theirs,
            output,
        ));
        Self {
            input,
            lines: BufReader::new(ours).lines(),
            serving,
        }
    }

    /// A pipe with a session.
    pub(crate) async fn open(gateway: &Gateway) -> Self {
        Self::open_as(gateway, "2025-11-25").await
    }

    /// A pipe with a session of that revision.
    pub(crate) async fn open_as(gateway: &Gateway, version: &str) -> Self {
        let mut wire = Self::new(gateway);
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        wire.ask("0", "initialize", &params.to_string()).await;
        wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        wire
    }

    /// Writes one line.
    pub(crate) async fn send(&mut self, line: &str) {
        self.input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .expect("the gateway reads");
    }

    /// Reads no longer, but could still write; gives how the gateway's side ended.
    pub(crate) async fn go_deaf(mut self) -> io::Result<()> {
        drop(self.lines);
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        self.input.write_all(line).await?;
        let ended = timeout(PATIENCE, self.serving).await;
        ended.expect("the pipe ends").expect("nothing panics").map(drop)
    }

    /// Writes lines for as long as the gateway takes them; gives how many bytes it took.
    pub(crate) async fn flood(&mut self, line: &str) -> usize {
        let lines = format!("{line}\n").repeat(100);
        let mut taken = 0;
        while taken < 64 * ROOM {
            let written = timeout(Duration::from_secs(1), self.input.write_all(lines.as_bytes())).await;
            match written {
                Ok(written) => written.expect("the gateway reads"),
                Err(_) => break,
            }
            taken += lines.len();
        }
        taken
    }

    /// Writes bytes as a line of their own.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.input
            .write_all(&[bytes, b"\n"].concat())
            .await
            .expect("the gateway reads");
    }

    /// Writes a request without an envelope.
    pub(crate) async fn request(&mut self, id: &str, method: &str, params: &str) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ))
        .await;
    }

    /// Writes a request, and reads what is answered to it; other messages are passed over.
    pub(crate) async fn ask(&mut self, id: &str, method: &str, params: &str) -> Value {
        self.request(id, method, params).await;
        let id: Value = serde_json::from_str(id).expect("an id is JSON");
        self.message(|message| message["id"] == id).await
    }

    /// The text of the next line; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let line = timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("a line comes in time").expect("the pipe can be read")
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.line().await.expect("the pipe is open");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message that `wanted` accepts.
    pub(crate) async fn message(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Closes the client's end, waits for the gateway to be done, and gives what it still said.
    pub(crate) async fn close(self) -> Vec<Value> {
        let Self {
            input,
            mut lines,
            serving,
        } = self;
        drop(input);
        let mut rest = Vec::new();
        while let Some(line) = timeout(PATIENCE, lines.next_line())
            .await
            .expect("an end comes in time")
            .expect("a line")
        {
            rest.push(serde_json::from_str(&line).expect("a message"));
        }
        serving.await.expect("no panic").expect("no error");
        rest
    }
}
