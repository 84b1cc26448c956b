//! Endurance: nothing is lost and nothing is left behind, however often and however long.
//!
//! Each test has a short form, which is one of all tests, and a long one: `tests/run --long`.

mod changes;
mod crowd;
mod cycles;
mod hostile;
mod restarts;
mod sessions;
mod soak;

use std::time::Duration;

use serde_json::{Value, json};

/// How soon nothing may be left of a gateway that was killed.
const NOTHING_LEFT: Duration = Duration::from_secs(5);

/// How much more memory a process may hold after hundreds of rounds than after the first: what the
/// allocator keeps for itself, and buffers that were not full before.
const SLACK: usize = 24 << 20;

/// Tries a lost server again at once, so that no test waits for it.
fn impatient() -> Value {
    json!({ "restart": { "backoffMin": "20ms", "backoffMax": "50ms" } })
}

/// The text of a tool's result.
fn text(answer: &Value) -> &str {
    let text = &answer["result"]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("no result in {answer}"))
}
