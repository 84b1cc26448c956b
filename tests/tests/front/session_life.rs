//! How sessions live and end (`protocol.md` 6, SEC-05, B34, B64).

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::refusal;
use crate::sessions::{SESSION, sessions};

#[tokio::test(flavor = "multi_thread")]
async fn b34_delete_ends_a_session_its_stream_and_its_calls() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    let calling = client.post(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x"}}"#);
    let calling = tokio::spawn(async move { calling.send(client.port).await });
    fake.await_received("tools/call", 1).await;

    let request = Request::new("DELETE", "/mcp")
        .token(&client.token)
        .header(SESSION, &client.id);
    let ended = request.send(gateway.port).await;

    assert_eq!((ended.status(), ended.text()), (204, String::new()));
    assert_eq!(stream.event().await, None, "the stream ends");
    fake.await_received("notifications/cancelled", 1).await;
    assert_eq!(refusal(&calling.await.unwrap()).0, 404);
    assert_eq!(refusal(&request.send(gateway.port).await).0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_one_session_too_many_ends_the_one_that_was_idle_longest() {
    let gateway = gateway().own("limits", json!({ "sessions": 2 })).ready().await;
    let (first, second) = (gateway.client().await, gateway.client().await);
    first.request("ping", "{}").await;
    let third = gateway.client().await;
    for (client, status) in [(&first, 200), (&second, 404), (&third, 200)] {
        assert_eq!(client.request("ping", "{}").await.status(), status);
    }
    assert_eq!(sessions(&gateway).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn b34_hundreds_of_sessions_without_delete_end_by_themselves_and_one_with_a_stream_stays() {
    let gateway = gateway()
        .own("limits", json!({ "sessionIdle": "1s" }))
        .start()
        .await;
    let streaming = gateway.client().await;
    let stream = streaming.stream().await;
    for _ in 0..200 {
        gateway.client().await;
    }
    gateway.await_status(|status| status["sessions"] == 1).await;
    assert_eq!(streaming.request("ping", "{}").await.status(), 200);
    drop(stream);
    gateway.await_status(|status| status["sessions"] == 0).await;
    assert_eq!(streaming.request("ping", "{}").await.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn b64_a_slow_call_of_a_session_holds_up_nothing_else_of_it() {
    let slow = Fake::script().tool("x").delay("tools/call", 0.7).stdio();
    let quick = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &slow).fake("b", &quick).ready().await;
    let client = gateway.client().await;
    let calls = async { tokio::join!(client.call("a_x", "{}"), client.call("a_x", "{}")) };
    let others = async {
        slow.await_received("tools/call", 2).await;
        client.call("b_x", "{}").await;
        client.request("ping", "{}").await;
        gateway.server("a").await["inFlight"].clone()
    };
    let (_, still) = tokio::join!(calls, others);
    assert_eq!(
        still, 2,
        "both slow calls were under way when the others were done"
    );
}
