//! The reference server passes everything, so that it is one to measure by.

use mcpr_tests::{Eras, Reference};

use crate::report::Status;
use crate::suite::Suite;

/// What the suite itself leaves out: it has not been written yet.
const UNWRITTEN: &str = "tasks-status-notifications";

async fn passes_all(suite: Suite) {
    let reference = Reference::start(Eras::Both);
    let report = suite.run(reference.url()).await;

    assert_eq!(report.scenarios().len(), suite.scenarios());
    for status in [Status::Failure, Status::Warning] {
        let found = report.with(status);
        assert!(found.is_empty(), "{found:#?}");
    }
    let skipped = report.with(Status::Skipped);
    let unexpected: Vec<_> = skipped
        .iter()
        .filter(|((scenario, _), _)| scenario != UNWRITTEN)
        .collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_passes_0_1_16_all() {
    passes_all(Suite::All0_1_16).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_passes_0_2_0_for_2025_11_25() {
    passes_all(Suite::Session0_2_0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_passes_0_2_0_for_2026_07_28() {
    passes_all(Suite::Stateless0_2_0).await;
}
