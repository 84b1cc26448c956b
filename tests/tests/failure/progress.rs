//! Progress: whose it is, and which limits it moves.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use mcpr_tests::client::Session;
use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::{reason, text};

/// Everything that comes for a call with this progress token.
async fn followed(client: &Session, token: &str) -> Vec<Value> {
    let params =
        format!(r#"{{"name":"a_t","arguments":{{"token":{token}}},"_meta":{{"progressToken":{token}}}}}"#);
    let (_, mut connection) = client.begin("tools/call", &params).await;
    let mut all = Vec::new();
    while let Some(event) = connection.event().await {
        all.push(event.message());
    }
    all
}

/// A server that reports progress five times during a second and a half.
fn talkative() -> mcpr_tests::Script {
    Fake::script()
        .tool("t")
        .with(r#"{"progress": {"count": 5, "interval": 0.3}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_every_call_gets_its_own_progress_under_its_own_token() {
    let stateless = talkative().with(r#"{"era": "stateless"}"#).http();
    join_all(
        [
            talkative().stdio(),
            talkative().http(),
            talkative().sse(),
            stateless,
        ]
        .map(two_calls_at_once),
    )
    .await;
}

/// The whole takes longer than the server may be silent.
async fn two_calls_at_once(fake: Fake) {
    let own = json!({ "timeouts": { "silence": "1s" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let client = gateway.client().await;

    let (number, string) = tokio::join!(followed(&client, "7"), followed(&client, r#""7""#));

    for (token, heard) in [(json!(7), number), (json!("7"), string)] {
        let (answer, notices) = heard.split_last().expect("an answer");
        let told: Vec<_> = notices.iter().map(|notice| notice["params"].clone()).collect();
        let steps =
            [1, 2, 3, 4, 5].map(|step| json!({ "progressToken": token, "progress": step, "total": 5 }));
        assert_eq!(told, steps);
        assert!(text(answer).contains("token"), "{answer}");
    }
    let calls = fake.received_of("tools/call");
    let tokens: BTreeSet<_> = calls
        .iter()
        .map(|call| call.params()["_meta"]["progressToken"].to_string())
        .collect();
    assert_eq!(tokens.len(), 2, "tokens of mcpr's own: {tokens:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_http_05_progress_does_not_move_the_limit_of_a_call() {
    let fake = Fake::script()
        .tool("t")
        .with(r#"{"progress": {"count": 100, "interval": 0.05}}"#)
        .stdio();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "timeouts": { "call": "1s" } }))
        .ready()
        .await;

    let heard = followed(&gateway.client().await, "7").await;

    let (answer, notices) = heard.split_last().unwrap();
    assert_eq!(reason(answer), "timeout");
    assert!(
        (1..60).contains(&notices.len()),
        "{} of a hundred notices",
        notices.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b17_a_call_without_a_token_is_asked_for_no_progress() {
    let fake = talkative().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;

    let answer = gateway
        .client()
        .await
        .request("tools/call", r#"{"name":"a_t","arguments":{}}"#)
        .await;

    assert_eq!(answer.head.header("content-type"), Some("application/json"));
    assert!(
        fake.received_of("tools/call")[0].params()["_meta"]
            .get("progressToken")
            .is_none()
    );
}
