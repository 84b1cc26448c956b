//! Failure: servers that are down, slow, lost or odd, and what clients and operators see of it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod broken_answers;
mod cancel;
mod circles;
mod eras;
mod errors;
mod http_servers;
mod lazy;
mod limits;
mod lists;
mod lives;
mod loss;
mod notices;
mod odd_http;
mod old_sse;
mod processes;
mod progress;
mod proxies;
mod sessions;
mod start;
mod stdio_servers;
mod tunnels;

use std::time::Duration;

use serde_json::{Value, json};

/// What happens at once: far below any time limit of the gateway, and enough for a busy machine.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Tries a lost server again at once, so that no test waits for it.
fn impatient() -> Value {
    json!({ "restart": { "backoffMin": "20ms", "backoffMax": "50ms" } })
}

/// The text of a tool's result.
fn text(answer: &Value) -> &str {
    let text = &answer["result"]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("no result in {answer}"))
}

/// The reason that programs find in an error.
fn reason(answer: &Value) -> &str {
    let reason = &answer["error"]["data"]["reason"];
    reason.as_str().unwrap_or_else(|| panic!("no reason in {answer}"))
}
