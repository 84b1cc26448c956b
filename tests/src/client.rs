//! Clients that say exactly what a test wants them to say.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::http::{Answer, Connection, Head, Request};

const ENDPOINT: &str = "/mcp";

/// A client of the session era.
#[derive(Debug)]
pub struct Session {
    /// Where it calls.
    pub port: u16,
    /// With which token.
    pub token: String,
    /// In which session.
    pub id: String,
    /// What the gateway answered to `initialize`.
    pub welcome: Value,
    /// The revision that was agreed on.
    pub version: String,
    last_id: AtomicU64,
}

/// A client of the stateless era.
#[derive(Clone, Debug)]
pub struct Stateless {
    /// Where it calls.
    pub port: u16,
    /// With which token.
    pub token: String,
}

impl Session {
    /// Opens a session of a client that cannot be asked anything.
    pub async fn open(port: u16, token: &str, version: &str) -> Self {
        Self::open_with(port, token, version, &json!({})).await
    }

    /// Opens a session of a client with these capabilities.
    pub async fn open_with(port: u16, token: &str, version: &str, capabilities: &Value) -> Self {
        let opened = Self::try_open_with(port, token, version, capabilities).await;
        opened.expect("the gateway answers")
    }

    /// Opens one where the gateway may be gone; `None` then.
    pub async fn try_open(port: u16, token: &str, version: &str) -> Option<Self> {
        Self::try_open_with(port, token, version, &json!({})).await
    }

    async fn try_open_with(port: u16, token: &str, version: &str, capabilities: &Value) -> Option<Self> {
        let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let request = Request::post(ENDPOINT, message.to_string()).token(token);
        let answer = request.try_send(port).await?;
        let id = answer.head.header("mcp-session-id").expect("a session");
        let welcome = answer.message()["result"].clone();
        let session = Self {
            port,
            token: token.into(),
            id: id.to_owned(),
            version: welcome["protocolVersion"].as_str().expect("a version").to_owned(),
            welcome,
            last_id: AtomicU64::new(0),
        };
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#;
        session.post(note).try_send(port).await?;
        Some(session)
    }

    /// A POST of this message in the session.
    pub fn post(&self, message: &str) -> Request {
        self.in_session(Request::post(ENDPOINT, message))
    }

    /// The same with the headers of the session.
    pub fn in_session(&self, request: Request) -> Request {
        let request = request.token(&self.token).header("mcp-session-id", &self.id);
        request.header("mcp-protocol-version", &self.version)
    }

    /// The text of a request with a fresh id.
    pub fn text(&self, method: &str, params: &str) -> String {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    }

    /// Sends a request and waits for the whole answer.
    pub async fn request(&self, method: &str, params: &str) -> Answer {
        self.post(&self.text(method, params)).send(self.port).await
    }

    /// Sends a request and gives the answer as it comes.
    pub async fn begin(&self, method: &str, params: &str) -> (Head, Connection) {
        self.post(&self.text(method, params)).open(self.port).await
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: &str) -> Answer {
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        self.post(&message).send(self.port).await
    }

    /// The response to a call of a tool, with arguments given as text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Value {
        let params = format!(r#"{{"name":{},"arguments":{arguments}}}"#, json!(tool));
        self.request("tools/call", &params).await.message()
    }

    /// The tools that are listed.
    pub async fn tools(&self) -> Vec<Value> {
        self.list("tools/list", "tools").await
    }

    /// The names of the tools that are listed.
    pub async fn tool_names(&self) -> Vec<String> {
        self.tools()
            .await
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect()
    }

    /// What a method lists.
    pub async fn list(&self, method: &str, member: &str) -> Vec<Value> {
        let message = self.request(method, "{}").await.message();
        message["result"][member]
            .as_array()
            .unwrap_or_else(|| panic!("no list in {message}"))
            .clone()
    }

    /// Opens the stream for what belongs to no request.
    pub async fn stream(&self) -> Connection {
        let (head, connection) = self.in_session(Request::get(ENDPOINT)).open(self.port).await;
        assert_eq!(head.status, 200, "the stream opens");
        connection
    }
}

impl Stateless {
    /// The text of a request with its envelope; `params` is the inside of an object.
    pub fn text(&self, id: &str, method: &str, params: &str) -> String {
        self.text_with(
            id,
            method,
            params,
            r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        )
    }

    /// The same with these members in the envelope.
    pub fn text_with(&self, id: &str, method: &str, params: &str, meta: &str) -> String {
        let comma = if params.is_empty() { "" } else { "," };
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",{meta},"io.modelcontextprotocol/clientInfo":{{"name":"test","version":"1"}}}}}}}}"#
        )
    }

    /// A POST with the headers that belong to it.
    pub fn post(&self, message: &str, method: &str, name: Option<&str>) -> Request {
        let request = Request::post(ENDPOINT, message).token(&self.token);
        let request = request
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
    }

    /// Sends a request and waits for the whole answer.
    pub async fn request(&self, method: &str, params: &str, name: Option<&str>) -> Answer {
        self.post(&self.text("1", method, params), method, name)
            .send(self.port)
            .await
    }

    /// Sends a request and gives the answer as it comes.
    pub async fn begin(&self, method: &str, params: &str, name: Option<&str>) -> (Head, Connection) {
        self.post(&self.text("1", method, params), method, name)
            .open(self.port)
            .await
    }

    /// The response to a call of a tool, with arguments given as text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Value {
        let params = format!(r#""name":{},"arguments":{arguments}"#, json!(tool));
        self.request("tools/call", &params, Some(tool)).await.message()
    }
}
