//! JSON or a stream: what the answer and the client's `Accept` make of it (HTTP-06).

use std::time::Instant;

use mcpr_tests::client::Stateless;
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::refusal;
use crate::streams::{CALL, serving};

#[tokio::test(flavor = "multi_thread")]
async fn http_06_a_plain_result_is_json_with_its_length() {
    let (_fake, gateway) = serving(0.0).await;
    let client = gateway.client().await;
    for (method, params) in [
        ("tools/call", r#"{"name":"a_x"}"#),
        ("tools/list", "{}"),
        ("ping", "{}"),
        ("none", "{}"),
    ] {
        let answer = client.request(method, params).await;
        assert_eq!(
            answer.head.header("content-type"),
            Some("application/json"),
            "{method}"
        );
        assert_eq!(
            answer.head.header("content-length"),
            Some(answer.body.len().to_string().as_str()),
            "{method}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_06_progress_makes_it_a_stream_that_ends_with_the_answer() {
    let (_fake, gateway) = serving(0.0).await;
    let client = gateway.client().await;
    let answer = client.post(CALL).send(gateway.port).await;
    let header = |name| answer.head.header(name);
    assert_eq!(
        (answer.status(), header("content-type")),
        (200, Some("text/event-stream"))
    );
    assert_eq!(
        (header("cache-control"), header("x-accel-buffering")),
        (Some("no-cache"), Some("no"))
    );
    assert_eq!(header("content-encoding"), None);
    let events = answer.events();
    assert!(
        events
            .iter()
            .all(|event| event.name == "message" && event.id.is_some()),
        "{events:?}"
    );
    assert_eq!((events.len(), &events[2].message()["id"]), (3, &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn http_06_after_two_seconds_the_headers_of_a_stream_go_out() {
    let fake = Fake::script().tool("x").delay("tools/call", 2.7).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (client, stateless) = (gateway.client().await, gateway.stateless());
    let began = Instant::now();
    let ((head, mut session), (modern, mut second)) = tokio::join!(
        client.begin("tools/call", r#"{"name":"a_x"}"#),
        stateless.begin("tools/call", r#""name":"a_x""#, Some("a_x")),
    );
    let waited = began.elapsed();
    assert!((1900..2650).contains(&waited.as_millis()), "{waited:?}");
    for head in [head, modern] {
        assert_eq!(
            (head.status, head.header("content-type")),
            (200, Some("text/event-stream"))
        );
    }
    for connection in [&mut session, &mut second] {
        assert!(connection.event().await.unwrap().message()["result"].is_object());
        assert_eq!(connection.event().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_06_a_client_that_takes_json_alone_gets_json_however_long_it_takes() {
    let (_fake, gateway) = serving(0.1).await;
    let client = gateway.client().await;
    for accept in [
        "application/json",
        "application/*",
        "application/json, text/event-stream;q=0",
    ] {
        let answer = client
            .post(CALL)
            .replace("accept", accept)
            .send(gateway.port)
            .await;
        assert_eq!(
            answer.head.header("content-type"),
            Some("application/json"),
            "{accept}"
        );
        assert!(answer.message()["result"].is_object());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_06_a_client_that_takes_streams_alone_gets_a_stream_and_refusals_as_they_are() {
    let (_fake, gateway) = serving(0.0).await;
    let (client, stateless) = (gateway.client().await, gateway.stateless());
    let only = |request: Request| request.replace("accept", "text/event-stream");
    for message in [
        CALL,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"none"}"#,
    ] {
        let answer = only(client.post(message)).send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.head.header("content-type")),
            (200, Some("text/event-stream")),
            "{message}"
        );
        assert_eq!(answer.message()["id"], 1);
    }
    let none = only(stateless.post(&stateless.text("1", "none", ""), "none", None))
        .send(gateway.port)
        .await;
    assert_eq!(refusal(&none), (404, -32601, json!(1)));
    let reader = Stateless {
        port: gateway.port,
        token: gateway.another_token(&["read"]).await,
    };
    let call = reader.text("1", "tools/call", r#""name":"a_x""#);
    let forbidden = only(reader.post(&call, "tools/call", Some("a_x")))
        .send(gateway.port)
        .await;
    assert_eq!(
        refusal(&forbidden),
        (403, -32603, json!(1)),
        "a stream would have no status"
    );
    let opening = only(
        Request::post(
            "/mcp",
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        )
        .token(&gateway.token),
    );
    assert!(
        opening
            .send(gateway.port)
            .await
            .head
            .header("mcp-session-id")
            .is_some()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absent_accept_header_and_one_of_everything_take_both() {
    let (_fake, gateway) = serving(0.0).await;
    let client = gateway.client().await;
    for request in [
        client.post(CALL).without("accept"),
        client.post(CALL).replace("accept", "*/*"),
    ] {
        assert_eq!(request.send(gateway.port).await.events().len(), 3);
    }
    let neither = client
        .post(CALL)
        .replace("accept", "text/html")
        .send(gateway.port)
        .await;
    assert_eq!((refusal(&neither).0, refusal(&neither).1), (406, -32600));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_needs_a_client_that_takes_streams() {
    let (_fake, gateway) = serving(0.0).await;
    let stateless = gateway.stateless();
    let text = stateless.text("\"l\"", "subscriptions/listen", r#""notifications":{}"#);
    let request = stateless
        .post(&text, "subscriptions/listen", None)
        .replace("accept", "application/json");
    let (head, _) = request.open(gateway.port).await;
    assert_eq!(head.status, 406, "and no stream without an end");
    assert_eq!(
        refusal(&request.send(gateway.port).await),
        (406, -32600, json!("l"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_request_ends_without_an_answer_in_a_form_that_the_client_takes() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    for (count, accept, status) in [
        (1, "application/json", 202),
        (2, "text/event-stream", 200),
        (3, "*/*", 200),
    ] {
        let (request, port) = (client.post(CALL).replace("accept", accept), gateway.port);
        let call = tokio::spawn(async move { request.send(port).await });
        fake.await_received("tools/call", count).await;
        client
            .notify("notifications/cancelled", r#"{"requestId":1}"#)
            .await;
        let answer = call.await.unwrap();
        assert_eq!(
            (answer.status(), answer.text()),
            (status, String::new()),
            "{accept}"
        );
    }
}
