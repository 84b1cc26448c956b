//! Sessions of HTTP servers that end before their time.

use mcpr_tests::{Fake, Gateway, Received, gateway};
use serde_json::{Value, json};

use crate::{impatient, reason, text};

/// Makes calls one after the other, all of which must succeed.
async fn calls(gateway: &Gateway, count: usize) {
    let client = gateway.client().await;
    for n in 0..count {
        let arguments = format!(r#"{{"n":{n}}}"#);
        assert_eq!(text(&client.call("a_t", &arguments).await), arguments);
    }
}

fn session(received: &Received) -> Option<&str> {
    received.header("mcp-session-id").first().copied()
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_srv_07_a_session_that_expires_is_renewed_and_no_call_notices() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "ttl": 3}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;

    calls(&gateway, 10).await;

    let handshakes = fake.received_of("initialize");
    assert!(handshakes.iter().all(|received| session(received).is_none()));
    // Ten calls and as many lists as there were sessions need this many, and no more.
    assert!(
        (4..=12).contains(&handshakes.len()),
        "{} handshakes",
        handshakes.len()
    );
    assert_eq!(gateway.server("a").await["starts"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_a_session_may_also_end_with_400_or_401_and_words() {
    for gone in [
        json!({ "status": 400, "body": "Bad Request: No valid session ID provided" }),
        json!({ "status": 401, "body": "Session not found", "ctype": "text/plain" }),
        json!({ "status": 404, "body": "<html>not here</html>", "ctype": "text/html" }),
    ] {
        let fake = Fake::script()
            .tool("t")
            .with(r#"{"session": true, "ttl": 2}"#)
            .set("gone", gone)
            .http();
        let gateway = gateway().fake("a", &fake).ready().await;

        calls(&gateway, 6).await;

        assert_eq!(gateway.server("a").await["starts"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_a_server_that_restarts_between_calls_loses_none_of_them() {
    for script in [
        r#"{"session": true}"#,
        r#"{"session": false}"#,
        r#"{"session": true, "get": 405}"#,
        r#"{"era": "stateless"}"#,
    ] {
        let fake = Fake::script().tool("t").with(script).http();
        let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
        for _ in 0..3 {
            calls(&gateway, 2).await;
            fake.restart();
        }
        calls(&gateway, 2).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_a_call_that_finds_the_server_restarting_waits_for_it() {
    let fake = Fake::script().tool("t").with(r#"{"session": true}"#).http();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "restart": { "backoffMin": "300ms" } }))
        .ready()
        .await;
    fake.kill();
    let restarting = async {
        gateway.await_state("a", "stale").await;
        fake.restart();
    };

    let ((), ()) = tokio::join!(calls(&gateway, 1), restarting);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_07_all_calls_that_meet_an_expired_session_share_one_renewal() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "get": 405}"#)
        .delay("initialize", 0.2)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    fake.restart();

    let answers = futures_util::future::join_all((0..10).map(|_| client.call("a_t", "{}"))).await;

    answers.iter().for_each(|answer| assert_eq!(text(answer), "{}"));
    assert_eq!(fake.received_of("initialize").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn srv_07_the_stream_of_a_session_tells_of_its_end_too_and_leads_to_one_renewal() {
    let fake = Fake::script().tool("t").with(r#"{"session": true}"#).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    fake.restart();
    fake.await_received("initialize", 2).await;

    calls(&gateway, 3).await;

    assert_eq!(fake.received_of("initialize").len(), 2);
    assert_eq!(gateway.server("a").await["starts"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_a_server_that_loses_every_session_at_once_ends_in_an_error_and_not_in_a_loop() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "mask": {"status": 404, "on": "tools/call"}}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;

    let answer: Value = gateway.client().await.call("a_t", "{}").await;

    assert_eq!(reason(&answer), "server_down");
    assert!(
        fake.received_of("tools/call").len() <= 11,
        "{} tries",
        fake.received_of("tools/call").len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lb_03_a_call_whose_stream_is_lost_with_its_session_is_not_made_again() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "get": 404, "cut": ["tools/call"], "sse_style": ["priming"]}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;

    let answer: Value = gateway.client().await.call("a_t", "{}").await;

    assert_eq!(reason(&answer), "outcome_unknown", "{answer}");
    assert_eq!(fake.received_of("tools/call").len(), 1);
}
