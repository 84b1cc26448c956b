//! An export that is given up half-way.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_tests::hooked::Hook;
use mcpr_tests::{binary, gateway, signal, wait_until};
use serde_json::json;
use tokio::process::Command;

/// Answers the start, which looks at the newest call, and the first question after it; no later one.
fn only_the_first() -> Hook {
    let asked = Arc::new(AtomicUsize::new(0));
    Arc::new(move |operation| {
        let asked = asked.clone();
        Box::pin(async move {
            if operation == "calls" && asked.fetch_add(1, Ordering::Relaxed) > 1 {
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_an_export_that_is_interrupted_leaves_no_file() {
    let gateway = gateway().with_builtins().hook(only_the_first()).start().await;
    let client = gateway.client().await;
    for _ in 0..201 {
        client.call("list-toolsets", "{}").await;
    }
    let folder = tempfile::tempdir().unwrap();
    let export = Command::new(binary("mcpr-ctl"))
        .args(["history", "export", "--gateway", &gateway.url(), "--output"])
        .arg(folder.path().join("calls.jsonl"))
        .env("MCPR_TOKEN", gateway.another_token(&["admin"]).await)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    wait_until(Duration::from_secs(30), "a file that is being written", || {
        (files() > 0).then_some(())
    })
    .await;

    assert!(signal("INT", export.id().unwrap()));
    let ended = export.wait_with_output().await.unwrap();

    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    assert!(
        String::from_utf8_lossy(&ended.stderr).contains("given up after 200 calls"),
        "{ended:?}"
    );
    assert_eq!(files(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_calls_with_large_arguments_are_exported_a_page_at_a_time() {
    let full = json!({ "arguments": "full" });
    let gateway = gateway().with_builtins().own("history", full).start().await;
    let client = gateway.client().await;
    let large = json!({ "junk": "x".repeat(3_900_000) }).to_string();
    for _ in 0..5 {
        client.call("list-toolsets", &large).await;
    }
    let page = gateway
        .operate("history/list", json!({ "arguments": true }))
        .await;

    let export = Command::new(binary("mcpr-ctl"))
        .args(["history", "export", "--gateway", &gateway.url()])
        .env("MCPR_TOKEN", gateway.another_token(&["admin"]).await)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();

    let lines = String::from_utf8(export.stdout).unwrap();
    assert_eq!(lines.lines().filter(|line| line.contains("xxxx")).count(), 5);
    assert!(page["next"].is_string(), "not all came at once");
}
