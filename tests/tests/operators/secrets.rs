//! Secrets that servers are given: set while the gateway runs and while it does not, and shown to nobody else.

use std::path::Path;

use mcpr_tests::{Brood, Fake, Program, gateway};
use serde_json::{Value, json};

const VALUE: &str = "hunter2-hunter2-hunter2";

/// A gateway with a server that asks for the secret `key`, and one that does not.
async fn program() -> (Program, [Fake; 2]) {
    let fake = || Fake::script().with(r#"{"env_tool":true}"#).stdio();
    let fakes = [fake(), fake()];
    let mut asks = fakes[0].entry();
    asks["env"] = json!({ "KEY": "${secret:key}" });
    let builder = gateway().server("asks", asks).fake("other", &fakes[1]);
    (builder.program(&Brood::new()).await, fakes)
}

async fn set(program: &Program, value: &str) {
    let ran = program.ctl_with(&["secrets", "set", "key"], value, &[]).await;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The variable that the server has, as it says itself.
async fn key_of(program: &Program) -> Value {
    let answer = program.client().await.call("asks_env", "{}").await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or("{}");
    serde_json::from_str::<Value>(text).unwrap()["KEY"].clone()
}

/// All that lies in a folder, and in those below it.
fn everything_in(folder: &Path) -> Vec<u8> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let content = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => everything_in(&entry.path()),
        false => std::fs::read(entry.path()).unwrap_or_default(),
    });
    content.collect::<Vec<_>>().concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_03_a_secret_that_is_set_starts_its_server_and_touches_no_other() {
    let (program, _fakes) = program().await;
    program.run().await;
    let asks = program
        .await_server("asks", |server| server["state"] == "misconfigured")
        .await;
    let reason = asks["reason"].as_str().unwrap();
    assert!(reason.contains("mcpr-ctl secrets set key"), "{reason}");
    let other = program.ready("other").await["pid"].clone();

    set(&program, &format!("{VALUE}\n")).await;

    let first = program.ready("asks").await["pid"].clone();
    assert_eq!(key_of(&program).await, VALUE);
    set(&program, "another").await;
    let second = program.await_server("asks", |server| server["state"] == "ok" && server["pid"] != first);
    second.await;
    assert_eq!(key_of(&program).await, "another");
    assert_eq!(program.ready("other").await["pid"], other);
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_03_without_a_gateway_a_secret_is_kept_for_the_next_start_and_its_removal_is_seen_by_a_running_one()
 {
    let (program, _fakes) = program().await;
    set(&program, VALUE).await;
    program.run().await;
    program.ready("asks").await;
    assert_eq!(key_of(&program).await, VALUE);

    // As another process would, behind the gateway's back.
    std::fs::write(
        program.home().join("secrets.json"),
        r#"{"version":1,"secrets":{}}"#,
    )
    .unwrap();

    program
        .await_server("asks", |server| server["state"] == "misconfigured")
        .await;
    program.ready("other").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn log_04_the_value_of_a_secret_is_nowhere_but_with_its_server() {
    let (program, _fakes) = program().await;
    let key = ("MCPR_LOG_LEVEL", "trace");
    program.run_with(&[key]).await;
    set(&program, VALUE).await;
    program.ready("asks").await;
    assert_eq!(key_of(&program).await, VALUE);

    let mut said = Vec::new();
    for words in [
        &["secrets", "ls"][..],
        &["secrets", "ls", "--json"],
        &["status", "--json"],
        &["servers", "show", "asks", "--json"],
        &["explain", "asks_env"],
        &["config", "show"],
        &["doctor", "--json"],
        &["history", "ls", "--json"],
    ] {
        let ran = program.ctl_with(words, "", &[]).await;
        assert!(
            !ran.stdout.is_empty(),
            "{words:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
        said.extend([ran.stdout, ran.stderr].concat());
    }
    program.terminate().await;
    said.extend(everything_in(program.home()));

    let value = VALUE.as_bytes();
    assert!(!said.windows(value.len()).any(|bytes| bytes == value));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_secrets_are_the_business_of_operators_alone() {
    let (program, _fakes) = program().await;
    program.run().await;
    let made = program
        .ctl(&["tokens", "create", "--name", "reader", "--scope", "read,call"])
        .await;
    let reader = made["secret"].as_str().unwrap();

    for (path, body) in [
        ("secrets/list", json!({})),
        ("secrets/set", json!({ "name": "key", "value": VALUE })),
        ("secrets/remove", json!({ "name": "key" })),
    ] {
        let request = mcpr_tests::http::Request::post(&format!("/admin/v1/{path}"), body.to_string());
        let refused = request.token(reader).send(program.port).await;
        assert_eq!(refused.status(), 403, "{path}");
    }
    let list = program.operate("secrets/list", &json!({})).await;
    assert_eq!(
        list,
        json!({ "secrets": [{ "name": "key", "state": "unset", "usedBy": ["asks"] }] })
    );
}
