//! How much at once, how long, and who waits.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mcpr_tests::{Fake, gateway, wait_until};
use serde_json::json;

use crate::{AT_ONCE, reason, text};

#[tokio::test(flavor = "multi_thread")]
async fn agg_14_a_server_gets_no_more_calls_at_once_than_it_may_and_the_rest_wait() {
    let fake = Fake::script().tool("t").delay("tools/call", 0.1).stdio();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "maxConcurrency": 2 }))
        .ready()
        .await;
    let client = gateway.client().await;

    let answers = join_all((0..6).map(|_| client.call("a_t", "{}"))).await;

    answers.iter().for_each(|answer| assert_eq!(text(answer), "{}"));
    let at: Vec<f64> = fake
        .received_of("tools/call")
        .iter()
        .map(|received| received.at)
        .collect();
    for three in at.windows(3) {
        assert!(three[2] - three[0] >= 0.09, "three at once: {at:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_14_who_waits_too_long_is_told_that_the_server_is_busy() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["tools/call"]}"#)
        .stdio();
    let own =
        json!({ "maxConcurrency": 1, "queue": { "max": 5, "wait": "100ms" }, "timeouts": { "call": "1s" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    let waits = async {
        fake.await_received("tools/call", 1).await;
        client.call("a_t", "{}").await
    };

    let (_, waited) = tokio::join!(client.call("a_t", "{}"), waits);

    assert_eq!(reason(&waited), "busy");
    assert!(
        waited["error"]["message"].as_str().unwrap().contains("100ms"),
        "{waited}"
    );
    assert_eq!(fake.received_of("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b64_agg_14_calls_of_one_session_do_not_wait_for_each_other() {
    let slow = Fake::script()
        .tool("t")
        .tool("quick")
        .with(r#"{"silent": ["tools/call:t"]}"#)
        .stdio();
    let other = Fake::script().tool("t").stdio();
    let gateway = gateway().fake("a", &slow).fake("b", &other).ready().await;
    let client = gateway.client().await;
    let endless = join_all([client.call("a_t", "{}"), client.call("a_t", "{}")]);
    let meanwhile = async {
        slow.await_received("tools/call", 2).await;
        let answers = [client.call("b_t", "{}").await, client.call("a_quick", "{}").await];
        (answers, client.request("ping", "{}").await.message())
    };

    // The two calls at the slow server never end, so nothing that ends has waited for them.
    let (answers, pong) = tokio::select! {
        _ = endless => unreachable!("they are never answered"),
        meanwhile = meanwhile => meanwhile,
    };

    assert_eq!([text(&answers[0]), text(&answers[1])], ["{}", "{}"]);
    assert_eq!(pong["result"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn b39_twenty_clients_with_one_id_get_their_own_answers() {
    for fake in [
        Fake::script().tool("t").delay("tools/call", 0.2).stdio(),
        Fake::script().tool("t").delay("tools/call", 0.2).http(),
    ] {
        let gateway = gateway().fake("a", &fake).ready().await;
        let clients = join_all((0..20).map(|_| gateway.client())).await;
        let ask = async |n: usize, client: &mcpr_tests::client::Session| {
            let params = format!(r#"{{"name":"a_t","arguments":{{"n":{n}}}}}"#);
            let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            client.post(&message).send(client.port).await.message()
        };

        let answers = join_all(clients.iter().enumerate().map(|(n, client)| ask(n, client))).await;

        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(
                (&answer["id"], text(answer)),
                (&json!(1), &*format!(r#"{{"n":{n}}}"#))
            );
        }
    }
}

/// One server of each kind, whose tool `t` never answers.
fn silent() -> [Fake; 5] {
    let script = || {
        Fake::script()
            .tool("t")
            .tool("quick")
            .with(r#"{"silent": ["tools/call:t"]}"#)
    };
    let stateless = || script().with(r#"{"era": "stateless"}"#);
    [
        script().stdio(),
        script().http(),
        script().sse(),
        stateless().stdio(),
        stateless().http(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn b104_http_05_the_limit_of_a_call_holds_on_every_transport_and_the_server_is_told() {
    let expire = |fake| expires(fake, "call", "timeout");
    join_all(silent().map(expire)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b104_http_05_so_does_the_limit_of_silence() {
    let expire = |fake| expires(fake, "silence", "silence");
    join_all(silent().map(expire)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b104_http_05_a_server_that_starts_is_not_silent() {
    let fake = Fake::script().tool("t").delay("start", 1.0).stdio();
    let own = json!({ "lazy": true, "timeouts": { "silence": "500ms" } });
    let before = gateway().fake("a", &fake).ready().await;
    before.core.shutdown().await;
    let builder = gateway().fake_with("a", &fake, own).at_home_of(&before);
    let gateway = builder.start().await;
    let client = gateway.client().await;

    assert_eq!(text(&client.call("a_t", r#"{"n":1}"#).await), r#"{"n":1}"#);
}

async fn expires(fake: Fake, setting: &str, expected: &str) {
    let own = json!({ "timeouts": { setting: "1s" }, "maxConcurrency": 1 });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    let began = Instant::now();

    let answer = client.call("a_t", "{}").await;

    assert_eq!(reason(&answer), expected);
    assert!(
        (Duration::from_secs(1)..AT_ONCE).contains(&began.elapsed()),
        "{:?}",
        began.elapsed()
    );
    let id = fake.received_of("tools/call")[0].message()["id"].clone();
    let told = || {
        let received = fake.received();
        // Over HTTP, a stateless server is told by the end of the stream.
        let closed = received.iter().find_map(|received| received.closed.clone());
        let cancelled = received
            .iter()
            .find(|received| received.method.as_deref() == Some("notifications/cancelled"));
        closed.or_else(|| Some(cancelled?.params()["requestId"].to_string()))
    };
    assert_eq!(wait_until(AT_ONCE, "a cancel", told).await, id.to_string());
    assert_eq!(
        text(&client.call("a_quick", "{}").await),
        "{}",
        "the place is free again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_the_limit_is_of_the_gateway_unless_a_server_has_its_own() {
    let script = || Fake::script().tool("t").delay("tools/call", 0.4).stdio();
    let (a, b) = (script(), script());
    let builder = gateway().own("timeouts", json!({ "call": "150ms" }));
    let gateway = builder
        .fake("a", &a)
        .fake_with("b", &b, json!({ "timeouts": { "call": "10s" } }))
        .ready()
        .await;
    let client = gateway.client().await;

    let (short, long) = tokio::join!(client.call("a_t", "{}"), client.call("b_t", "{}"));

    assert_eq!(reason(&short), "timeout");
    assert_eq!(text(&long), "{}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_the_time_in_the_queue_counts_against_the_limit() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"silent": ["tools/call"]}"#)
        .stdio();
    let own = json!({ "maxConcurrency": 1, "timeouts": { "call": "1s" }, "queue": { "wait": "10s" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    let began = Instant::now();

    let answers = join_all((0..4).map(|_| client.call("a_t", "{}"))).await;

    answers
        .iter()
        .for_each(|answer| assert_eq!(reason(answer), "timeout"));
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "four seconds if each had one of its own: {:?}",
        began.elapsed()
    );
}
