//! Servers that announce changes of their lists.

use mcpr_tests::http::{Connection, Request};
use mcpr_tests::{Fake, gateway};
use serde_json::json;

const CHANGED: &str = "notifications/tools/list_changed";

async fn changed(stream: &mut Connection) {
    assert!(
        stream
            .message(|message| message["method"] == CHANGED)
            .await
            .is_some()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_tool_that_a_server_adds_is_announced_and_listed() {
    let fakes = [
        Fake::script().with(r#"{"env_tool": true}"#).stdio(),
        Fake::script()
            .with(r#"{"env_tool": true, "session": true}"#)
            .http(),
        Fake::script()
            .with(r#"{"env_tool": true, "era": "stateless"}"#)
            .http(),
        Fake::script().with(r#"{"env_tool": true}"#).sse(),
    ];
    for fake in fakes {
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client().await;
        let mut stream = client.stream().await;

        client.call("a_add", "{}").await;
        changed(&mut stream).await;

        assert!(client.tool_names().await.contains(&"a_new1".to_owned()));
        assert_eq!(
            client.call("a_new1", r#"{"n":1}"#).await["result"]["content"][0]["text"],
            r#"{"n":1}"#
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_listen_that_a_server_gives_up_is_opened_again() {
    let give_up = |id: u32| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
            .to_string()
    };
    let all: Vec<String> = (1..50).map(give_up).collect();
    let script = Fake::script()
        .tool("t")
        .with(r#"{"env_tool": true, "era": "stateless", "junk_on": "tools/call:t"}"#);
    let fake = script.set("noise", json!(all)).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let before = fake.await_received("subscriptions/listen", 1).await.len();

    client.call("a_t", "{}").await;

    fake.await_received("subscriptions/listen", before + 1).await;
    let mut stream = client.stream().await;
    client.call("a_add", "{}").await;
    changed(&mut stream).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_prompts_and_resources_too() {
    for (method, list) in [("prompts", "prompts/list"), ("resources", "resources/list")] {
        let changed = format!("notifications/{method}/list_changed");
        let entries =
            json!({ "prompts": [{ "name": "p" }], "resources": [{ "name": "r", "uri": "memo:///r" }] });
        let fake = Fake::script()
            .tool("t")
            .with(&entries.to_string())
            .set("notify", json!([{ "method": changed }]))
            .stdio();
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client().await;
        let mut stream = client.stream().await;

        client.call("a_t", "{}").await;

        let first = stream.event().await.unwrap().message();
        assert_eq!(first["method"], changed.as_str());
        assert_eq!(fake.received_of(list).len(), 2);
        assert_eq!(fake.received_of("tools/list").len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b63_a_storm_of_notices_is_one_reading_and_one_notice() {
    let notify = json!([{ "method": CHANGED, "repeat": 100 }]);
    let stormy = Fake::script().tool("t").set("notify", notify).stdio();
    let calm = Fake::script().with(r#"{"env_tool": true}"#).stdio();
    let gateway = gateway().fake("a", &stormy).fake("b", &calm).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;

    client.call("a_t", "{}").await;
    changed(&mut stream).await;
    client.call("b_add", "{}").await;
    changed(&mut stream).await;
    assert!(client.tool_names().await.contains(&"b_new1".to_owned()));
    client
        .in_session(Request::new("DELETE", "/mcp"))
        .send(client.port)
        .await;

    assert_eq!(stream.event().await, None, "a third notice");
    assert!(stormy.received_of("tools/list").len() <= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_10_a_session_that_is_renewed_is_no_news_for_clients() {
    let renewed = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "get": 405}"#)
        .http();
    let other = Fake::script().with(r#"{"env_tool": true}"#).stdio();
    let gateway = gateway().fake("a", &renewed).fake("b", &other).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    renewed.restart();
    client.call("a_t", "{}").await;
    renewed.await_received("tools/list", 2).await;

    client.call("b_add", "{}").await;
    changed(&mut stream).await;

    // The first notice is that of the other server, whose lists are read later than those of the first.
    assert!(client.tool_names().await.contains(&"b_new1".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn b63_agg_10_the_last_state_wins_whatever_happens_while_the_lists_are_read() {
    let fake = Fake::script()
        .with(r#"{"env_tool": true}"#)
        .delay("tools/list", 0.15)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    for round in 0..4 {
        client.call("a_add", "{}").await;
        fake.await_received("tools/list", 2 + round / 2).await;
    }

    while !client.tool_names().await.contains(&"a_new4".to_owned()) {
        changed(&mut stream).await;
    }
}
