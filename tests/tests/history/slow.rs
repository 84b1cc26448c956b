//! A database that does not answer, and one that cannot write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpr_store::StoreError;
use mcpr_tests::hooked::Hook;
use mcpr_tests::{gateway, logged, wait_until};
use serde_json::{Value, json};

use crate::stage::{history, server};

/// Lets this operation of the store never end.
fn never(operation: &'static str) -> Hook {
    Arc::new(move |asked| {
        Box::pin(async move {
            match asked == operation {
                true => std::future::pending().await,
                false => Ok(()),
            }
        })
    })
}

/// What the log says once it says all of this.
async fn told(words: &[&str]) -> String {
    let found = || {
        logged()
            .into_iter()
            .find(|line| words.iter().all(|word| line.contains(word)))
    };
    wait_until(Duration::from_secs(10), &format!("{words:?} in the log"), found).await
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_no_call_waits_for_a_database_that_does_not_answer_and_the_loss_is_told() {
    logged();
    let gateway = gateway()
        .with_builtins()
        .own("history", json!({ "arguments": "full" }))
        .hook(never("put_calls"))
        .start()
        .await;
    let client = gateway.client().await;
    let large = json!({ "junk": "x".repeat(4_000_000) }).to_string();

    let mut answers = Vec::new();
    for _ in 0..18 {
        answers.push(client.call("list-toolsets", &large).await);
    }

    assert!(answers.iter().all(|answer| answer["result"].is_object()));
    // 16 of them fill the 64 MiB that may wait.
    let line = told(&["calls are missing in the history", "shed="]).await;
    assert!(line.contains("WARN"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_no_start_waits_for_old_calls_to_be_dropped() {
    let gateway = gateway().with_builtins().hook(never("prune_calls")).start().await;

    let answer = gateway.client().await.call("list-toolsets", "{}").await;

    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_database_that_cannot_write_is_told_and_calls_go_on() {
    logged();
    let broken = Arc::new(AtomicBool::new(true));
    let hook: Hook = {
        let broken = broken.clone();
        Arc::new(move |asked| {
            let fails = asked == "put_calls" && broken.load(Ordering::Relaxed);
            Box::pin(async move { if fails { Err(StoreError::Closed) } else { Ok(()) } })
        })
    };
    let fake = server().stdio();
    let gateway = gateway().fake("a", &fake).hook(hook).ready().await;
    let client = gateway.client().await;

    let lost: Value = client.call("a_x", "{}").await;
    assert!(history(&gateway, json!({})).await.is_empty());
    broken.store(false, Ordering::Relaxed);
    client.call("a_bad", "{}").await;

    assert!(lost["result"].is_object(), "{lost}");
    told(&["calls could not be written to the history", "calls=1"]).await;
    assert_eq!(history(&gateway, json!({})).await[0]["tool"], "bad");
}
