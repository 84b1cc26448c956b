//! LB-06: who needs a backend of its own keeps it.

use futures_util::future::join_all;
use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::{all_well, call_often, counts, echo, entry, three};

/// The sessions with the gateway of which each backend got calls, by the argument that they sent.
fn callers(fake: &Fake) -> Vec<u64> {
    let calls = fake.received_of("tools/call").into_iter();
    let mut callers: Vec<u64> = calls
        .filter_map(|call| call.params()["arguments"]["who"].as_u64())
        .collect();
    callers.sort_unstable();
    callers.dedup();
    callers
}

#[tokio::test(flavor = "multi_thread")]
async fn b99_each_of_thirty_clients_keeps_its_backend_and_each_backend_has_ten() {
    let fakes = three(|| echo().with(r#"{"session": true}"#));
    let own = json!({ "isolation": "session" });
    let gateway = gateway().server("api", entry(&fakes, own)).start().await;
    let all_up = |server: &Value| server["state"] == "ok";
    gateway.await_server("api", all_up).await;
    let clients = join_all((0..30).map(|_| gateway.client())).await;
    let round = async || {
        let calls = clients
            .iter()
            .enumerate()
            .map(async |(who, client)| client.call("api_t", &format!(r#"{{"who":{who}}}"#)).await);
        join_all(calls).await
    };

    for _ in 0..5 {
        assert!(all_well(&round().await));
    }
    let shares = || fakes.iter().map(callers).collect::<Vec<_>>();
    assert!(
        shares().iter().all(|share| (7..=13).contains(&share.len())),
        "{:?}",
        shares()
    );
    assert_eq!(shares().concat().len(), 30, "no client was at two backends");

    fakes[0].kill();
    round().await;
    assert!(all_well(&round().await), "after at most one failed call each");
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_06_a_stateless_principal_keeps_its_backend() {
    let fakes = three(echo);
    let own = json!({ "isolation": "session" });
    let gateway = gateway().server("api", entry(&fakes, own)).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.stateless();

    for _ in 0..6 {
        assert!(all_well(&[client.call("api_t", "{}").await]));
    }

    let mut counts = counts(&fakes);
    counts.sort_unstable();
    assert_eq!(counts, [0, 0, 6]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_06_a_task_is_asked_for_at_the_backend_that_has_it() {
    let script = || echo().with(r#"{"era": "stateless", "tasks": {"polls": 1}}"#);
    let fakes = three(script);
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;

    let answers = call_often(&client, "api_t", 6).await;

    assert!(all_well(&answers), "{answers:?}");
    for fake in &fakes {
        let asked = fake.received_of("tasks/get");
        let mut tasks: Vec<_> = asked.iter().map(|get| get.params()["taskId"].clone()).collect();
        tasks.dedup();
        assert_eq!(tasks.len(), 2, "each is followed where it is: {tasks:?}");
    }
}
