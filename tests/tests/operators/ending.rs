//! A gateway that is drained: what is under way ends, nothing new begins.

use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Fake, Gateway, gateway, wait_for};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const SLOW: &str = r#"{"name":"a_slow"}"#;

/// A gateway at work on a call that takes so many seconds.
async fn at_work(fake: &Fake) -> (Gateway, Session, JoinHandle<Answer>) {
    let gateway = gateway().fake("a", fake).ready().await;
    let client = gateway.client().await;
    let (request, port) = (client.post(&client.text("tools/call", SLOW)), client.port);
    let call = tokio::spawn(async move { request.send(port).await });
    fake.await_received("tools/call", 1).await;
    (gateway, client, call)
}

fn slow(seconds: f64) -> Fake {
    let script = Fake::script().tool("slow").tool("x");
    script.delay("tools/call:slow", seconds).stdio()
}

/// Waits until the gateway refuses calls, and gives what it says.
async fn refused(client: &Session) -> Value {
    wait_for(Duration::from_secs(10), "a refusal", async || {
        let answer = client.call("a_none", "{}").await;
        (answer["error"]["data"]["reason"] != "unknown_tool").then_some(answer)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_drain_lets_a_call_finish_and_refuses_new_ones() {
    let fake = slow(0.6);
    let (gateway, client, call) = at_work(&fake).await;

    let meanwhile = async {
        let refused = refused(&client).await;
        let again = client.call("a_x", "{}").await;
        let ready = Request::new("GET", "/readyz").send(gateway.port).await;
        assert!(!call.is_finished());
        (refused, again, ready.status(), client.tool_names().await)
    };
    let (drained, (refused, again, ready, listed)) =
        tokio::join!(gateway.operate("drain", json!({})), meanwhile);

    assert_eq!(
        (&drained["finished"], &drained["abandoned"]),
        (&json!(1), &json!(0))
    );
    for answer in [refused, again] {
        let data = &answer["error"]["data"];
        assert_eq!(
            (&data["reason"], &data["retry"]),
            (&json!("starting"), &json!("safe")),
            "{answer}"
        );
    }
    assert_eq!(
        (ready, listed),
        (503, vec!["a_slow".to_owned(), "a_x".to_owned()])
    );
    assert!(call.await.unwrap().message()["result"].is_object());
    assert_eq!(fake.received_of("tools/call").len(), 1);
    gateway.core.stopping().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_drain_waits_as_long_as_it_was_told_to() {
    let fake = slow(30.0);
    let (gateway, _client, call) = at_work(&fake).await;

    let drained = gateway.operate("drain", json!({ "waitMs": 50 })).await;

    assert_eq!(
        (&drained["finished"], &drained["abandoned"]),
        (&json!(0), &json!(1))
    );
    gateway.core.stopping().await;
    gateway.stop().await;
    call.await.unwrap();
    assert_eq!(fake.await_received("notifications/cancelled", 1).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_drain_goes_on_when_whoever_asked_for_it_has_gone() {
    let fake = slow(0.4);
    let (gateway, client, call) = at_work(&fake).await;
    let token = gateway.another_token(&["admin"]).await;
    let drain = Request::post("/admin/v1/drain", "{}").token(&token);
    let connection = drain.start(gateway.port).await;
    refused(&client).await;

    drop(connection);

    gateway.core.stopping().await;
    assert!(call.await.unwrap().message()["result"].is_object());
}
