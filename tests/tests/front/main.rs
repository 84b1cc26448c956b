//! The client side: what comes back for everything a client can send, over HTTP and over a pipe.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod accepts;
mod auth;
mod batch;
mod bindings;
mod calls;
mod cancel;
mod doors;
mod endpoints;
mod envelope;
mod errors;
mod fault;
mod guard;
mod headers;
mod kept_back;
mod limits;
mod messages;
mod mutations;
mod notices;
mod pairs;
mod pipe;
mod pipe_life;
mod progress;
mod resume;
mod revoked;
mod scopes;
mod session_life;
mod sessions;
mod stateless;
mod streams;
mod tokens;
mod wire;
mod yardstick;

use mcpr_tests::http::Answer;
use serde_json::Value;

/// What an answer refuses with: status, code and id; checks that it is a JSON-RPC error in JSON.
fn refusal(answer: &Answer) -> (u16, i64, Value) {
    let message = answer.message();
    assert_eq!(
        answer.head.header("content-type"),
        Some("application/json"),
        "{message}"
    );
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let code = message["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("no error: {message}"));
    assert!(
        !message["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .is_empty(),
        "{message}"
    );
    (answer.status(), code, message["id"].clone())
}
