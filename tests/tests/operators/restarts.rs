//! Settings that a running gateway does not take over (CFG-05).

use mcpr_tests::{Brood, Program, gateway};
use serde_json::{Value, json};

/// Has the gateway read its file now, and gives what it says is pending.
async fn pending(program: &Program) -> Value {
    program.ctl(&["reload"]).await;
    program.ctl(&["status"]).await["needsRestart"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_who_sets_what_needs_a_restart_is_told_so() {
    let program = gateway().program(&Brood::new()).await;
    program.run().await;

    let (code, told) = program.told(&["config", "set", "control.token", "true"]).await;
    let (_, other) = program.told(&["config", "set", "timeouts.call", "5m"]).await;

    assert_eq!(code, 0, "{told}");
    assert!(told.contains("reads it within a second"), "{told}");
    assert!(
        told.contains("mcpr.control only counts after a restart of the gateway"),
        "{told}"
    );
    assert!(!other.contains("restart"), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cfg_05_what_waits_for_a_restart_is_shown_until_there_was_one() {
    let program = gateway().program(&Brood::new()).await;
    program.run().await;
    program.told(&["config", "set", "control.token", "true"]).await;
    assert_eq!(pending(&program).await, json!(["mcpr.control"]));

    program.told(&["config", "set", "timeouts.call", "5m"]).await;
    let still = pending(&program).await;
    let (_, shown) = program.told(&["status"]).await;
    let (_, doctor) = program.told(&["doctor"]).await;

    assert_eq!(still, json!(["mcpr.control"]));
    assert!(
        shown.contains("pending mcpr.control: counts after a restart"),
        "{shown}"
    );
    assert!(
        doctor.contains("mcpr.control changed since the gateway started"),
        "{doctor}"
    );
    program.told(&["config", "set", "control.token", "false"]).await;
    assert_eq!(pending(&program).await, Value::Null);
}
