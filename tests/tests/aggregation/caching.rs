//! How long stateless clients may keep a list, and for whom.

use std::time::Duration;

use mcpr_tests::{Fake, Gateway, Script, wait_for};
use serde_json::{Value, json};

use crate::common::{builder, in_front_of};

/// A stateless server whose lists hold for a minute, for everybody.
fn shared() -> Script {
    Fake::script()
        .tool("x")
        .set("era", json!("stateless"))
        .set("ttlMs", json!(60_000))
        .set("cacheScope", json!("public"))
}

/// A server with a prompt and no tool, whose lists are stale at once.
fn stale_prompts() -> Script {
    Fake::script()
        .set("era", json!("stateless"))
        .set("prompts", json!([{ "name": "p" }]))
}

/// For how many milliseconds a list holds, and for whom.
async fn holds(gateway: &Gateway, method: &str) -> (u64, String) {
    let result = gateway.stateless().request(method, "", None).await.message()["result"].clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        result["ttlMs"].as_u64().expect("a whole number"),
        text(&result["cacheScope"]),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn caching_a_list_holds_for_the_rest_of_its_servers_time() {
    let fake = shared().http();
    let gateway = in_front_of([("a", &fake)]).await;

    let (first, scope) = holds(&gateway, "tools/list").await;
    assert!((30_001..=60_000).contains(&first), "{first}");
    assert_eq!(scope, "private", "who calls has to say who he is");
    let later = wait_for(Duration::from_secs(10), "less time", async || {
        let (now, _) = holds(&gateway, "tools/list").await;
        (now != first).then_some(now)
    });
    assert!(later.await < first);
}

#[tokio::test(flavor = "multi_thread")]
async fn caching_a_list_of_an_open_gateway_is_as_public_as_all_its_servers() {
    let (one, other) = (shared().http(), shared().stdio());
    let public = builder([("a", &one), ("b", &other)]).open().ready().await;
    assert_eq!(holds_for_anybody(&public).await, "public");

    let private = shared().set("cacheScope", json!("private")).http();
    let mixed = builder([("a", &one), ("b", &private)]).open().ready().await;
    assert_eq!(holds_for_anybody(&mixed).await, "private");
}

/// Who may share the tools that somebody without a token gets.
async fn holds_for_anybody(gateway: &Gateway) -> String {
    let mut anybody = gateway.stateless();
    anybody.token.clear();
    let message = anybody.request("tools/list", "", None).await.message();
    message["result"]["cacheScope"]
        .as_str()
        .expect("a scope")
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn caching_the_least_of_all_servers_holds() {
    let (long, announcing) = (shared().http(), Fake::script().tool("x").stdio());
    let gateway = in_front_of([("a", &long), ("b", &announcing)]).await;
    assert_eq!(holds(&gateway, "tools/list").await, (30_000, "private".into()));

    let silent = Fake::script()
        .tool("x")
        .set("capabilities", json!({ "tools": {} }));
    let silent = silent.stdio();
    let gateway = in_front_of([("a", &long), ("b", &silent)]).await;
    assert_eq!(holds(&gateway, "tools/list").await.0, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn caching_a_server_without_items_of_a_kind_has_no_say_in_it() {
    let (long, stale) = (shared().http(), stale_prompts().http());
    let gateway = in_front_of([("a", &long), ("b", &stale)]).await;

    assert!(holds(&gateway, "tools/list").await.0 > 30_000);
    assert_eq!(holds(&gateway, "prompts/list").await.0, 0);
    assert_eq!(
        holds(&gateway, "resources/list").await.0,
        30_000,
        "nobody has any"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn caching_every_page_says_whose_it_is() {
    let fake = shared().tool("y").tool("z").http();
    let gateway = builder([("a", &fake)])
        .own("limits", json!({ "pageSize": 1 }))
        .open();
    let gateway = gateway.ready().await;
    let mut client = gateway.stateless();
    client.token.clear();

    let mut cursor = String::new();
    for _ in 0..3 {
        let message = client.request("tools/list", &cursor, None).await.message();
        assert_eq!(message["result"]["cacheScope"], "public");
        assert!(message["result"]["ttlMs"].as_u64() > Some(30_000));
        cursor = format!(r#""cursor":{}"#, message["result"]["nextCursor"]);
    }
    assert_eq!(cursor, r#""cursor":null"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn caching_a_list_says_who_gives_it() {
    let fake = shared().http();
    let gateway = in_front_of([("a", &fake)]).await;

    let told = gateway
        .stateless()
        .request("tools/list", "", None)
        .await
        .message();
    let info = &told["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "mcpr", "{told}");
    let told = gateway.client().await.request("tools/list", "{}").await.message();
    assert!(told["result"]["_meta"]["io.modelcontextprotocol/serverInfo"].is_null());
}
