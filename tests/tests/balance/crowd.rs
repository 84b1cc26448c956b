//! Many calls while backends are killed one after the other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::{Fake, extent, figure, gateway};
use serde_json::Value;

use crate::{echo, impatient, reason};

/// How many calls are made at once.
const AT_ONCE: usize = 32;

/// How often each call of that number was done.
fn executions(fake: &Fake) -> BTreeMap<u64, usize> {
    let mut done = BTreeMap::new();
    for call in fake.received_of("tools/call") {
        let id = call.params()["arguments"]["id"]
            .as_u64()
            .expect("each call has its number");
        *done.entry(id).or_default() += 1;
    }
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_04_of_many_calls_among_dying_backends_none_hangs_and_none_is_done_twice() {
    let calls = extent(2_000, 10_000);
    let pause = extent(Duration::from_millis(1), Duration::from_secs(1));
    let fake = echo().delay("tools/call", extent(0.002, 0.02)).stdio();
    let mut own = impatient();
    own["replicas"] = 3.into();
    let gateway = gateway().fake_with("git", &fake, own).start().await;
    let all_up = |server: &Value| {
        let backends = server["backends"].as_array().expect("backends");
        backends.iter().all(|backend| backend["state"] == "ok")
    };
    gateway.await_server("git", all_up).await;
    let next = AtomicUsize::new(0);
    let (succeeded, unknown) = (AtomicUsize::new(0), AtomicUsize::new(0));

    let work = join_all((0..AT_ONCE).map(async |_| {
        let client = gateway.client().await;
        while let id @ 0.. = next.fetch_add(1, Ordering::Relaxed)
            && id < calls
        {
            let arguments = format!(r#"{{"id":{id}}}"#);
            let call = client.call("git_t", &arguments);
            let answer = tokio::time::timeout(Duration::from_secs(30), call)
                .await
                .expect("no call hangs");
            if answer["result"].is_object() {
                succeeded.fetch_add(1, Ordering::Relaxed);
            } else {
                assert_eq!(reason(&answer), "outcome_unknown", "{answer}");
                unknown.fetch_add(1, Ordering::Relaxed);
            }
        }
    }));
    let mut kills = 0;
    let kill = async {
        let mut clock = tokio::time::interval(pause);
        loop {
            clock.tick().await;
            let server = gateway.await_server("git", all_up).await;
            let pid = server["backends"][kills % 3]["pid"].to_string();
            let killed = std::process::Command::new("kill").args(["-9", &pid]).status();
            kills += usize::from(killed.is_ok_and(|status| status.success()));
        }
    };
    tokio::select! {
        _ = work => {}
        () = kill => unreachable!("it goes on for ever"),
    }

    let (succeeded, unknown) = (succeeded.into_inner(), unknown.into_inner());
    let done = executions(&fake);
    assert_eq!(succeeded + unknown, calls);
    assert!(
        kills >= 3 && succeeded > calls / 2,
        "{kills} kills, {succeeded} done, {unknown} unknown"
    );
    assert!(done.values().all(|times| *times == 1), "no call is done twice");
    assert!(done.len() >= succeeded, "what was answered was done");
    figure(
        "calls that succeeded, of unknown outcome, kills",
        format_args!("{succeeded}, {unknown}, {kills}"),
    );
}
