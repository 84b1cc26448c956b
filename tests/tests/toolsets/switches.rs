//! Servers and tools, on and off, and what they are called.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn agg_13_a_disabled_server_ends_with_its_tools_and_comes_back_with_them() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    let mark = fake.spec_path().display().to_string();

    let off = gateway.operate("servers/disable", json!({ "name": "a" })).await;

    assert_eq!(
        (&off["state"], client.tool_names().await.len()),
        (&json!("disabled"), 0)
    );
    mcpr_tests::await_no_process(&mark).await;
    let changed = stream.event().await.expect("a notice").message();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(
        client.call("a_t", "{}").await["error"]["message"],
        "Unknown tool: a_t"
    );

    let on = gateway.operate("servers/enable", json!({ "name": "a" })).await;

    assert_eq!(
        (&on["state"], client.tool_names().await),
        (&json!("ok"), vec!["a_t".to_owned()])
    );
    assert_eq!(
        client.call("a_t", r#"{"n":1}"#).await["result"]["content"][0]["text"],
        r#"{"n":1}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_13_what_was_switched_outlives_a_restart_and_wins_over_the_file() {
    let (on, off) = (
        Fake::script().tool("t").tool("u").stdio(),
        Fake::script().tool("t").stdio(),
    );
    let mut sleeping = off.entry();
    sleeping["disabled"] = json!(true);
    let before = gateway()
        .fake("a", &on)
        .server("b", sleeping.clone())
        .ready()
        .await;
    assert_eq!(before.server("b").await["starts"], 0);
    before.operate("servers/enable", json!({ "name": "b" })).await;
    before.operate("tools/disable", json!({ "name": "a_u" })).await;
    assert_eq!(before.client().await.tool_names().await, ["a_t", "b_t"]);
    before.core.shutdown().await;

    let after = gateway()
        .fake("a", &on)
        .server("b", sleeping)
        .at_home_of(&before)
        .ready()
        .await;

    assert_eq!(after.client().await.tool_names().await, ["a_t", "b_t"]);
    assert_eq!(after.server("b").await["state"], "ok");
    let back = after.operate("tools/enable", json!({ "name": "a.u" })).await;
    assert_eq!(
        (&back["exposedName"], &back["enabled"]),
        (&json!("a_u"), &json!(true))
    );
    let wrong = after.operate("tools/disable", json!({ "name": "a_x" })).await;
    assert_eq!(wrong["error"]["code"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_13_allow_and_deny_lists_keep_tools_away() {
    let fake = Fake::script()
        .tool("get_a")
        .tool("get_secret")
        .tool("delete_a")
        .stdio();
    let tools = json!({ "tools": { "allow": ["get_*"], "deny": ["*secret"] } });
    let gateway = gateway().fake_with("a", &fake, tools).ready().await;
    let client = gateway.client().await;

    assert_eq!(client.tool_names().await, ["a_get_a"]);
    let answer = client.call("a.delete_a", "{}").await;
    assert_eq!(answer["error"]["data"]["reason"], "unknown_tool");
    let all = gateway.operate("tools/list", json!({ "all": true })).await;
    let hidden: Vec<_> = all["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["hidden"].as_str())
        .collect();
    assert_eq!(
        hidden,
        ["`tools.deny` has `*secret`", "`tools.allow` does not have it"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_03_set_09_an_override_changes_name_and_description_and_nothing_else() {
    let entry = r#"{"name":"get_me","description":"Old.","inputSchema":{"type":"object"},"x":1e2}"#;
    let fake = Fake::script().tool_entry(entry).tool("other").stdio();
    let tools = json!({ "tools": { "override": { "get_me": { "name": "whoami", "description": "New." } } } });
    let gateway = gateway().fake_with("a", &fake, tools).ready().await;
    let client = gateway.client().await;

    let listed = client.request("tools/list", "{}").await.text();

    let rest = r#","description":"New.","inputSchema":{"type":"object"},"x":1e2,"_meta""#;
    assert!(
        listed.contains(&format!(r#"{{"name":"whoami"{rest}"#)),
        "{listed}"
    );
    assert_eq!(
        client.call("whoami", r#"{"n":1}"#).await["result"]["content"][0]["text"],
        r#"{"n":1}"#
    );
    let named = json!({ "name": "a.get_me", "exposedName": "me" });
    assert_eq!(
        gateway.operate("tools/override", named).await["exposedName"],
        "me"
    );
    let back = json!({ "name": "me", "exposedName": "", "description": "" });
    gateway.operate("tools/override", back).await;
    assert_eq!(client.tool_names().await, ["whoami", "a_other"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_server_is_restarted_and_a_tool_explained() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let pid = gateway.server("a").await["pid"].clone();

    let restarted = gateway.operate("servers/restart", json!({ "name": "a" })).await;
    let explained = gateway
        .operate("tools/explain", json!({ "name": "a_t", "project": "none" }))
        .await;

    assert_eq!(restarted["state"], "ok");
    assert_ne!(restarted["pid"], pid);
    assert_eq!(
        (&explained["visible"], &explained["callable"]),
        (&json!(false), &json!(false))
    );
    let blocked: Vec<_> = explained["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter(|check| check["verdict"] == "block")
        .collect();
    assert_eq!(
        (blocked.len(), &blocked[0]["what"]),
        (1, &json!("project")),
        "{explained}"
    );
}
