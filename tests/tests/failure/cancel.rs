//! Requests that nobody wants any more.

use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Received, Script, gateway, wait_until};
use serde_json::Value;
use std::time::Duration;

use crate::text;

fn slow() -> Script {
    Fake::script().tool("t").tool("quick").delay("tools/call:t", 30.0)
}

/// Sends a call without waiting for its answer.
async fn send(client: &Session, id: &str) -> Connection {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a_t","arguments":{{}}}}}}"#
    );
    let mut connection = Connection::open(client.port).await;
    connection.send(&client.post(&message).bytes()).await;
    connection
}

/// The id under which the fake got its first call.
async fn id_there(fake: &Fake) -> Value {
    fake.await_received("tools/call", 1).await[0].message()["id"].clone()
}

/// The requests that the fake was told to give up.
async fn cancelled(fake: &Fake) -> Vec<Value> {
    let all: Vec<Received> = fake.await_received("notifications/cancelled", 1).await;
    all.iter()
        .map(|received| received.params()["requestId"].clone())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_cancel_reaches_the_server_with_the_id_that_it_knows() {
    for fake in [
        slow().stdio(),
        slow().http(),
        slow().with(r#"{"session": true, "sse": true}"#).http(),
        slow().sse(),
    ] {
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client().await;
        let _call = send(&client, "101").await;
        let id = id_there(&fake).await;

        client
            .notify(
                "notifications/cancelled",
                r#"{"requestId":101,"reason":"enough"}"#,
            )
            .await;

        assert_eq!(cancelled(&fake).await, [id]);
        assert_eq!(text(&client.call("a_quick", r#"{"n":1}"#).await), r#"{"n":1}"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_stateless_server_is_told_by_closing_the_stream() {
    let fake = slow().with(r#"{"era": "stateless"}"#).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let _call = send(&client, "101").await;
    let id = id_there(&fake).await.to_string();

    client
        .notify("notifications/cancelled", r#"{"requestId":101}"#)
        .await;

    let closed = || fake.received().into_iter().find_map(|received| received.closed);
    assert_eq!(
        wait_until(Duration::from_secs(2), "a closed stream", closed).await,
        id
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_stateless_client_cancels_by_closing_its_stream() {
    for fake in [slow().stdio(), slow().http()] {
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.stateless();
        let message = client.text("1", "tools/call", r#""name":"a_t","arguments":{}"#);
        let mut connection = Connection::open(client.port).await;
        connection
            .send(&client.post(&message, "tools/call", Some("a_t")).bytes())
            .await;
        let id = id_there(&fake).await;

        drop(connection);

        assert_eq!(cancelled(&fake).await, [id]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_lost_connection_of_a_session_cancels_nothing() {
    let fake = Fake::script().tool("t").delay("tools/call", 0.3).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let connection = send(&client, "101").await;
    id_there(&fake).await;

    drop(connection);

    // The second call ends after the first, of which nothing is left to cancel then.
    client.call("a_t", "{}").await;
    gateway.await_server("a", |server| server["inFlight"] == 0).await;
    client.call("a_t", "{}").await;
    assert!(fake.received_of("notifications/cancelled").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_cancel_of_one_client_does_not_touch_the_call_of_another() {
    let fake = Fake::script().tool("t").delay("tools/call", 0.4).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (one, two) = (gateway.client().await, gateway.client().await);
    let _call = send(&one, "101").await;
    let id = id_there(&fake).await;
    let mut other = send(&two, "101").await;
    fake.await_received("tools/call", 2).await;

    one.notify("notifications/cancelled", r#"{"requestId":101}"#)
        .await;

    assert_eq!(cancelled(&fake).await, [id]);
    assert_eq!(text(&other.answer().await.message()), "{}");
    assert_eq!(fake.received_of("notifications/cancelled").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_session_that_ends_gives_up_its_calls() {
    let fake = slow().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let _call = send(&client, "101").await;
    let id = id_there(&fake).await;

    client
        .in_session(mcpr_tests::http::Request::new("DELETE", "/mcp"))
        .send(client.port)
        .await;

    assert_eq!(cancelled(&fake).await, [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_call_that_still_waits_in_line_is_simply_forgotten() {
    let fake = slow().stdio();
    let gateway = gateway()
        .fake_with("a", &fake, serde_json::json!({ "maxConcurrency": 1 }))
        .ready()
        .await;
    let client = gateway.client().await;
    let _first = send(&client, "101").await;
    let id = id_there(&fake).await;
    let mut second = send(&client, "102").await;
    client.request("ping", "{}").await;

    client
        .notify("notifications/cancelled", r#"{"requestId":102}"#)
        .await;
    assert!(second.answer().await.body.is_empty());
    client
        .notify("notifications/cancelled", r#"{"requestId":101}"#)
        .await;

    assert_eq!(cancelled(&fake).await, [id]);
    assert_eq!(text(&client.call("a_quick", "{}").await), "{}");
    assert_eq!(fake.received_of("tools/call").len(), 2);
}
