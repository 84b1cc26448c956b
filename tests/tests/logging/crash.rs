//! What a gateway that is killed has kept (LOG-06).

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mcpr_store::CallQuery;
use mcpr_tests::{Brood, Fake, gateway};
use serde_json::json;

/// How old a call may be and yet be lost.
const LOST: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_crash_loses_at_most_the_last_second_of_the_history() {
    // Many calls are written because they are many, few because their time has come.
    for takes in [0.0, 0.05] {
        is_kept_of_calls_that_take(takes).await;
    }
}

async fn is_kept_of_calls_that_take(seconds: f64) {
    let fake = Fake::script().tool("x").delay("tools/call", seconds).stdio();
    let own = json!({ "arguments": "full" });
    let program = gateway()
        .fake("a", &fake)
        .own("history", own)
        .program(&Brood::new())
        .await;
    program.run().await;
    let client = program.client().await;

    let mut answered = Vec::new();
    while answered
        .first()
        .is_none_or(|(_, at): &(u64, Instant)| at.elapsed() < 2 * LOST)
    {
        let number = answered.len() as u64;
        client.call("a_x", &json!({ "number": number }).to_string()).await;
        answered.push((number, Instant::now()));
    }
    let killed = Instant::now();
    program.kill().await;

    let store = mcpr_store::open(program.home().join("mcpr.db")).await.unwrap();
    let rows = store.calls(CallQuery::default()).await.unwrap();
    let kept: BTreeSet<String> = rows.into_iter().filter_map(|row| row.arguments).collect();
    let old = answered.iter().filter(|(_, at)| killed - *at > LOST);
    let lost: Vec<_> = old
        .filter(|(number, _)| !kept.contains(&format!(r#"{{"number":{number}}}"#)))
        .collect();
    assert!(
        answered.len() > 20 && lost.is_empty(),
        "{lost:?} of {} are lost",
        answered.len()
    );
}
