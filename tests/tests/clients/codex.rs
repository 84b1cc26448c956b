//! The Codex CLI.

use mcpr_tests::clis::Cli;
use mcpr_tests::pipe::Pipe;
use serde_json::{Map, Value, json};

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn codex_mcp_list_knows_a_gateway() {
    let place = Place::new(Cli::Codex).await;
    let said = place.user.list().await;
    let row = said.lines().find(|line| line.starts_with("mcpr"));
    assert!(
        row.is_some_and(|row| row.contains("enabled") && row.contains("Bearer token")),
        "{said}"
    );
    assert!(place.recorder.take().is_empty(), "it only reads its own file");
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_stays_connected_calls_and_is_asked() {
    let place = Place::new(Cli::Codex).await;
    let mut codex = place.user.open();
    let client = json!({ "name": "test", "version": "1" });
    codex
        .request(
            "initialize",
            json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } }),
        )
        .await;
    let thread = codex.request("thread/start", json!({})).await["result"]["thread"]["id"].take();
    let ready = |message: &Value| message["params"]["status"] == "ready";
    codex
        .message(|message| message["method"] == "mcpServer/startupStatus/updated" && ready(message))
        .await;

    let echoed = call(&mut codex, &thread, "a_echo", json!({ "n": 1 })).await;
    assert_eq!(echoed["result"]["content"][0]["text"], r#"{"n":1}"#, "{echoed}");
    let asked = call(&mut codex, &thread, "a_ask", json!({})).await;
    assert!(
        asked["result"]["content"][0]["text"].to_string().contains("Ada"),
        "{asked}"
    );
    let status = codex
        .request("mcpServerStatus/list", json!({ "threadId": thread }))
        .await;
    let mcpr = &status["result"]["data"][0];
    assert_eq!(mcpr["runtimeStatus"], "connected", "{status}");
    assert_eq!(mcpr["tools"].as_object().map(Map::len), Some(6), "{status}");
    codex.close().await;
    // It has asked for its status on a connection of its own.
    place.recorder.await_sent("DELETE", 2).await;
    place.check_sent("session", &[(thread.as_str().unwrap(), "thread-1")]);
}

/// Calls a tool, and fills in what is asked meanwhile.
async fn call(codex: &mut Pipe, thread: &Value, tool: &str, arguments: Value) -> Value {
    let params = json!({ "threadId": thread, "server": "mcpr", "tool": tool, "arguments": arguments });
    let request = json!({ "id": tool, "method": "mcpServer/tool/call", "params": params });
    codex.send(&request.to_string()).await;
    loop {
        let message = codex.message(|message| !message["id"].is_null()).await;
        if message["method"].is_null() {
            return message;
        }
        assert_eq!(message["method"], "mcpServer/elicitation/request");
        let result = json!({ "action": "accept", "content": { "name": "Ada" } });
        codex
            .send(&json!({ "id": message["id"], "result": result }).to_string())
            .await;
    }
}
