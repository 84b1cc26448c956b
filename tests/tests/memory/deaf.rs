//! Clients and servers that do not read what they are sent (SEC-05): whoever speaks to them waits, or what
//! is said is left out.

use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Gateway, Script, gateway, wait_for};
use serde_json::json;

use crate::Alone;
use crate::wire::Wire;

/// What may be kept for one of those who do not read, and for all that goes on meanwhile.
const ENOUGH: usize = 32 << 20;

/// A server whose tool `flood` says 64 MB before it answers.
fn flooding() -> Script {
    let params = json!({ "level": "error", "data": "x".repeat(64 << 10) });
    let notice = json!({ "method": "notifications/message", "params": params, "repeat": 1000, "on": "tools/call:flood" });
    Fake::script()
        .tool("flood")
        .tool("quick")
        .set("notify", json!([notice]))
        .set("capabilities", json!({ "tools": {}, "logging": {} }))
}

/// A call whose answer nobody reads, of a client with a session or of a stateless one.
async fn deaf_call(gateway: &Gateway, session: Option<&Session>) -> Connection {
    if let Some(session) = session {
        let call = session.text("tools/call", r#"{"name":"a_flood"}"#);
        return session.post(&call).start(gateway.port).await;
    }
    let level =
        r#""io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info""#;
    let client = gateway.stateless();
    let call = client.text_with("1", "tools/call", r#""name":"a_flood""#, level);
    client
        .post(&call, "tools/call", Some("a_flood"))
        .start(gateway.port)
        .await
}

/// Waits until somebody else is served.
async fn is_served(other: &Session) {
    wait_for(
        Duration::from_secs(60),
        "an answer to somebody else",
        async || {
            other.call("a_quick", "{}").await["result"]
                .is_object()
                .then_some(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_a_client_does_not_read_is_not_kept() {
    let mut alone = Alone::begin().await;
    for (fake, in_session) in [(flooding().stdio(), true), (flooding().http(), false)] {
        let own = json!({ "timeouts": { "call": "1s" }, "maxConcurrency": 1, "queue": { "wait": "30s" } });
        let gateway = gateway().fake_with("a", &fake, own).ready().await;
        let (deaf, other) = (gateway.client().await, gateway.client().await);
        alone.forget();
        let _unread = deaf_call(&gateway, in_session.then_some(&deaf)).await;

        // The server does one thing at a time, so the flood is over when it answers this.
        is_served(&other).await;

        let grown = alone.grown();
        assert!(grown < ENOUGH, "{grown} bytes of 64 MB are kept");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_a_client_on_a_pipe_does_not_read_is_not_kept() {
    let mut alone = Alone::begin().await;
    let fake = flooding().http();
    let own = json!({ "timeouts": { "call": "1s" }, "maxConcurrency": 1, "queue": { "wait": "30s" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let other = gateway.client().await;
    let mut wire = Wire::open(&gateway).await;
    alone.forget();
    wire.request("1", "tools/call", r#"{"name":"a_flood"}"#).await;
    fake.await_received("tools/call", 1).await;

    is_served(&other).await;

    let grown = alone.grown();
    assert!(grown < ENOUGH, "{grown} bytes of 64 MB are kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_a_server_does_not_read_is_not_kept() {
    let mut alone = Alone::begin().await;
    let keys = r#"{"deaf_on": "tools/call:deafen"}"#;
    let fake = Fake::script().tool("t").tool("deafen").with(keys).stdio();
    let own = json!({ "timeouts": { "call": "150ms" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    client.call("a_deafen", "{}").await;
    let arguments = json!({ "x": "x".repeat(1 << 20) }).to_string();
    alone.forget();

    for _ in 0..20 {
        let answers = join_all((0..4).map(|_| client.call("a_t", &arguments))).await;
        assert!(
            answers
                .iter()
                .all(|answer| answer["error"]["data"]["reason"] == "timeout")
        );
    }

    let grown = alone.grown();
    assert!(grown < 64 << 20, "{grown} bytes of 80 MB are kept");
}
