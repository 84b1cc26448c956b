//! Notifications that mcpr passes to nobody: what has no meaning beyond one hop, and what MCP does not define.

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::pairs;
use crate::wire::Wire;

/// What servers say that no client gets to hear.
const OF_SERVERS: [&str; 3] = ["notifications/tasks/status", "notifications/none", "none"];

/// What clients say that no server gets to hear.
const OF_CLIENTS: [&str; 5] = [
    "notifications/progress",
    "notifications/roots/list_changed", // Of interest to a server that has asked for roots.
    "notifications/tasks/status",
    "notifications/initialized",
    "notifications/none",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_says_that_no_client_has_a_use_for_ends_at_the_gateway() {
    let notes = OF_SERVERS.map(|method| json!({ "method": method, "params": { "taskId": "t" } }));
    for (_fake, gateway) in pairs::servers(|script| script.tool("x").set("notify", json!(notes))).await {
        for client in gateway.clients().await {
            let answer = client.call("a_x", "{}").await;
            assert_eq!(
                answer.head.header("content-type"),
                Some("application/json"),
                "nothing came before it"
            );
            assert!(answer.message()["result"].is_object());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_says_that_no_server_has_a_use_for_ends_at_the_gateway() {
    for (fake, gateway) in pairs::servers(|script| script.tool("x")).await {
        let before = OF_CLIENTS.map(|method| fake.received_of(method).len());
        let (client, mut wire) = (gateway.client().await, Wire::open(&gateway).await);
        for method in OF_CLIENTS {
            client.notify(method, r#"{"progressToken":1,"progress":1}"#).await;
            wire.send(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#))
                .await;
        }
        client.call("a_x", "{}").await;
        wire.ask("1", "tools/call", r#"{"name":"a_x"}"#).await;
        fake.await_received("tools/call", 2).await;
        assert_eq!(OF_CLIENTS.map(|method| fake.received_of(method).len()), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_message_outside_of_a_call_comes_to_nobody() {
    let aside =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"aside"}}"#;
    for era in ["session", "stateless"] {
        let fake = Fake::script()
            .set("era", json!(era))
            .set("mid", json!([aside]))
            .set("touch_tool", json!(true))
            .set("resources", json!([{ "uri": "file:///r", "name": "r" }]))
            .stdio();
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client().await;
        client.request("logging/setLevel", r#"{"level":"debug"}"#).await;
        let mut stream = client.stream().await;

        let uri = r#"{"uri":"file:///r"}"#;
        let subscribed = client.request("resources/subscribe", uri).await;
        gateway.stateless().call("a_touch", uri).await;

        assert_eq!(subscribed.message()["result"], json!({}), "{era}");
        let told: Value = stream.event().await.unwrap().message();
        assert_eq!(told["method"], "notifications/resources/updated", "{era}: {told}");
    }
}
