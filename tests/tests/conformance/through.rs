//! Whatever passes at the reference server passes through the gateway in front of it.

use mcpr_tests::Eras;

use crate::across::FROM_STATELESS;
use crate::run::{Impossible, passes_through, passes_through_to_a_pipe};
use crate::suite::Suite;

/// Where a session server hangs up, the gateway comes back to it.
const FROM_SESSION: &[Impossible] = &[Impossible {
    scenario: "server-sse-polling",
    checks: &["server-sse-disconnect-resume"],
    reason: "the gateway comes back to the server itself, so that its client does not have to",
}];

// Of a server with both eras the gateway takes the stateless one.

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_1_16_all_passes_through() {
    passes_through(Suite::All0_1_16, Eras::Both, FROM_STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_through() {
    passes_through(Suite::Session0_2_0, Eras::Both, FROM_STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_through() {
    passes_through(Suite::Stateless0_2_0, Eras::Both, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_1_16_all_passes_through_to_a_session_server() {
    passes_through(Suite::All0_1_16, Eras::Session, FROM_SESSION).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_through_to_a_session_server() {
    passes_through(Suite::Session0_2_0, Eras::Session, FROM_SESSION).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2026_07_28_passes_through_to_a_pipe() {
    passes_through_to_a_pipe(Suite::Stateless0_2_0, Eras::Both, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conformance_0_2_0_for_2025_11_25_passes_through_to_a_session_server_on_a_pipe() {
    passes_through_to_a_pipe(Suite::Session0_2_0, Eras::Session, FROM_SESSION).await;
}
