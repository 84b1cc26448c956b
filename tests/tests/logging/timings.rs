//! Where time and memory go, for those who ask (LOG-05).

use mcpr_tests::{Brood, Fake, gateway};
use serde_json::Value;

#[tokio::test]
async fn log_05_at_debug_calls_and_functions_tell_their_time_and_memory_is_told_on_request() {
    let fake = Fake::script().tool("x").stdio();
    let program = gateway().fake("a", &fake).program(&Brood::new()).await;
    program.launch_with(
        &[],
        &[
            "--log-level",
            "debug",
            "--log-memory=100ms",
            "--log-format",
            "json",
        ],
    );
    program.listening().await;
    program.ready("a").await;

    program.client().await.call("a_x", "{}").await;
    program.says("writing calls to the history is done").await;
    program.says(r#""message":"memory""#).await;

    let lines = program.complaints();
    let line = |part: &str| -> Value {
        let found = lines.lines().find(|line| line.contains(part));
        serde_json::from_str(found.unwrap_or_else(|| panic!("no {part} in {lines}"))).unwrap()
    };
    let (call, memory) = (line(r#""method":"tools/call""#), line(r#""message":"memory""#));
    let millis = |key: &str| call[key].as_f64().unwrap_or_else(|| panic!("no {key} in {call}"));
    assert!(
        millis("wait") + millis("atServer") <= millis("duration") + 0.002,
        "{call}"
    );
    assert!(memory["resident"].as_u64() > Some(1 << 20), "{memory}");
    assert!(memory["peak"].as_u64() >= memory["resident"].as_u64(), "{memory}");
}
