//! Servers behind a URL: how they are found, spoken to, and identified to.

use std::time::Instant;

use mcpr_tests::{Fake, Received, gateway};
use serde_json::{Value, json};

use crate::{AT_ONCE, reason, text};

fn posts(fake: &Fake) -> impl Iterator<Item = Received> {
    fake.received()
        .into_iter()
        .filter(|received| received.http.as_ref().is_some_and(|head| head.method == "POST"))
}

fn verbs(fake: &Fake, verb: &str) -> usize {
    fake.received()
        .iter()
        .filter(|received| received.http.as_ref().is_some_and(|head| head.method == verb))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn b28_all_spellings_of_a_server_behind_a_url_connect() {
    let (http, sse) = (Fake::script().tool("t").http(), Fake::script().tool("t").sse());
    let entries = [
        ("a", json!({ "type": "http", "url": http.url() })),
        ("b", json!({ "type": "streamable-http", "url": http.url() })),
        ("c", json!({ "type": "streamableHttp", "url": http.url() })),
        ("d", json!({ "type": "streamable_http", "url": http.url() })),
        ("e", json!({ "transport": "http", "url": http.url() })),
        ("f", json!({ "url": http.url() })),
        ("g", json!({ "serverUrl": http.url() })),
        ("h", json!({ "httpUrl": http.url() })),
        ("i", json!({ "type": "sse", "url": sse.url() })),
        ("j", json!({ "url": sse.url() })),
    ];
    let builder = entries
        .iter()
        .fold(gateway(), |all, (name, entry)| all.server(name, entry.clone()));
    let gateway = builder.ready().await;
    let client = gateway.client().await;

    for (name, _) in &entries {
        assert_eq!(
            text(&client.call(&format!("{name}_t"), r#"{"n":1}"#).await),
            r#"{"n":1}"#,
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b33_the_version_that_the_server_chose_is_in_every_later_header() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "version": "2025-03-26"}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    gateway.client().await.call("a_t", "{}").await;

    assert_eq!(
        fake.received_of("initialize")[0].params()["protocolVersion"],
        "2025-11-25"
    );
    assert_eq!(gateway.server("a").await["protocol"], "2025-03-26");
    let later = fake
        .received()
        .into_iter()
        .skip_while(|received| received.method.as_deref() != Some("initialize"))
        .skip(1);
    let versions: Vec<_> = later
        .map(|received| received.header("mcp-protocol-version").join("|"))
        .collect();
    assert!(
        versions.len() >= 4 && versions.iter().all(|version| version == "2025-03-26"),
        "{versions:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b33_a_server_that_chooses_a_version_nobody_knows_is_told_by_its_version() {
    let fake = Fake::script().with(r#"{"version": "1999-01-01"}"#).http();
    let gateway = gateway().fake("a", &fake).start().await;

    let server = gateway.await_state("a", "down").await;

    assert!(
        server["reason"].as_str().unwrap().contains("1999-01-01"),
        "{server}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b67_a_redirect_within_the_server_is_followed_and_remembered() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "slash": true}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    for _ in 0..3 {
        client.call("a_t", "{}").await;
    }

    let calls = fake.received_of("tools/call");
    let paths: Vec<_> = calls
        .iter()
        .map(|received| received.http.as_ref().unwrap().path.as_str())
        .collect();
    assert_eq!(paths, ["/mcp/"; 3], "one message for each call, at the final URL");
}

#[tokio::test(flavor = "multi_thread")]
async fn b67_a_redirect_to_another_server_is_refused_and_no_secret_goes_there() {
    let other = Fake::script().tool("t").http();
    let fake = Fake::script().set("redirect", json!(other.url())).http();
    let entry = json!({ "url": fake.url(), "headers": { "Authorization": "Bearer s3cret" } });
    let gateway = gateway().server("a", entry).start().await;

    let server = gateway.await_state("a", "down").await;

    assert!(
        server["reason"]
            .as_str()
            .unwrap()
            .contains(&format!("127.0.0.1:{}", other.port())),
        "{server}"
    );
    assert!(other.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b67_a_redirect_that_would_lose_the_body_names_its_target() {
    let fake = Fake::script()
        .with(r#"{"redirect": "/elsewhere", "redirect_status": 301}"#)
        .http();
    let gateway = gateway()
        .server("a", json!({ "type": "http", "url": fake.url() }))
        .start()
        .await;

    let server = gateway.await_state("a", "down").await;

    let reason = server["reason"].as_str().unwrap();
    assert!(
        reason.contains("301") && reason.contains("/elsewhere"),
        "{reason}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b68_a_server_without_a_stream_works_and_is_asked_for_one_only_once() {
    for status in [400, 404, 405, 501] {
        let fake = Fake::script()
            .tool("t")
            .with(r#"{"session": true}"#)
            .set("get", json!(status))
            .http();
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client().await;
        for _ in 0..5 {
            assert_eq!(text(&client.call("a_t", "{}").await), "{}");
        }

        assert_eq!(verbs(&fake, "GET"), 1, "{status}");
        assert_eq!(gateway.server("a").await["state"], "ok");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b87_configured_headers_go_with_every_request_and_protocol_headers_stay_single() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"session": true, "ttl": 4}"#)
        .http();
    let headers = json!({ "Authorization": "Basic x", "MCP-Protocol-Version": "1", "accept": "*/*", "Mcp-Session-Id": "mine" });
    let gateway = gateway()
        .server("a", json!({ "url": fake.url(), "headers": headers }))
        .ready()
        .await;
    let client = gateway.client().await;
    for _ in 0..6 {
        assert_eq!(text(&client.call("a_t", "{}").await), "{}");
    }
    gateway.core.shutdown().await;

    assert!(
        verbs(&fake, "GET") > 0 && verbs(&fake, "DELETE") > 0 && fake.received_of("initialize").len() > 1
    );
    for received in fake.received() {
        let count = |name| received.header(name).len();
        assert_eq!(received.header("authorization"), ["Basic x"]);
        assert!(count("mcp-protocol-version") <= 1 && count("mcp-session-id") <= 1 && count("accept") <= 1);
        assert_ne!(received.header("mcp-protocol-version"), ["1"]);
        assert_ne!(received.header("mcp-session-id"), ["mine"]);
    }
    for post in posts(&fake) {
        let accept = post.header("accept").join(",");
        assert!(
            accept.contains("application/json") && accept.contains("text/event-stream"),
            "{accept}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b94_a_401_is_a_state_that_is_told_and_left_in_peace() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"mask": {"status": 401, "body": "token expired", "on": "tools/call"}}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let one = client.call("a_t", "{}").await;
    assert_eq!(
        (reason(&one), &one["error"]["data"]["retry"]),
        ("server_down", &json!("no"))
    );
    let message = one["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`a` asks for authorization") && message.contains("401"),
        "{message}"
    );
    assert_eq!(fake.received_of("tools/call").len(), 1, "not tried again");
}

#[tokio::test(flavor = "multi_thread")]
async fn b94_a_server_that_wants_credentials_is_asked_again_slowly() {
    let fake = Fake::script().tool("t").with(r#"{"session": true}"#).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    fake.rescript(Fake::script().with(r#"{"mask": {"status": 401, "body": "token expired"}}"#));
    fake.restart();

    let began = Instant::now();
    let answer = client.call("a_t", "{}").await;
    let server = gateway.await_state("a", "auth-required").await;
    assert!(
        began.elapsed() < AT_ONCE,
        "known from the call: {:?}",
        began.elapsed()
    );

    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("asks for authorization"),
        "{answer}"
    );
    assert!(server["reason"].as_str().unwrap().contains("401"), "{server}");
    assert!(
        server["retryInMs"].as_u64() > Some(12_000),
        "fewer than five requests a minute: {server}"
    );
    let before = fake.received().len();
    for _ in 0..10 {
        let answer: Value = client.call("a_t", "{}").await;
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("asks for authorization"),
            "{answer}"
        );
    }
    assert!(
        fake.received().len() <= before + 1,
        "calls do not make a storm of requests"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b108_a_server_without_sessions_is_sent_none() {
    let fake = Fake::script().tool("t").http();
    let gateway = gateway().fake("a", &fake).ready().await;
    assert_eq!(text(&gateway.client().await.call("a_t", "{}").await), "{}");
    gateway.core.shutdown().await;

    assert!(
        fake.received()
            .iter()
            .all(|received| received.header("mcp-session-id").is_empty())
    );
    assert_eq!(verbs(&fake, "DELETE"), 0);
}
