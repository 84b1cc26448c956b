//! Calls whose cost is measured: a gateway of any scale, and a client that costs next to nothing.

use std::sync::Arc;

use mcpr_auth::{NewToken, Timestamp, TokenKind, mint};
use mcpr_store::{Memory, Store};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::client::Session;
use crate::{Fake, Gateway, gateway};

/// How much there is beside the calls.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Sessions that are open.
    pub sessions: usize,
    /// Tools that are listed.
    pub tools: usize,
    /// Tokens that let somebody in.
    pub tokens: usize,
}

/// A gateway of some scale, with one connection to it.
pub struct Yardstick {
    /// The gateway.
    pub gateway: Gateway,
    _fake: Fake,
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Yardstick {
    /// Builds it up.
    ///
    /// # Panics
    ///
    /// When the gateway cannot be had.
    pub async fn set_up(scale: Scale) -> Self {
        let fake = server(scale.tools);
        let store = Memory::new();
        let secret = fill(&store, scale.tokens).await;
        let limits =
            json!({ "sessions": scale.sessions + 16, "perPrincipal": { "sessions": scale.sessions + 16 } });
        let gateway = gateway()
            .own("limits", limits)
            .own("naming", json!({ "prefix": "never" }))
            .store(Arc::new(store))
            .fake("yardstick", &fake)
            .ready()
            .await;
        let mut last = None;
        for _ in 0..scale.sessions {
            last = Some(Session::open(gateway.port, &secret, "2025-11-25").await);
        }
        let session = last.expect("at least one session");
        let stream = TcpStream::connect(("127.0.0.1", gateway.port))
            .await
            .expect("a connection");
        Self {
            request: call(&session, scale.tools / 2),
            answer: vec![0; 64 * 1024],
            gateway,
            _fake: fake,
            stream,
        }
    }

    /// Calls the tool, again and again; gives how many bytes each answer had.
    ///
    /// # Panics
    ///
    /// When an answer is none.
    pub async fn call(&mut self, count: usize) -> usize {
        let mut length = 0;
        for _ in 0..count {
            self.stream.write_all(&self.request).await.expect("it reads");
            length = self.read_answer().await;
        }
        length
    }

    /// What the last answer said.
    pub fn said(&self, length: usize) -> String {
        String::from_utf8_lossy(&self.answer[..length]).into_owned()
    }

    async fn read_answer(&mut self) -> usize {
        let mut read = 0;
        loop {
            read += self
                .stream
                .read(&mut self.answer[read..])
                .await
                .expect("an answer");
            let text = &self.answer[..read];
            if text.ends_with(b"}") && text.starts_with(b"HTTP/1.1 200") {
                return read;
            }
        }
    }
}

/// What is measured: so many calls, and nothing that was needed to get there. Callgrind finds it by its
/// name.
#[inline(never)]
pub fn measured_calls(runtime: &Runtime, yardstick: &mut Yardstick, count: usize) -> usize {
    runtime.block_on(yardstick.call(count))
}

/// A server with so many tools, each of which answers at once.
fn server(tools: usize) -> Fake {
    let mut script = Fake::script();
    for tool in 0..tools {
        let entry = json!({ "name": format!("tool_{tool:05}"), "inputSchema": { "type": "object" } });
        script = script.tool_entry(&entry.to_string());
    }
    script.http()
}

/// Puts so many tokens in a store; gives the secret of the last.
async fn fill(store: &Memory, tokens: usize) -> String {
    let mut secret = String::new();
    for number in 0..tokens.max(1) {
        let new = NewToken::new(TokenKind::Pat, format!("token {number}"));
        let minted = mint(new, Timestamp::now()).expect("a token");
        secret = minted.secret.reveal().to_owned();
        let inserted = store.insert_token(minted.token, minted.hash).await;
        inserted.expect("the memory takes it");
    }
    secret
}

/// The bytes of a call in a session.
fn call(session: &Session, tool: usize) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"tool_{tool:05}","arguments":{{"text":"{}"}}}}}}"#,
        "x".repeat(100)
    );
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         authorization: Bearer {}\r\nmcp-session-id: {}\r\nmcp-protocol-version: {}\r\ncontent-length: {}\r\n\r\n{body}",
        session.token,
        session.id,
        session.version,
        body.len()
    )
    .into_bytes()
}
