//! A configuration that is read again while everything runs (CFG-05).

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, await_no_process, gateway};
use serde_json::{Value, json};

use crate::agents::{hears_of_tools, others, until, use_tool};

fn server() -> Fake {
    Fake::script().tool("t").stdio()
}

async fn reload(gateway: &Gateway) -> Value {
    gateway.operate("reload", json!({})).await
}

async fn pid(gateway: &Gateway, server: &str) -> Value {
    gateway.await_state(server, "ok").await["pid"].clone()
}

fn no_builtins() -> Value {
    json!({ "builtins": false })
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_servers_come_go_and_change_while_the_others_keep_their_process_and_clients_their_session() {
    let [kept, gone, changed, new] = [server(), server(), server(), server()];
    let builder = gateway()
        .fake("kept", &kept)
        .fake("gone", &gone)
        .fake("changed", &changed);
    let gateway = builder.ready().await;
    let client = gateway.client().await;
    let mut heard = client.stream().await;
    let before = [pid(&gateway, "kept").await, pid(&gateway, "changed").await];

    let mut other = changed.entry();
    other["env"] = json!({ "X": "1" });
    gateway.configure(
        &[("new", new.entry()), ("changed", other), ("kept", kept.entry())],
        &no_builtins(),
    );
    let reloaded = reload(&gateway).await;

    let told = ["added", "removed", "changed"].map(|member| reloaded[member][0].clone());
    assert_eq!(told, ["new", "gone", "changed"], "{reloaded}");
    assert_eq!(
        (&reloaded["unchanged"], reloaded.get("warnings")),
        (&json!(1), None)
    );
    await_no_process(&gone.spec_path().display().to_string()).await;
    assert_eq!(pid(&gateway, "kept").await, before[0]);
    assert_ne!(pid(&gateway, "changed").await, before[1]);
    pid(&gateway, "new").await;
    hears_of_tools(&mut heard).await;
    let all = ["new_t", "changed_t", "kept_t"];
    until(async || client.tool_names().await == all).await;
    assert_eq!(
        client.call("new_t", r#"{"n":1}"#).await["result"]["content"][0]["text"],
        r#"{"n":1}"#
    );
    assert_eq!(
        client.call("gone_t", "{}").await["error"]["message"],
        "Unknown tool: gone_t"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_a_file_that_cannot_be_read_changes_nothing_and_says_so() {
    let git = server();
    let gateway = gateway().fake("git", &git).ready().await;
    let before = pid(&gateway, "git").await;

    for broken in [
        r#"{"mcpServers":"#,
        "[]",
        r#"{"mcpServers":[]}"#,
        r#"{"mcpServers":{},"mcpr":{"listen":5}}"#,
    ] {
        gateway.rewrite(broken);
        let failed = reload(&gateway).await;
        assert_eq!(failed["error"]["code"], "invalid_config", "{broken}: {failed}");
        let said = failed["error"]["message"].as_str().expect("a message");
        assert!(said.starts_with("the old configuration stays"), "{said}");
    }

    assert_eq!(pid(&gateway, "git").await, before);
    assert_eq!(gateway.client().await.tool_names().await, ["git_t"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_an_entry_that_cannot_be_used_is_told_of_its_server_alone() {
    let (git, other) = (server(), server());
    let gateway = gateway().fake("git", &git).fake("other", &other).ready().await;
    let before = pid(&gateway, "git").await;

    gateway.configure(
        &[("git", git.entry()), ("other", json!({ "command": 5 }))],
        &no_builtins(),
    );
    let reloaded = reload(&gateway).await;

    assert_eq!(reloaded["changed"], json!(["other"]), "{reloaded}");
    gateway.await_state("other", "misconfigured").await;
    assert_eq!(
        (
            pid(&gateway, "git").await,
            gateway.client().await.tool_names().await
        ),
        (before, vec!["git_t".to_owned()])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_a_reload_tells_its_warnings_once_and_no_mere_notes() {
    let gateway = gateway().ready().await;

    gateway.rewrite("{ // A comment is worth a note.\n \"mcpServers\": { \"a\": { \"comand\": \"x\" } } }");
    let reloaded = reload(&gateway).await;

    let warnings = reloaded["warnings"].as_array().expect("warnings");
    let [warning] = &warnings[..] else {
        panic!("{reloaded}")
    };
    let text = warning.as_str().expect("a text");
    assert!(text.contains(":2:25: server `a`: unknown key `comand`"), "{text}");
    assert!(!text.contains("warning"), "who shows it says so: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_toolsets_and_projects_of_the_file_change_with_it() {
    let git = Fake::script().tool("status").tool("push").stdio();
    let own = |tool: &str| {
        let few = json!({ "few": { "tools": [{ "namespacedName": tool }] } });
        json!({ "toolsets": few, "projects": { "web": { "servers": ["git"], "toolset": "few" } } })
    };
    let builder = gateway()
        .with_builtins()
        .own("toolsets", own("git.status")["toolsets"].clone());
    let gateway = builder.fake("git", &git).ready().await;
    let agent = gateway.client().await;
    use_tool(&agent, "equip-toolset", r#"{"name":"few"}"#).await;
    let before = pid(&gateway, "git").await;
    let mut heard = agent.stream().await;
    hears_of_tools(&mut heard).await; // Of what was equipped.

    gateway.configure(&[("git", git.entry())], &own("git.push"));
    reload(&gateway).await;
    hears_of_tools(&mut heard).await;
    assert_eq!(others(&agent).await, ["git_push"]);
    assert_eq!(
        gateway.operate("projects/list", json!({})).await["projects"][0]["name"],
        "web"
    );

    gateway.configure(&[("git", git.entry())], &json!({}));
    reload(&gateway).await;
    hears_of_tools(&mut heard).await;
    assert!(others(&agent).await.is_empty(), "what it has equipped is gone");
    assert_eq!(
        use_tool(&agent, "get-active-toolset", "{}").await["by"],
        "equipped"
    );

    gateway.configure(&[("git", git.entry())], &own("git.*"));
    reload(&gateway).await;
    hears_of_tools(&mut heard).await;
    assert_eq!(others(&agent).await, ["git_status", "git_push"], "and is back");
    assert_eq!(pid(&gateway, "git").await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_what_only_counts_after_a_restart_is_said() {
    let git = server();
    let gateway = gateway().fake("git", &git).ready().await;

    let own =
        json!({ "builtins": false, "listen": "127.0.0.1:4000", "limits": { "sessions": 7, "pageSize": 5 } });
    gateway.configure(&[("git", git.entry())], &own);
    let reloaded = reload(&gateway).await;

    assert_eq!(
        reloaded["needsRestart"],
        json!(["mcpr.listen", "mcpr.limits.sessions"]),
        "{reloaded}"
    );
    assert_eq!(reloaded["unchanged"], 1);
}

/// Whether a call waits in line for a server.
async fn is_waited_for(gateway: &Gateway) -> bool {
    let admin = gateway.another_token(&["admin"]).await;
    let metrics = Request::get("/metrics").token(&admin).send(gateway.port).await;
    let text = metrics.text();
    text.lines()
        .any(|line| line.contains("queue_depth{") && line.ends_with(" 1.0"))
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_a_call_that_waits_in_line_goes_to_the_server_as_it_is_after_a_reload() {
    let fake = Fake::script().tool("t").delay("tools/call", 3.0).stdio();
    let one_at_once = json!({ "maxConcurrency": 1 });
    let gateway = gateway().fake_with("a", &fake, one_at_once).ready().await;
    let [first, second] = [gateway.client().await, gateway.client().await];
    let changed = async {
        fake.await_received("tools/call", 1).await;
        until(async || is_waited_for(&gateway).await).await;
        let mut entry = fake.entry();
        entry["mcpr"] = json!({ "maxConcurrency": 1, "timeouts": { "call": "1m" } });
        gateway.configure(&[("a", entry)], &no_builtins());
        reload(&gateway).await
    };

    let (one, other, _) = tokio::join!(first.call("a_t", "{}"), second.call("a_t", "{}"), changed);

    // The one that was at work is lost with its process, whichever of them that was.
    let text = |answer: &Value| answer["result"]["content"][0]["text"] == "{}";
    let lost = |answer: &Value| answer["error"]["data"]["reason"] == "outcome_unknown";
    assert!(
        text(&one) && lost(&other) || text(&other) && lost(&one),
        "{one} {other}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_07_a_call_that_waits_in_line_is_not_made_if_a_reload_denies_its_tool() {
    let fake = Fake::script()
        .tool("t")
        .tool("u")
        .delay("tools/call:t", 3.0)
        .stdio();
    let one_at_once = json!({ "maxConcurrency": 1 });
    let gateway = gateway().fake_with("a", &fake, one_at_once).ready().await;
    let [first, second] = [gateway.client().await, gateway.client().await];
    let begun = first.call("a_t", "{}");
    let denied = async {
        fake.await_received("tools/call", 1).await;
        let deny = async {
            until(async || is_waited_for(&gateway).await).await;
            let mut entry = fake.entry();
            entry["mcpr"] = json!({ "maxConcurrency": 1, "tools": { "deny": ["u"] } });
            gateway.configure(&[("a", entry)], &no_builtins());
            reload(&gateway).await
        };
        tokio::join!(second.call("a_u", "{}"), deny).0
    };

    let (one, other) = tokio::join!(begun, denied);

    assert_eq!(one["result"]["content"][0]["text"], "{}", "{one}");
    let message = other["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("Unknown tool"), "{other}");
    assert_eq!(
        fake.received_of("tools/call").len(),
        1,
        "the server has not heard of it"
    );
}
