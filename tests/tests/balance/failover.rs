//! LB-03 and LB-05: a backend that cannot take a call is no reason for the call to fail.

use std::time::{Duration, Instant};

use mcpr_tests::gateway;
use serde_json::{Value, json};

use crate::{all_well, backend, call_often, counts, echo, entry, impatient, reason, three};

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_backend_that_refuses_the_connection_is_passed_over() {
    let fakes = three(echo);
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;
    fakes[1].kill();

    let answers = call_often(&client, "api_t", 30).await;

    assert!(all_well(&answers), "{answers:?}");
    let counts = counts(&fakes);
    assert!(counts[0] >= 14 && counts[2] >= 14 && counts[1] == 0, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_process_that_is_dead_before_the_write_is_passed_over() {
    let fake = echo().stdio();
    let gateway = gateway()
        .fake_with("git", &fake, json!({ "replicas": 3 }))
        .start()
        .await;
    let server = gateway
        .await_server("git", |server| server["state"] == "ok" && server["starts"] == 3)
        .await;
    let client = gateway.client().await;
    let pid = backend(&server, "2")["pid"].as_u64().unwrap().to_string();
    let killed = std::process::Command::new("kill").args(["-9", &pid]).status();
    assert!(killed.is_ok_and(|status| status.success()));

    let answers = call_often(&client, "git_t", 30).await;

    let lost: Vec<_> = answers
        .iter()
        .filter(|answer| answer["error"].is_object())
        .collect();
    // The one call that was written before the death was noticed may have been done.
    assert!(
        lost.len() <= 1 && lost.iter().all(|answer| reason(answer) == "outcome_unknown"),
        "{lost:?}"
    );
    gateway
        .await_server("git", |server| server["state"] == "ok" && server["starts"] == 4)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_backend_whose_sessions_expire_loses_no_call() {
    let fakes = three(|| echo().with(r#"{"session": true, "ttl": 3}"#));
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;

    let answers = call_often(&client, "api_t", 60).await;

    assert!(all_well(&answers), "{answers:?}");
    assert!(counts(&fakes).iter().all(|count| *count >= 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_when_all_fail_the_error_names_each_with_its_reason_and_they_come_back_by_themselves() {
    let fakes = three(echo);
    let gateway = gateway().server("api", entry(&fakes, impatient())).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;
    fakes.iter().for_each(|fake| fake.kill());
    gateway.await_state("api", "down").await;

    let began = Instant::now();
    let answer = client.call("api_t", "{}").await;

    assert!(
        began.elapsed() < Duration::from_secs(2),
        "it is known that nobody is there"
    );
    let error = &answer["error"];
    assert_eq!(
        (reason(&answer), &error["data"]["retry"]),
        ("no_backend", &json!("safe"))
    );
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("no backend available"),
        "{error}"
    );
    let backends = error["data"]["backends"].as_array().unwrap();
    assert_eq!(backends.len(), 3);
    for (fake, backend) in fakes.iter().zip(backends) {
        let port = fake.port().to_string();
        assert!(backend["backend"].as_str().unwrap().contains(&port));
        assert!(
            backend["reason"].as_str().unwrap().contains("cannot connect"),
            "{backend}"
        );
    }

    fakes[2].restart();
    gateway.await_state("api", "degraded").await;
    assert!(all_well(&call_often(&client, "api_t", 3).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_05_a_backend_that_returns_takes_new_calls_and_no_old_ones() {
    let fakes = three(echo);
    let gateway = gateway().server("api", entry(&fakes, impatient())).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;
    fakes[0].kill();
    assert!(all_well(&call_often(&client, "api_t", 10).await));
    assert_eq!(counts(&fakes)[0], 0);

    fakes[0].restart();
    gateway.await_state("api", "ok").await;
    assert!(all_well(&call_often(&client, "api_t", 30).await));

    assert_eq!(counts(&fakes)[0], 10);
    let first = fakes[0].received_of("tools/call")[0].params()["arguments"]["n"].as_u64();
    assert!(first.is_some_and(|n| n < 3), "nothing old is replayed");
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_backend_that_answers_nothing_but_faults_is_left_alone_for_a_while() {
    let failing = echo().with(r#"{"mask": {"status": 500, "body": "oops", "on": "tools/call", "times": 3}}"#);
    let fakes = [failing.http(), echo().http()];
    let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
    gateway.await_state("api", "ok").await;
    let client = gateway.client().await;

    let answers = call_often(&client, "api_t", 20).await;

    let failed = answers
        .iter()
        .filter(|answer| answer["error"].is_object())
        .count();
    assert_eq!(failed, 3, "{answers:?}");
    let server = gateway.server("api").await;
    assert_eq!(server["state"], "degraded", "{server}");
    let shunned = |server: &Value| server["backends"][0]["shunnedForMs"].as_u64();
    assert!(shunned(&server).is_some_and(|left| left <= 1000), "{server}");

    gateway
        .await_server("api", |server| shunned(server).is_none())
        .await;
    assert!(
        all_well(&call_often(&client, "api_t", 20).await),
        "LB-05: it gets calls again"
    );
    assert_eq!(counts(&fakes)[0], 13);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_backend_that_turns_calls_away_unread_is_passed_over() {
    for status in [404, 421, 429] {
        let mask = format!(r#"{{"mask": {{"status": {status}, "body": "not now", "on": "tools/call"}}}}"#);
        let fakes = [echo().with(&mask).http(), echo().http()];
        let gateway = gateway().server("api", entry(&fakes, json!({}))).start().await;
        gateway.await_state("api", "ok").await;
        let client = gateway.client().await;

        let answers = call_often(&client, "api_t", 20).await;

        assert!(all_well(&answers), "{status}: {answers:?}");
        assert_eq!(
            counts(&fakes),
            [3, 20],
            "{status}: and it is left alone for a while"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_server_that_takes_no_more_calls_for_a_while_is_busy() {
    let fake = echo()
        .with(r#"{"mask": {"status": 429, "body": "slow down", "on": "tools/call"}}"#)
        .http();
    let gateway = gateway().fake("api", &fake).ready().await;

    let answer = gateway.client().await.call("api_t", "{}").await;

    let data = &answer["error"]["data"];
    assert_eq!(
        (reason(&answer), &data["retry"]),
        ("busy", &json!("safe")),
        "{answer}"
    );
    let text = answer["error"]["message"].as_str().expect("a message");
    assert!(text.contains("429") && text.contains("slow down"), "{text}");
}
