//! Whether arguments are kept.

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::stage::{history, only, server, stored};

/// Arguments with a configured secret, a credential by its shape and one by its name.
const ARGUMENTS: &str =
    r#"{ "path":"src","a":"see K3Y-OF-THE-SERVER","b":"Bearer abc.def","password":"hunter2","n":1E400 }"#;

async fn with_history(fake: &Fake, settings: Value) -> Gateway {
    let mut entry = fake.entry();
    entry["env"] = json!({ "API_KEY": "K3Y-OF-THE-SERVER" });
    let gateway = gateway().server("a", entry).own("history", settings);
    gateway.ready().await
}

/// What is kept of the arguments of a call, byte for byte.
async fn kept(settings: Value, arguments: &str) -> Option<String> {
    let fake = server().stdio();
    let gateway = with_history(&fake, settings).await;
    gateway.client().await.call("a_x", arguments).await;
    // Who asks for the history gets what has just ended.
    assert_eq!(history(&gateway, json!({})).await.len(), 1);
    let rows = stored(&gateway.home()).await;
    rows[0].arguments.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_arguments_are_not_kept_by_default() {
    for settings in [json!({}), json!({ "arguments": "none" })] {
        assert_eq!(kept(settings, ARGUMENTS).await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_redacted_arguments_hide_what_looks_like_a_secret_and_nothing_else() {
    let kept = kept(json!({ "arguments": "redacted" }), ARGUMENTS).await;

    let hidden =
        r#"{ "path":"src","a":"see [redacted]","b":"Bearer [redacted]","password":"[redacted]","n":1E400 }"#;
    assert_eq!(kept.unwrap(), hidden);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_full_arguments_are_kept_byte_for_byte() {
    let kept = kept(json!({ "arguments": "full" }), ARGUMENTS).await;

    assert_eq!(kept.unwrap(), ARGUMENTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_redacted_arguments_are_cut_at_64_kib_and_shown_as_a_text() {
    let fake = server().stdio();
    let gateway = with_history(&fake, json!({ "arguments": "redacted" })).await;
    let long = json!({ "a": "x".repeat(100_000) }).to_string();

    gateway.client().await.call("a_x", &long).await;

    let shown = only(&gateway).await["arguments"].as_str().unwrap().to_owned();
    assert!(
        shown.ends_with("bytes more)") && shown.len() < 65_600,
        "{}",
        shown.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_an_error_hides_secrets_whatever_is_kept() {
    let error = json!({ "code": -32001, "message": "K3Y-OF-THE-SERVER is refused" });
    let fake = Fake::script().tool("x").error("tools/call", error).stdio();
    let gateway = with_history(&fake, json!({ "arguments": "full" })).await;

    gateway.client().await.call("a_x", "{}").await;

    assert_eq!(only(&gateway).await["error"], "[redacted] is refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_of_a_read_resource_its_uri_is_kept_with_the_arguments() {
    let fake = server().stdio();
    let gateway = with_history(&fake, json!({ "arguments": "full" })).await;

    let client = gateway.client().await;
    client
        .request("resources/read", r#"{"uri":"file:///r","_meta":{"a":1}}"#)
        .await;

    assert_eq!(only(&gateway).await["arguments"], json!({ "uri": "file:///r" }));
}
