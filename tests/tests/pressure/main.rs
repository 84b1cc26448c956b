//! Pressure: more than there is room for, and who waits, who is refused, and who is left alone.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod deaf_clients;
mod deaf_servers;
mod edges;
mod requests;
mod sessions;
mod streams;
#[expect(dead_code, reason = "shared with the tests of the client side")]
#[path = "../front/wire.rs"]
mod wire;

use serde_json::{Value, json};

/// The limits of a gateway that grants each principal so much of one thing.
fn per_principal(key: &str, most: usize) -> Value {
    json!({ "perPrincipal": { key: most } })
}

/// What programs find in an error, without the id of the request.
fn data(answer: &Value) -> Value {
    let mut data = answer["error"]["data"].clone();
    data.as_object_mut()
        .unwrap_or_else(|| panic!("no data in {answer}"))
        .remove("requestId");
    data
}

/// What is said of a limit: busy, and safe to try again.
fn busy() -> Value {
    json!({ "reason": "busy", "retry": "safe" })
}

/// Checks that an answer is a refusal that names this setting.
fn assert_busy(answer: &Value, setting: &str) {
    assert_eq!(data(answer), busy());
    assert_eq!(answer["error"]["code"], -32603);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains(setting), "{message}");
}
