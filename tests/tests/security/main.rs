//! Servers that turn against the gateway or its clients, and secrets that have to stay where they belong.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod canaries;
mod ids;
mod leaks;
mod lists;
mod packed;
mod pins;
mod pins_ctl;
mod places;
mod sham;
mod talkers;

use mcpr_tests::{Gateway, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

/// The text of a result.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {answer}"))
}

/// A call of a well-behaved server succeeds.
async fn assert_unharmed(gateway: &Gateway) {
    let answer = gateway.stateless().call("good_echo", r#"{"n":1}"#).await;
    assert_eq!(text(&answer), r#"{"n":1}"#);
    assert_eq!(gateway.server("good").await["state"], json!("ok"));
}

/// Waits until this is so.
async fn soon(what: &str, is_so: impl Fn() -> bool) {
    wait_until(Duration::from_secs(20), what, || is_so().then_some(())).await;
}
