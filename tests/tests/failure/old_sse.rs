//! Servers that speak HTTP+SSE of 2024-11-05.

use mcpr_tests::{Fake, gateway};
use serde_json::json;

use crate::{impatient, text};

#[tokio::test(flavor = "multi_thread")]
async fn b98_endpoints_are_resolved_against_the_url_of_the_stream() {
    for endpoint in ["/messages?s={s}", "messages?s={s}", "?s={s}"] {
        let fake = Fake::script().tool("t").set("endpoint", json!(endpoint)).sse();
        let gateway = gateway().fake("a", &fake).ready().await;

        assert_eq!(
            text(&gateway.client().await.call("a_t", "{}").await),
            "{}",
            "{endpoint}"
        );
        assert_eq!(gateway.server("a").await["via"], "sse");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b98_an_endpoint_of_another_origin_is_refused() {
    let other = Fake::script().tool("t").http();
    let fake = Fake::script().set("endpoint", json!(other.url())).sse();
    let entry = json!({ "type": "sse", "url": fake.url(), "headers": { "Authorization": "Bearer s3cret" } });
    let gateway = gateway().server("a", entry).start().await;

    let server = gateway.await_state("a", "down").await;

    assert!(
        server["reason"].as_str().unwrap().contains("another origin"),
        "{server}"
    );
    assert!(other.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b98_calls_survive_a_stream_that_ends_again_and_again() {
    let fake = Fake::script().tool("t").with(r#"{"close_after": 0.7}"#).sse();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    for life in 2..=3_usize {
        fake.await_received("initialize", life).await;

        assert_eq!(text(&client.call("a_t", r#"{"n":1}"#).await), r#"{"n":1}"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b98_a_call_that_finds_the_stream_dead_reconnects_before_it_fails() {
    let fake = Fake::script().tool("t").with(r#"{"close_after": 0.7}"#).sse();
    let own = json!({ "restart": { "backoffMin": "300ms" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;
    gateway.await_state("a", "stale").await;

    assert_eq!(text(&client.call("a_t", r#"{"n":1}"#).await), r#"{"n":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_b98_an_old_server_that_restarts_is_found_again() {
    let fake = Fake::script().tool("t").sse();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    for n in 0..3 {
        let arguments = format!(r#"{{"n":{n}}}"#);
        fake.restart();
        assert_eq!(text(&client.call("a_t", &arguments).await), arguments);
    }
}
