//! Looks into the history.

use std::path::Path;
use std::time::Duration;

use mcpr_store::{CallQuery, CallRow};
use mcpr_tests::{Fake, Gateway, Script};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// How long a row may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server with a tool that works, one that says it failed, one that has an error, and one that takes
/// its time; and with a prompt and a resource.
pub(crate) fn server() -> Script {
    Fake::script()
        .tool("x")
        .tool("bad")
        .tool("broken")
        .tool("slow")
        .raw("tools/call:bad", r#"{"content":[],"isError":true}"#)
        .error(
            "tools/call:broken",
            json!({ "code": -32001, "message": "the disk is full" }),
        )
        .delay("tools/call:slow", 30.0)
        .with(r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#)
        .raw("prompts/get", r#"{"messages":[]}"#)
        .raw("resources/read", r#"{"contents":[]}"#)
}

/// The history as an operator gets it, the newest call first.
pub(crate) async fn history(gateway: &Gateway, asked: Value) -> Vec<Value> {
    let list = gateway.operate("history/list", asked).await;
    let calls = list["calls"].as_array();
    calls.unwrap_or_else(|| panic!("no calls in {list}")).clone()
}

/// The only call of the history.
pub(crate) async fn only(gateway: &Gateway) -> Value {
    let mut calls = history(gateway, json!({ "arguments": true })).await;
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls.remove(0)
}

/// Waits until the newest call of the history has ended so, and gives it.
pub(crate) async fn await_newest(gateway: &Gateway, status: &str) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let calls = history(gateway, json!({})).await;
        match calls.first() {
            Some(call) if call["status"] == status => return call.clone(),
            _ => assert!(Instant::now() < end, "no {status} in {calls:?}"),
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// The rows in the database of a home, the newest first.
pub(crate) async fn stored(home: &Path) -> Vec<CallRow> {
    let store = mcpr_store::open(home.join("mcpr.db")).await.unwrap();
    let rows = store.calls(CallQuery::default()).await.unwrap();
    store.close().await;
    rows
}

/// Waits until the database of a home has so many rows, and gives them.
pub(crate) async fn await_stored(home: &Path, count: usize) -> Vec<CallRow> {
    let store = mcpr_store::open(home.join("mcpr.db")).await.unwrap();
    let end = Instant::now() + PATIENCE;
    loop {
        let rows = store.calls(CallQuery::default()).await.unwrap();
        if rows.len() == count {
            return rows;
        }
        assert!(Instant::now() < end, "{} rows instead of {count}", rows.len());
        sleep(Duration::from_millis(10)).await;
    }
}
