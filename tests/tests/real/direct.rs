//! A server without a gateway, spoken to as the gateway would: in the newest era it understands.

use mcpr_tests::peers::Words;
use mcpr_tests::pipe::Pipe;
use mcpr_tests::raw;
use serde_json::{Value, json};

/// What every request of the stateless era carries.
const ENVELOPE: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}"#;

/// A server over stdio. It ends when dropped.
pub(crate) struct Direct {
    pipe: Pipe,
    stateless: bool,
    last_id: u32,
}

impl Direct {
    pub(crate) async fn open(words: &Words) -> Self {
        let mut direct = Self {
            pipe: Pipe::start(words),
            stateless: true,
            last_id: 0,
        };
        let answer = direct.ask("server/discover", "").await;
        direct.stateless = raw::try_member(&answer, &["result"]).is_some();
        if !direct.stateless {
            // Some servers show some tools only to clients that can be asked.
            let able = json!({ "roots": {}, "sampling": { "tools": {}, "context": {} }, "elicitation": { "form": {}, "url": {} } });
            direct.pipe.initialize_with("2025-11-25", able).await;
        }
        direct
    }

    /// Sends a request and gives the line that answers it; `params` is the inside of an object.
    pub(crate) async fn ask(&mut self, method: &str, params: &str) -> String {
        self.last_id += 1;
        let id = self.last_id;
        let comma = if params.is_empty() { "" } else { "," };
        let params = if self.stateless {
            format!("{params}{comma}{ENVELOPE}")
        } else {
            params.to_owned()
        };
        self.pipe
            .send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#
            ))
            .await;
        loop {
            let line = self.pipe.line().await.expect("the server answers");
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            if message["id"] == id && message["method"].is_null() {
                return String::from_utf8(line).expect("JSON is UTF-8");
            }
        }
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.stateless
    }

    /// The texts of what a method lists; none where the server does not know the method.
    pub(crate) async fn items(&mut self, method: &str, member: &str) -> Vec<String> {
        let answer = self.ask(method, "").await;
        raw::try_member(&answer, &["result", member]).map_or_else(Vec::new, |list| raw::elements(&list))
    }

    /// The text of the result of a call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let params = format!(r#""name":{},"arguments":{arguments}"#, json!(tool));
        raw::member(&self.ask("tools/call", &params).await, &["result"])
    }
}
