//! Clients that do not read what they asked for.

use std::time::Duration;

use mcpr_tests::client::Stateless;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Gateway, gateway, wait_for};
use serde_json::json;

use crate::wire::Wire;

/// A server whose tool `flood` says 40 MB before it answers. What it says over HTTP is never left out.
fn flooding() -> Fake {
    let params = json!({ "level": "error", "data": "x".repeat(64 << 10) });
    let notice = json!({ "method": "notifications/message", "params": params, "repeat": 640, "on": "tools/call:flood" });
    Fake::script()
        .tool("flood")
        .tool("quick")
        .set("notify", json!([notice]))
        .set("capabilities", json!({ "tools": {}, "logging": {} }))
        .http()
}

/// A gateway that asks the server one thing at a time.
async fn serving(fake: &Fake) -> Gateway {
    let own = json!({ "timeouts": { "call": "1s" }, "maxConcurrency": 1 });
    gateway().fake_with("a", fake, own).ready().await
}

/// Waits until nothing more fits into a connection that nobody reads.
async fn until_full(connection: &Connection) {
    let (mut before, mut looks) = (0, 0);
    let full = async || {
        let unread = connection.unread().await;
        looks = if unread == before { looks + 1 } else { 0 };
        before = unread;
        (looks > 30).then_some(())
    };
    wait_for(Duration::from_secs(20), "a full connection", full).await;
}

/// Waits until somebody else is served. Each of its calls has a limit of its own.
async fn others_are_served(gateway: &Gateway) {
    let client = gateway.client().await;
    wait_for(
        Duration::from_secs(30),
        "an answer to somebody else",
        async || {
            let answer = client.call("a_quick", "{}").await;
            answer["result"].is_object().then_some(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_a_client_on_a_pipe_that_does_not_read_holds_a_server_up_to_the_limit_of_its_call() {
    let fake = flooding();
    let gateway = serving(&fake).await;
    let mut wire = Wire::open(&gateway).await;
    wire.request("1", "tools/call", r#"{"name":"a_flood"}"#).await;
    fake.await_received("tools/call", 1).await;

    others_are_served(&gateway).await;

    wire.message(|message| message["id"] == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_so_does_one_with_a_session_over_http() {
    let fake = flooding();
    let gateway = serving(&fake).await;
    let client = gateway.client().await;
    let (_, mut connection) = client.begin("tools/call", r#"{"name":"a_flood"}"#).await;

    others_are_served(&gateway).await;

    let answer = connection.message(|message| message["method"].is_null()).await;
    assert!(answer.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_so_does_a_stateless_one() {
    let level =
        r#""io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info""#;
    let fake = flooding();
    let gateway = serving(&fake).await;
    let client = gateway.stateless();
    let message = client.text_with("1", "tools/call", r#""name":"a_flood""#, level);
    let request = client.post(&message, "tools/call", Some("a_flood"));
    let (_, mut connection) = request.open(gateway.port).await;

    others_are_served(&gateway).await;

    let answer = connection.message(|message| message["method"].is_null()).await;
    assert!(answer.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_stateless_one_that_does_not_read_is_given_up_with_its_token() {
    let fake = flooding();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "maxConcurrency": 1 }))
        .ready()
        .await;
    let made = gateway
        .operate("tokens/create", json!({ "name": "laptop" }))
        .await;
    let client = Stateless {
        port: gateway.port,
        token: made["secret"].as_str().unwrap().to_owned(),
    };
    let level =
        r#""io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info""#;
    let message = client.text_with("1", "tools/call", r#""name":"a_flood""#, level);
    let request = client.post(&message, "tools/call", Some("a_flood"));
    let (_, connection) = request.open(gateway.port).await;
    until_full(&connection).await;

    gateway
        .operate("tokens/revoke", json!({ "which": "laptop" }))
        .await;

    others_are_served(&gateway).await;
}
