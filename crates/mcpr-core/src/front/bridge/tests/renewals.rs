//! A gateway that no longer knows the session.

use super::*;

impl Asked {
    /// Answers that the session is not known.
    async fn refuses(self) {
        let error = not_found(self.message()["id"].as_u64().unwrap());
        self.answers(404, "content-type: application/json\r\n", &error.to_string())
            .await;
    }
}

impl Played {
    /// Opens a session anew for the bridge.
    async fn renews(&self, session: &str) {
        let opening = self.asked().await;
        let message = opening.message();
        assert_eq!(message["method"], "initialize");
        assert_eq!(message["params"], json!({ "protocolVersion": "2025-06-18" }));
        assert_ne!(message["id"], "i", "an id of its own");
        assert_eq!(opening.header("mcp-session-id"), None);
        opening.opens(session, "2025-06-18").await;

        let initialized = self.asked().await;
        assert_eq!(initialized.message()["method"], "notifications/initialized");
        assert_eq!(initialized.header("mcp-session-id"), Some(session));
        initialized.answers(202, "", "").await;
    }

    /// The stream of the session and so many requests, which come in any order.
    async fn stream_and(&self, requests: usize) -> (Asked, Vec<Asked>) {
        let (mut streams, mut posts) = (Vec::new(), Vec::new());
        for _ in 0..=requests {
            let asked = self.asked().await;
            assert_eq!(asked.header("mcp-session-id"), Some("s2"));
            let listens = asked.head.starts_with("get ");
            if listens { &mut streams } else { &mut posts }.push(asked);
        }
        (streams.remove(0), posts)
    }
}

impl Client {
    async fn hears_that_lists_changed(&mut self) {
        for list in ["tools", "prompts", "resources"] {
            assert_eq!(self.hears().await, changed(list));
        }
    }
}

fn changed(list: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed") })
}

fn not_found(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32600, "message": "Session not found" } })
}

#[tokio::test]
async fn a_session_that_is_lost_is_opened_anew_and_the_request_sent_once_more() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;

    client.says(request(1, "tools/list")).await;
    gateway.asked().await.refuses().await;
    gateway.renews("s2").await;
    client.hears_that_lists_changed().await;
    let (stream, mut asked) = gateway.stream_and(1).await;
    let asked = asked.remove(0);
    assert_eq!(asked.message(), request(1, "tools/list"));
    asked.json(&result(1, json!({ "tools": [] }))).await;
    assert_eq!(client.hears().await, result(1, json!({ "tools": [] })));

    let _stream = stream.streams(&changed("tools")).await;
    assert_eq!(client.hears().await, changed("tools"));
}

#[tokio::test]
async fn requests_that_are_refused_together_wait_for_one_new_session() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;

    client.says(request(1, "tools/list")).await;
    let first = gateway.asked().await;
    client.says(request(2, "tools/list")).await;
    let second = gateway.asked().await;
    first.refuses().await;
    second.refuses().await;
    gateway.renews("s2").await;
    client.hears_that_lists_changed().await;

    let (_stream, asked) = gateway.stream_and(2).await;
    let mut ids = Vec::new();
    for asked in asked {
        let id = asked.message()["id"].as_u64().unwrap();
        asked.json(&result(id, json!({}))).await;
        assert_eq!(client.hears().await, result(id, json!({})));
        ids.push(id);
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
}

#[tokio::test]
async fn a_session_that_its_stream_found_lost_is_opened_anew_with_the_next_request() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;
    client.says(INITIALIZED).await;
    gateway.asked().await.answers(202, "", "").await;
    let mut listening = gateway.asked().await;
    listening
        .stream
        .write_all(b"HTTP/1.1 404 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    while listening.stream.read(&mut [0; 64]).await.unwrap() > 0 {} // It has been read.

    client.says(request(1, "tools/list")).await;
    gateway.renews("s2").await;
    client.hears_that_lists_changed().await;
    let (_stream, mut asked) = gateway.stream_and(1).await;
    asked.remove(0).json(&result(1, json!({}))).await;
    assert_eq!(client.hears().await, result(1, json!({})));
}

