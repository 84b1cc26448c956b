//! Answers over HTTP that are written in unusual ways, and answers that are none.

use std::time::{Duration, Instant};

use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::{AT_ONCE, impatient, text};

#[tokio::test(flavor = "multi_thread")]
async fn b32_media_types_are_read_in_any_case_and_with_parameters() {
    for script in [
        r#"{"ctype": "application/json; charset=utf-8", "get": 405}"#,
        r#"{"ctype": "APPLICATION/JSON;charset=UTF-8", "get": 405}"#,
        r#"{"ctype": "Text/Event-Stream;charset=UTF-8", "sse": true}"#,
    ] {
        let fake = Fake::script().tool("t").with(script).http();
        let gateway = gateway().fake("a", &fake).ready().await;

        assert_eq!(
            text(&gateway.client().await.call("a_t", "{}").await),
            "{}",
            "{script}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b32_json_and_streams_are_both_taken_and_so_is_any_2xx_for_a_notification() {
    for (sse, accepted) in [(false, 200), (true, 204), (true, 202)] {
        let fake = Fake::script()
            .tool("t")
            .set("sse", json!(sse))
            .set("accepted", json!(accepted))
            .http();
        let gateway = gateway().fake("a", &fake).ready().await;

        assert_eq!(
            text(&gateway.client().await.call("a_t", "{}").await),
            "{}",
            "{sse} {accepted}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b32_what_is_no_mcp_fails_at_once_with_status_type_and_beginning() {
    for (status, ctype, state) in [
        (401, "text/plain", "auth-required"),
        (200, "text/html", "down"),
        (500, "text/html", "down"),
    ] {
        let mask = json!({ "status": status, "ctype": ctype, "body": "<h1>Welcome s3cret</h1>" });
        let fake = Fake::script().set("mask", mask).http();
        let entry = json!({ "type": "http", "url": fake.url(), "headers": { "X-Key": "s3cret" } });
        let began = Instant::now();
        let gateway = gateway().server("a", entry).start().await;

        let server = gateway.await_state("a", state).await;

        let reason = server["reason"].as_str().unwrap();
        assert!(began.elapsed() < AT_ONCE, "{reason}");
        for part in [&status.to_string(), ctype, "Welcome"] {
            assert!(reason.contains(part), "no {part} in {reason}");
        }
        assert!(!reason.contains("s3cret"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b85_every_spelling_of_an_event_stream_is_understood() {
    for script in [
        r#"{"sse": true, "crlf": true}"#,
        r#"{"sse": true, "sse_style": ["comments", "nospace", "noevent"]}"#,
        r#"{"sse": true, "sse_style": ["cr", "unknown", "retry"]}"#,
        r#"{"sse": true, "crlf": true, "sse_style": ["ids", "priming", "split", "comments"]}"#,
    ] {
        let fake = Fake::script().tool("t").with(script).http();
        let began = Instant::now();
        let gateway = gateway().fake("a", &fake).ready().await;

        assert_eq!(
            text(&gateway.client().await.call("a_t", "{}").await),
            "{}",
            "{script}"
        );
        assert!(began.elapsed() < AT_ONCE, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b105_an_answer_to_a_health_ping_is_life_even_if_it_is_an_error() {
    let no_ping = json!({ "code": -32601, "message": "Method not found" });
    let fake = Fake::script()
        .tool("t")
        .tool("cut")
        .error("ping", no_ping)
        .with(r#"{"cut": ["tools/call:cut"]}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    for round in 1..=3 {
        // A call that breaks off makes the gateway doubt the connection, and ask.
        client.call("a_cut", "{}").await;
        fake.await_received("ping", round).await;
        assert_eq!(text(&client.call("a_t", "{}").await), "{}");
    }

    let server = gateway.server("a").await;
    assert_eq!((&server["state"], &server["starts"]), (&json!("ok"), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn b105_a_stateless_server_shows_its_life_by_saying_who_it_is() {
    let fake = Fake::script()
        .tool("t")
        .tool("cut")
        .with(r#"{"era": "stateless", "cut": ["tools/call:cut"]}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let before = fake.received_of("server/discover").len();

    client.call("a_cut", "{}").await;

    fake.await_received("server/discover", before + 1).await;
    assert_eq!(text(&client.call("a_t", "{}").await), "{}");
    assert!(fake.received_of("ping").is_empty());
    let server = gateway.server("a").await;
    assert_eq!((&server["state"], &server["starts"]), (&json!("ok"), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn b105_pings_of_servers_are_answered() {
    let script = || Fake::script().tool("t").with(r#"{"ping_client": true}"#);
    let fakes = [
        ("a", script().stdio()),
        ("b", script().http()),
        ("c", script().sse()),
    ];
    let gateway = fakes
        .iter()
        .fold(gateway(), |all, (name, fake)| {
            all.fake_with(name, fake, impatient())
        })
        .ready()
        .await;

    for (name, fake) in &fakes {
        let answers = || {
            fake.received()
                .into_iter()
                .filter(|received| received.text.contains("\"p\""))
        };
        let answered = || answers().map(|received| received.message()).next();
        let answer = mcpr_tests::wait_until(Duration::from_secs(2), "an answer to the ping", answered).await;
        assert_eq!(answer["result"], json!({}), "{name}");
        assert_eq!(gateway.server(name).await["starts"], 1, "{name}");
    }
}
