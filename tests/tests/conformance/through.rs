//! Whatever passes at the reference server passes through the gateway in front of it.

use mcpr_tests::Eras;

use crate::run::{Impossible, passes_through};
use crate::suite::Suite;

/// The gateway chooses the stateless era where a server has both, and that has no streams to come back to.
const NO_HANGING_UP: &[Impossible] = &[Impossible {
    scenario: "server-sse-polling",
    checks: &["server-sse-disconnect-resume"],
    reason: "a stateless server never hangs up in the middle of a call",
}];

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_1_16_all_passes_through() {
    passes_through(Suite::All0_1_16, Eras::Both, NO_HANGING_UP).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_through() {
    passes_through(Suite::Session0_2_0, Eras::Both, NO_HANGING_UP).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_through() {
    passes_through(Suite::Stateless0_2_0, Eras::Both, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_1_16_all_passes_through_to_a_session_server() {
    passes_through(Suite::All0_1_16, Eras::Session, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_through_to_a_session_server() {
    passes_through(Suite::Session0_2_0, Eras::Session, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_through_to_a_stateless_server() {
    passes_through(Suite::Stateless0_2_0, Eras::Stateless, &[]).await;
}
