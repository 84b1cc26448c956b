//! Servers that are lost, and come back.

use std::time::{Duration, Instant};

use mcpr_tests::{Fake, gateway, wait_for, wait_until};
use serde_json::json;

use crate::{AT_ONCE, impatient, reason, text};

/// Kills the process of a server.
pub(crate) fn kill(pid: &serde_json::Value) {
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status();
    assert!(
        killed.is_ok_and(|status| status.success()),
        "{pid} could be killed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b20_a_server_that_dies_at_work_fails_its_own_calls_and_returns() {
    let dying = Fake::script()
        .tool("t")
        .with(r#"{"exit_on": "tools/call"}"#)
        .stdio();
    let well = Fake::script().tool("t").delay("tools/call", 0.2).stdio();
    let gateway = gateway()
        .fake_with("dying", &dying, impatient())
        .fake("well", &well)
        .ready()
        .await;
    let client = gateway.client().await;

    let began = Instant::now();
    let (lost, other) = tokio::join!(client.call("dying_t", "{}"), client.call("well_t", r#"{"n":1}"#));

    assert!(began.elapsed() < AT_ONCE);
    assert_eq!(reason(&lost), "outcome_unknown");
    let told = lost["error"]["message"].as_str().unwrap();
    assert!(told.contains("`dying`") && told.contains("exit code 3"), "{told}");
    assert_eq!(text(&other), r#"{"n":1}"#);
    gateway
        .await_server("dying", |server| server["state"] == "ok" && server["starts"] == 2)
        .await;
    assert_eq!(client.tool_names().await, ["dying_t", "well_t"]);
    assert_eq!(
        dying.received_of("tools/call").len(),
        1,
        "an outcome that is unknown is not tried again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b20_all_calls_at_work_in_a_dying_server_end_at_once() {
    let fake = Fake::script()
        .tool("t")
        .tool("die")
        .with(r#"{"silent": ["tools/call:t"], "exit_on": "tools/call:die"}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let die = async {
        fake.await_received("tools/call", 2).await;
        client.call("a_die", "{}").await
    };

    let (one, two, three) = tokio::join!(client.call("a_t", "{}"), client.call("a_t", "{}"), die);

    assert_eq!([&one, &two, &three].map(reason), ["outcome_unknown"; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_06_agg_10_tools_leave_with_their_server_and_come_back_with_it() {
    let fake = Fake::script().tool("t").http();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;
    let mut changed = async || {
        stream
            .message(|message| message["method"] == "notifications/tools/list_changed")
            .await
            .unwrap()
    };

    fake.kill();
    let began = Instant::now();
    changed().await;
    assert!(
        began.elapsed() < AT_ONCE,
        "noticed without a call: {:?}",
        began.elapsed()
    );
    assert!(client.tool_names().await.is_empty());
    assert_eq!(reason(&client.call("a_t", "{}").await), "server_down");

    fake.restart();
    changed().await;
    assert_eq!(client.tool_names().await, ["a_t"]);
    assert_eq!(text(&client.call("a_t", r#"{"n":1}"#).await), r#"{"n":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_06_a_restart_that_succeeds_at_once_is_no_change_for_clients() {
    let fake = Fake::script().tool("t").with(r#"{"env_tool": true}"#).stdio();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    let mut stream = client.stream().await;

    kill(&gateway.server("a").await["pid"]);
    gateway
        .await_server("a", |server| server["state"] == "ok" && server["starts"] == 2)
        .await;
    client.call("a_add", "{}").await;

    // The one notice is that of the tool that was added after the restart.
    let listed = async {
        stream.event().await.unwrap();
        client.tool_names().await
    };
    assert!(listed.await.contains(&"a_new1".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_reconnects_have_no_end() {
    let fake = Fake::script().tool("t").http();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    fake.kill();
    let server = gateway
        .await_server("a", |server| server["starts"].as_u64() >= Some(10))
        .await;
    assert!(
        server["reason"].as_str().unwrap().contains("cannot connect"),
        "{server}"
    );

    let began = Instant::now();
    assert_eq!(reason(&client.call("a_t", "{}").await), "server_down");
    assert!(began.elapsed() < AT_ONCE, "a call meanwhile fails fast");

    fake.restart();
    gateway.await_state("a", "ok").await;
    assert_eq!(text(&client.call("a_t", r#"{"n":1}"#).await), r#"{"n":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_srv_06_a_call_brings_the_next_attempt_forward_but_not_at_every_turn() {
    let fake = Fake::script().tool("t").http();
    let before = gateway().fake("a", &fake).ready().await;
    before.core.shutdown().await;
    fake.kill();
    let own = json!({ "restart": { "backoffMin": "10m", "backoffMax": "10m" } });
    let gateway = gateway()
        .fake_with("a", &fake, own)
        .at_home_of(&before)
        .start()
        .await;
    let server = gateway.await_state("a", "down").await;
    assert!(server["retryInMs"].as_u64() > Some(400_000), "{server}");
    fake.restart();
    let (client, began) = (gateway.client().await, Instant::now());

    wait_for(Duration::from_secs(30), "a server that is back", async || {
        client.call("a_t", "{}").await;
        (gateway.server("a").await["state"] == "ok").then_some(())
    })
    .await;

    assert!(began.elapsed() > Duration::from_secs(3), "once in five seconds");
    assert_eq!(gateway.server("a").await["starts"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn b66_a_server_that_exits_at_once_is_not_respawned_in_a_tight_loop() {
    let folder = tempfile::tempdir().unwrap();
    let births = folder.path().join("births");
    let script = format!("echo x >> {}; exit 1", births.display());
    let entry = json!({ "command": "sh", "args": ["-c", script], "mcpr": { "restart": { "backoffMin": "40ms", "backoffMax": "10s" } } });
    let began = Instant::now();
    let gateway = gateway().server("a", entry).start().await;
    let count = || {
        std::fs::read_to_string(&births)
            .unwrap_or_default()
            .lines()
            .count()
    };

    // With the defaults, which are 25 times as long, these seven take half a minute and more.
    wait_until(Duration::from_secs(10), "the seventh birth", || {
        (count() >= 7).then_some(())
    })
    .await;

    assert!(
        began.elapsed() >= Duration::from_millis(30_000 / 25),
        "seven births in {:?}",
        began.elapsed()
    );
    let server = gateway.server("a").await;
    assert!(
        server["reason"].as_str().unwrap().contains("exit code 1"),
        "{server}"
    );
}
