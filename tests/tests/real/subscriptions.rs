//! Resources of real servers, heard of by real clients (AGG-11; `protocol.md` 20, row 8).

use std::time::Duration;

use mcpr_tests::drivers::{Client, Operation};
use mcpr_tests::http::Connection;
use mcpr_tests::peers::{self, Served};
use mcpr_tests::{Brood, Gateway, gateway};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The memory server behind a gateway.
async fn memory(folder: &TempDir, brood: &Brood) -> Gateway {
    let words = peers::ready().memory(&folder.path().join("memory.jsonl"));
    gateway().server("memory", brood.entry(&words)).ready().await
}

fn entity(name: &str) -> Value {
    json!({ "entities": [{ "name": name, "entityType": "city", "observations": [] }] })
}

/// What a listen to these resources is told next.
async fn next(listen: &mut Connection) -> Value {
    let message = listen.message(|message| !message.is_null()).await;
    message.expect("the listen is open")
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_every_real_client_hears_of_the_memory_of_a_real_server() {
    let (folder, brood) = (TempDir::new().expect("a temporary folder"), Brood::new());
    let gateway = memory(&folder, &brood).await;
    for (index, uri) in [
        "memory://knowledge-graph",
        "resource://memory/memory://knowledge-graph",
    ]
    .into_iter()
    .enumerate()
    {
        for client in Client::ALL {
            let name = format!("{client:?} {index}");
            let hear = Operation::hear(uri, "memory_create_entities", entity(&name));
            let told = client.run(&gateway.url(), Some(&gateway.token), &[hear]).await;
            let told = told.unwrap_or_else(|error| panic!("{error:#}"));
            assert_eq!(told.ok(0)["heard"], uri, "{client:?}");
        }
    }
    brood.stop(gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_row_8_a_stateless_client_listens_to_a_server_of_the_session_era() {
    let (folder, brood) = (TempDir::new().expect("a temporary folder"), Brood::new());
    let gateway = memory(&folder, &brood).await;
    let stateless = gateway.stateless();
    let filter = r#""notifications":{"resourcesListChanged":true,"resourceSubscriptions":["memory://knowledge-graph","memory://none"]}"#;
    let (_, mut listen) = stateless.begin("subscriptions/listen", filter, None).await;
    let first = next(&mut listen).await;
    let accepted = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["memory://knowledge-graph", "memory://none"] });
    assert_eq!(
        first["params"]["notifications"], accepted,
        "the server takes any URI"
    );

    for name in ["Bern", "Basel"] {
        stateless
            .call("memory_create_entities", &entity(name).to_string())
            .await;
        let told = next(&mut listen).await;
        assert_eq!(told["method"], "notifications/resources/updated", "{told}");
        assert_eq!(told["params"]["uri"], "memory://knowledge-graph", "{told}");
    }
    drop(listen);
    brood.stop(gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_server_everything_tells_of_what_was_subscribed_to_over_each_transport() {
    let (http, sse) = tokio::join!(Served::everything(), Served::everything_sse());
    let brood = Brood::new();
    let gateway = gateway()
        .server("stdio", brood.entry(&peers::ready().everything()))
        .server("http", json!({ "type": "http", "url": http.url() }))
        .server("sse", json!({ "type": "sse", "url": sse.url() }))
        .ready()
        .await;
    for server in ["stdio", "http", "sse"] {
        let uri = |number: u32| format!("resource://{server}/demo://resource/dynamic/text/{number}");
        let (session, stateless) = (gateway.client().await, gateway.stateless());
        let subscribed = session
            .request("resources/subscribe", &json!({ "uri": uri(1) }).to_string())
            .await
            .message();
        assert_eq!(subscribed["result"], json!({}), "{server}: {subscribed}");
        let mut stream = session.stream().await;
        let filter = json!({ "resourceSubscriptions": [uri(2)] });
        let filter = format!(r#""notifications":{filter}"#);
        let (_, mut listen) = stateless.begin("subscriptions/listen", &filter, None).await;
        assert_eq!(
            next(&mut listen).await["params"]["notifications"]["resourceSubscriptions"],
            json!([uri(2)])
        );

        stateless
            .call(&format!("{server}_toggle_subscriber_updates"), "{}")
            .await;

        let updated = |message: &Value| message["method"] == "notifications/resources/updated";
        let told = tokio::time::timeout(Duration::from_secs(10), stream.message(updated)).await;
        assert_eq!(
            told.expect("it comes soon").expect("the stream is open")["params"]["uri"],
            uri(1)
        );
        assert_eq!(next(&mut listen).await["params"]["uri"], uri(2), "{server}");
        stateless
            .call(&format!("{server}_toggle_subscriber_updates"), "{}")
            .await;
    }
    brood.stop(gateway).await;
}
