//! How long calls are kept, and how many.

use std::time::SystemTime;

use mcpr_store::CallRow;
use mcpr_tests::{gateway, logged};
use serde_json::json;

use crate::stage::{await_stored, history, server, stored};

fn hours_ago(hours: i64) -> i64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    i64::try_from(now).unwrap() - hours * 3_600_000
}

/// A call that a run before had, so many hours ago.
fn earlier(hours: i64) -> CallRow {
    CallRow {
        id: format!("h_00000000{:05}", 99_999 - hours),
        at_ms: hours_ago(hours),
        status: "ok".into(),
        ..CallRow::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_calls_that_are_too_old_are_gone_after_the_start() {
    let before = gateway().start().await;
    let store = mcpr_store::open(before.home().join("mcpr.db")).await.unwrap();
    store
        .put_calls([earlier(1), earlier(3), earlier(100)].into())
        .await
        .unwrap();
    store.close().await;
    let after = gateway()
        .own("history", json!({ "keep": "2h" }))
        .at_home_of(&before);
    drop(before);

    let after = after.start().await;

    let rows = await_stored(&after.home(), 1).await;
    assert_eq!(rows[0].id, earlier(1).id);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_by_default_calls_stay_for_thirty_days() {
    let before = gateway().start().await;
    let store = mcpr_store::open(before.home().join("mcpr.db")).await.unwrap();
    store
        .put_calls([earlier(1), earlier(29 * 24), earlier(31 * 24)].into())
        .await
        .unwrap();
    store.close().await;
    let after = gateway().at_home_of(&before);
    drop(before);

    let after = after.start().await;

    let rows = await_stored(&after.home(), 2).await;
    assert_eq!(rows[1].id, earlier(29 * 24).id);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_start_with_a_date_that_may_be_wrong_forgets_nothing_at_once() {
    logged();
    let before = gateway().start().await;
    let store = mcpr_store::open(before.home().join("mcpr.db")).await.unwrap();
    let long_ago = [earlier(700 * 24), earlier(701 * 24)];
    store.put_calls(long_ago.into()).await.unwrap();
    store.close().await;
    let after = gateway().with_builtins().at_home_of(&before);
    drop(before);

    let after = after.start().await;
    // It is written down after the first look for what is too old.
    after.client().await.call("list-toolsets", "{}").await;

    assert_eq!(history(&after, json!({})).await.len(), 3);
    let told = logged()
        .into_iter()
        .any(|line| line.contains("the last call was long ago") && line.contains("days=700"));
    assert!(told);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_beyond_the_size_the_oldest_calls_go_while_the_gateway_runs() {
    let fake = server().stdio();
    let settings = json!({ "maxSize": "100kB", "arguments": "full" });
    let gateway = gateway().fake("a", &fake).own("history", settings).ready().await;
    let client = gateway.client().await;
    for number in 0..30 {
        let arguments = json!({ "number": number, "filling": "x".repeat(10_000) });
        client.call("a_x", &arguments.to_string()).await;
    }

    let calls = history(&gateway, json!({ "arguments": true })).await;

    let numbers: Vec<_> = calls
        .iter()
        .map(|call| call["arguments"]["number"].as_u64().unwrap())
        .collect();
    assert!((8..=10).contains(&numbers.len()), "{numbers:?}");
    let newest: Vec<_> = (0..30).rev().take(numbers.len()).collect();
    assert_eq!(numbers, newest);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_size_of_nothing_keeps_nothing() {
    let fake = server().stdio();
    let gateway = gateway()
        .fake("a", &fake)
        .own("history", json!({ "maxSize": 0 }))
        .ready()
        .await;

    gateway.client().await.call("a_x", "{}").await;

    assert!(history(&gateway, json!({})).await.is_empty());
    assert!(stored(gateway.stop().await.path()).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_less_is_kept_from_a_reload_on() {
    let gateway = gateway().start().await;
    let store = mcpr_store::open(gateway.home().join("mcpr.db")).await.unwrap();
    store.put_calls([earlier(1), earlier(3)].into()).await.unwrap();
    store.close().await;
    await_stored(&gateway.home(), 2).await;

    gateway.configure(&[], &json!({ "history": { "keep": "2h" } }));
    gateway.operate("reload", json!({})).await;
    await_stored(&gateway.home(), 1).await;
    gateway.configure(&[], &json!({ "history": { "maxSize": 0 } }));
    gateway.operate("reload", json!({})).await;

    await_stored(&gateway.home(), 0).await;
}
