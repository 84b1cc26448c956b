//! Lists: they never wait, and say what is missing.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn b25_agg_12_a_list_is_answered_although_a_server_never_answers() {
    let good = ["a", "b", "c", "d"].map(|name| (name, Fake::script().tool("t").stdio()));
    let slow = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["tools/list"]}"#)
        .stdio();
    let builder = good
        .iter()
        .fold(gateway().fake("slow", &slow), |all, (name, fake)| {
            all.fake(name, fake)
        });
    let gateway = builder.start().await;
    slow.await_received("tools/list", 1).await;
    for (name, _) in &good {
        gateway.await_state(name, "ok").await;
    }
    let client = gateway.client().await;

    // The slow server has been asked and will never answer: an answer here did not wait for it.
    let listed = client.request("tools/list", "{}").await.message();
    let names: Vec<_> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["a_t", "b_t", "c_t", "d_t"]);
    assert_eq!(
        listed["result"]["_meta"]["dev.mcpr/servers"]["slow"]["state"],
        "starting"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_the_very_first_list_says_that_servers_are_starting() {
    let slow = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["initialize"]}"#)
        .stdio();
    let gateway = gateway().fake("slow", &slow).start().await;

    let listed = gateway
        .stateless()
        .request("tools/list", "", None)
        .await
        .message();

    assert_eq!(listed["result"]["tools"], json!([]));
    assert_eq!(
        listed["result"]["_meta"]["dev.mcpr/servers"]["slow"],
        json!({ "state": "starting" })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_stored_listing_is_shown_while_its_server_starts() {
    let fake = Fake::script().tool("t").stdio();
    let before = gateway().fake("a", &fake).ready().await;
    before.core.shutdown().await;
    fake.rescript(Fake::script().tool("t").with(r#"{"silent": ["initialize"]}"#));
    let gateway = gateway().fake("a", &fake).at_home_of(&before).start().await;
    let client = gateway.client().await;

    let listed = client.request("tools/list", "{}").await.message();

    assert_eq!(listed["result"]["tools"][0]["name"], "a_t");
    assert_eq!(
        listed["result"]["_meta"]["dev.mcpr/servers"]["a"]["state"],
        "stale"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_agg_13_what_a_server_has_listed_in_this_run_is_shown_while_it_is_started_anew() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    fake.rescript(Fake::script().tool("t").with(r#"{"silent": ["initialize"]}"#));

    gateway.operate("servers/restart", json!({ "name": "a" })).await;
    gateway.listed_as("a", "stale").await;
    assert_eq!(client.tool_names().await, ["a_t"]);

    gateway.operate("servers/disable", json!({ "name": "a" })).await;
    assert!(client.tool_names().await.is_empty());
    gateway.operate("servers/enable", json!({ "name": "a" })).await;
    gateway.listed_as("a", "stale").await;
    assert_eq!(client.tool_names().await, ["a_t"], "they are there at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_list_says_of_each_server_what_is_wrong_with_it() {
    let ok = Fake::script().tool("t").stdio();
    let shut = Fake::script().with(r#"{"mask": {"status": 401}}"#).http();
    let gateway = gateway()
        .fake("ok", &ok)
        .fake("shut", &shut)
        .command("gone", &["/no/such/bin"])
        .server("wrong", json!({ "command": 5 }))
        .server("off", json!({ "command": "x", "disabled": true }))
        .ready()
        .await;

    let listed = gateway.client().await.request("tools/list", "{}").await.message();

    let servers = &listed["result"]["_meta"]["dev.mcpr/servers"];
    let states = ["ok", "shut", "gone", "wrong"].map(|name| servers[name]["state"].clone());
    assert_eq!(states, ["ok", "auth-required", "down", "misconfigured"]);
    assert!(
        servers["shut"]["reason"].as_str().unwrap().contains("401"),
        "{servers}"
    );
    assert!(
        servers["wrong"]["reason"].as_str().unwrap().contains("command"),
        "{servers}"
    );
    assert!(servers.get("off").is_none(), "{servers}");
}