#[tokio::test]
async fn what_was_subscribed_to_is_subscribed_to_again_at_once_when_the_session_is_lost() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;
    let about = |id: u64, method: &str, uri: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "uri": uri } });
    for (id, method, uri) in [
        (1, "resources/subscribe", "x:a"),
        (2, "resources/subscribe", "x:b"),
        (3, "resources/unsubscribe", "x:b"),
    ] {
        client.says(about(id, method, uri)).await;
        gateway.asked().await.json(&result(id, json!({}))).await;
        assert_eq!(client.hears().await, result(id, json!({})));
    }
    client.says(about(4, "resources/subscribe", "x:c")).await;
    gateway.asked().await.json(&not_found(4)).await;
    assert_eq!(client.hears().await, not_found(4));

    client.says(INITIALIZED).await;
    gateway.asked().await.answers(202, "", "").await;
    gateway.asked().await.answers(404, "", "").await; // The stream.

    gateway.renews("s2").await;
    client.hears_that_lists_changed().await;
    let (_stream, mut asked) = gateway.stream_and(1).await;
    let asked = asked.remove(0);
    let message = asked.message();
    assert_eq!(
        (&message["method"], &message["params"]["uri"]),
        (&json!("resources/subscribe"), &json!("x:a"))
    );
    asked
        .json(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }))
        .await;
    let updated =
        json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "x:a" } });
    assert_eq!(client.hears().await, updated);
}

#[tokio::test]
async fn a_session_that_cannot_be_opened_anew_is_an_error_and_is_tried_again() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;

    client.says(request(1, "tools/list")).await;
    gateway.asked().await.refuses().await;
    gateway.asked().await.answers(503, "", "").await;
    assert_eq!(client.hears().await, not_found(1));

    client.says(request(2, "tools/list")).await;
    gateway.renews("s2").await;
    client.hears_that_lists_changed().await;
    let (_stream, mut asked) = gateway.stream_and(1).await;
    asked.remove(0).refuses().await;
    assert_eq!(client.hears().await, not_found(2), "once more, and not again");
}

#[tokio::test]
async fn a_session_of_another_version_is_no_use_to_the_client() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;

    client.says(request(1, "tools/list")).await;
    gateway.asked().await.refuses().await;
    gateway.asked().await.opens("s2", "2024-11-05").await;
    let goodbye = gateway.asked().await;
    assert!(goodbye.head.starts_with("delete /mcp ") && goodbye.header("mcp-session-id") == Some("s2"));
    goodbye.answers(204, "", "").await;

    assert_eq!(client.hears().await, not_found(1));
}

#[tokio::test]
async fn a_request_that_is_cancelled_while_the_session_is_opened_anew_is_not_sent_again() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;
    client.says(request(1, "tools/call")).await;
    gateway.asked().await.refuses().await;
    let opening = gateway.asked().await;

    let params = json!({ "requestId": 1 });
    client
        .says(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    client.says("{").await;
    assert_eq!(client.hears().await["error"]["code"], -32700, "all has been read");
    opening.opens("s2", "2025-06-18").await;
    gateway.asked().await.answers(202, "", "").await;
    client.hears_that_lists_changed().await;

    client.says(request(2, "ping")).await;
    let (_stream, mut asked) = gateway.stream_and(1).await;
    let asked = asked.remove(0);
    assert_eq!(asked.message(), request(2, "ping"));
    asked.json(&result(2, json!({}))).await;
    assert_eq!(client.hears().await, result(2, json!({})));
}

#[tokio::test]
async fn a_request_of_a_session_whose_outcome_is_unknown_is_never_sent_again() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;
    client.says(request(1, "tools/call")).await;
    drop(gateway.asked().await);
    assert_eq!(client.hears().await["error"]["data"]["reason"], "outcome_unknown");

    client.says(request(2, "ping")).await;
    let asked = gateway.asked().await;
    assert_eq!(asked.message(), request(2, "ping"));
    assert_eq!(asked.header("mcp-session-id"), Some("s1"));
    asked.json(&result(2, json!({}))).await;
    assert_eq!(client.hears().await, result(2, json!({})));
}
