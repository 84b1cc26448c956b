//! LB-01: each backend has its share.

use mcpr_tests::gateway;
use serde_json::json;

use crate::{all_well, by_process, call_at_once, call_often, counts, echo, entry, three};

#[tokio::test(flavor = "multi_thread")]
async fn lb_01_three_processes_of_one_server_get_a_hundred_of_three_hundred_calls_each() {
    let fake = echo().stdio();
    let gateway = gateway()
        .fake_with("git", &fake, json!({ "replicas": 3 }))
        .start()
        .await;
    let three_up = |server: &serde_json::Value| server["state"] == "ok" && server["starts"] == 3;
    gateway.await_server("git", three_up).await;
    let client = gateway.client().await;

    let answers = call_often(&client, "git_t", 300).await;

    assert!(all_well(&answers));
    assert_eq!(by_process(&fake), [100; 3]);
    assert_eq!(client.tool_names().await, ["git_t"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_01_backends_with_sessions_of_their_own_share_the_calls_of_one_client() {
    let fakes = three(|| echo().with(r#"{"session": true}"#));
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;

    for _ in 0..3 {
        assert!(all_well(&call_at_once(&client, "api_t", 100).await));
    }

    assert_eq!(counts(&fakes), [100; 3]);
    for fake in &fakes {
        assert_eq!(
            fake.received_of("initialize").len(),
            1,
            "one session for all calls"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_01_the_least_busy_gets_what_a_busy_one_would_have_to_do_beside() {
    let slow = echo().tool("wait").with(r#"{"silent": ["tools/call:wait"]}"#);
    let fakes = [slow.http(), echo().http()];
    let own = json!({ "balance": "least_busy" });
    let gateway = gateway().server("api", entry(&fakes, own)).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;
    let wait = client.begin("tools/call", r#"{"name":"api_wait"}"#);

    let calls = async {
        fakes[0].await_received("tools/call", 1).await;
        call_often(&client, "api_t", 20).await
    };
    let answers = tokio::select! {
        answers = calls => answers,
        _ = async { wait.await; std::future::pending::<()>().await } => unreachable!("it waits for ever"),
    };

    assert!(all_well(&answers));
    assert_eq!(counts(&fakes), [1, 20]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_01_each_process_takes_its_own_number_of_calls_at_once() {
    let fake = echo().delay("tools/call", 0.3).stdio();
    let own = json!({ "replicas": 3, "maxConcurrency": 1, "queue": { "max": 1, "wait": "30s" } });
    let gateway = gateway().fake_with("git", &fake, own).start().await;
    let three_up = |server: &serde_json::Value| server["state"] == "ok" && server["starts"] == 3;
    gateway.await_server("git", three_up).await;
    let client = gateway.client().await;

    let answers = call_at_once(&client, "git_t", 5).await;

    let busy = answers
        .iter()
        .filter(|answer| answer["error"]["data"]["reason"] == "busy");
    assert_eq!(
        busy.count(),
        1,
        "three at work, one in line, one too many: {answers:?}"
    );
    assert_eq!(by_process(&fake).iter().sum::<usize>(), 4);
    assert_eq!(by_process(&fake).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_01_lazy_replicas_are_started_together_and_share_the_calls() {
    let fake = echo().stdio();
    let own = json!({ "replicas": 2, "lazy": true });
    let gateway = gateway().fake_with("git", &fake, own).start().await;
    gateway.await_state("git", "idle").await;
    let client = gateway.client().await;

    assert!(all_well(&call_often(&client, "git_t", 1).await));
    let both_up = |server: &serde_json::Value| {
        let backends = server["backends"].as_array().expect("backends");
        backends.iter().all(|backend| backend["state"] == "ok")
    };
    gateway.await_server("git", both_up).await;
    assert!(all_well(&call_often(&client, "git_t", 10).await));

    let counts = by_process(&fake);
    assert!(counts.iter().all(|count| (5..=6).contains(count)), "{counts:?}");
}
