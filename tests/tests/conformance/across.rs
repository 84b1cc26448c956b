//! Clients of one era at servers that only speak the other.

use mcpr_tests::Eras;

use crate::run::{Impossible, passes_through};
use crate::suite::Suite;

const TO_STATELESS: &[Impossible] = &[Impossible {
    scenario: "server-sse-polling",
    checks: &["server-sse-disconnect-resume"],
    reason: "a stateless server never hangs up in the middle of a call",
}];

const TO_SESSION: &[Impossible] = &[];

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_across_to_a_stateless_server() {
    passes_through(Suite::Session0_2_0, Eras::Stateless, TO_STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_across_to_a_session_server() {
    passes_through(Suite::Stateless0_2_0, Eras::Session, TO_SESSION).await;
}
