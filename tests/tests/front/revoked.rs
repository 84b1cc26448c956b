//! Tokens that are no longer good: revoked here or elsewhere, or expired (SEC-02).

use std::time::{Duration, Instant};

use mcpr_auth::Timestamp;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::{Answer, Connection, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::auth::{LET_IN, expiring, nameless, reason, token};

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_revoked_token_is_refused_at_once_and_its_sessions_and_streams_end() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (secret, id) = token(&gateway, "leaked").await;
    let client = Session::open(gateway.port, &secret, "2025-11-25").await;
    let other = gateway.client().await;
    let (mut stream, mut others) = (client.stream().await, other.stream().await);
    let stateless = Stateless {
        port: gateway.port,
        token: secret,
    };
    let (_, mut listen) = stateless
        .begin(
            "subscriptions/listen",
            r#""notifications":{"toolsListChanged":true}"#,
            None,
        )
        .await;
    listen.event().await.unwrap();
    let call = client.post(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x"}}"#);
    let call = tokio::spawn(async move { call.send(gateway.port).await });
    fake.await_received("tools/call", 1).await;

    gateway.operate("tokens/revoke", json!({ "which": id })).await;

    assert_eq!(reason(&client.request("ping", "{}").await), "revoked");
    assert_eq!(
        reason(&stateless.request("tools/list", "", None).await),
        "revoked"
    );
    assert_eq!(
        (stream.event().await, listen.event().await),
        (None, None),
        "its streams end"
    );
    fake.await_received("notifications/cancelled", 1).await;
    assert_eq!(reason(&call.await.unwrap()), "revoked", "a request is answered");
    assert_eq!(other.request("ping", "{}").await.status(), 200);
    gateway.operate("stop", json!({})).await;
    assert_eq!(
        others.event().await,
        None,
        "somebody else's stream lasted until the end"
    );
}

/// Calls under way with a token: of either era, by clients that take JSON alone and by others.
async fn under_way(gateway: &Gateway, fake: &Fake, secret: &str) -> Vec<JoinHandle<Answer>> {
    let client = Session::open(gateway.port, secret, "2025-11-25").await;
    let stateless = Stateless {
        port: gateway.port,
        token: secret.to_owned(),
    };
    let in_session =
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a_x"}}}}"#);
    let text = stateless.text("9", "tools/call", r#""name":"a_x""#);
    let alone = stateless.post(&text, "tools/call", Some("a_x"));
    let requests = [
        client.post(&in_session(9)).replace("accept", "application/json"),
        client.post(&in_session(10)),
        alone.clone().replace("accept", "application/json"),
        alone,
    ];
    let port = gateway.port;
    let calls = requests.map(|request| tokio::spawn(async move { request.send(port).await }));
    fake.await_received("tools/call", 4).await;
    calls.into()
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_calls_under_way_get_no_answer_but_401_when_their_token_is_revoked() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (secret, id) = token(&gateway, "leaked").await;
    let calls = under_way(&gateway, &fake, &secret).await;
    let began = Instant::now();

    gateway.operate("tokens/revoke", json!({ "which": id })).await;

    for call in calls {
        assert_eq!(reason(&call.await.unwrap()), "revoked");
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    fake.await_received("notifications/cancelled", 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_calls_under_way_get_no_answer_but_401_when_their_token_expires() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let secret = expiring(&gateway, Timestamp::now().after(Duration::from_secs(2))).await;

    for call in under_way(&gateway, &fake, &secret).await {
        assert_eq!(reason(&call.await.unwrap()), "expired");
    }

    fake.await_received("notifications/cancelled", 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_body_that_comes_when_its_token_is_revoked_is_refused_and_nothing_is_done() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let made = json!({ "name": "leaked", "scopes": ["admin"] });
    let made = gateway.operate("tokens/create", made).await;
    let secret = made["secret"].as_str().unwrap();
    let client = Session::open(gateway.port, secret, "2025-11-25").await;
    let stateless = Stateless {
        port: gateway.port,
        token: secret.to_owned(),
    };
    let text = stateless.text("9", "tools/call", r#""name":"a_x""#);
    let requests = [
        client.post(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x"}}"#),
        stateless.post(&text, "tools/call", Some("a_x")),
        Request::post("/admin/v1/tokens/create", r#"{"name":"successor"}"#).token(secret),
    ];
    let mut waiting = Vec::new();
    for request in requests {
        let text = request.header("expect", "100-continue").bytes();
        let body = text.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let mut connection = Connection::open(gateway.port).await;
        connection.send(&text[..body]).await;
        assert_eq!(connection.head().await.status, 100, "it is let in");
        waiting.push((connection, text[body..].to_vec()));
    }

    gateway
        .operate("tokens/revoke", json!({ "which": "leaked" }))
        .await;

    for (mut connection, body) in waiting {
        connection.send(&body).await;
        assert_eq!(reason(&connection.answer().await), "revoked");
    }
    assert!(fake.received_of("tools/call").is_empty());
    let tokens = gateway.operate("tokens/list", json!({})).await.to_string();
    assert!(!tokens.contains("successor"), "{tokens}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_04_a_request_whose_session_ends_is_answered_as_one_without() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let call = client.post(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x"}}"#);
    let call = call.replace("accept", "application/json");
    let port = gateway.port;
    let call = tokio::spawn(async move { call.send(port).await });
    fake.await_received("tools/call", 1).await;

    let end = client.in_session(Request::new("DELETE", "/mcp"));
    assert_eq!(end.send(gateway.port).await.status(), 204);

    let answer = call.await.unwrap();
    assert_eq!((answer.status(), answer.message()["id"].clone()), (404, json!(9)));
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_that_another_process_revokes_in_the_database_is_refused_soon() {
    let gateway = gateway().start().await;
    let (secret, id) = token(&gateway, "leaked").await;
    let client = Session::open(gateway.port, &secret, "2025-11-25").await;
    let mut stream = client.stream().await;

    let elsewhere = mcpr_store::open(gateway.home().join("mcpr.db")).await.unwrap();
    elsewhere.revoke_token(&id, Timestamp::now()).await.unwrap();

    let began = std::time::Instant::now();
    assert_eq!(stream.event().await, None, "its stream ends");
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    assert_eq!(reason(&client.request("ping", "{}").await), "revoked");
}

/// How long it takes until whoever shows a token is let in, or is not any more.
async fn until(gateway: &Gateway, token: &str, let_in: bool) -> Duration {
    let (request, began) = (nameless().token(token), Instant::now());
    while (request.send(gateway.port).await.status() == LET_IN) != let_in {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "it still does not count"
        );
    }
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_what_another_process_does_to_tokens_counts_within_a_second() {
    let gateway = gateway().start().await;
    let elsewhere = mcpr_store::open(gateway.home().join("mcpr.db")).await.unwrap();
    let (mut made, mut revoked) = (Vec::new(), Vec::new());

    // Each is done just after a look at the database, so that none is seen soon by chance.
    for _ in 0..4 {
        let new = mcpr_auth::NewToken::new(mcpr_auth::TokenKind::Pat, "elsewhere");
        let minted = mcpr_auth::mint(new, Timestamp::now()).unwrap();
        let id = minted.token.id.to_string();
        elsewhere.insert_token(minted.token, minted.hash).await.unwrap();
        made.push(until(&gateway, minted.secret.reveal(), true).await);
        elsewhere.revoke_token(&id, Timestamp::now()).await.unwrap();
        revoked.push(until(&gateway, minted.secret.reveal(), false).await);
    }

    // A machine that is busy makes single ones long.
    for times in [made, revoked] {
        assert!(times.iter().min() < Some(&Duration::from_secs(1)), "{times:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_sessions_and_streams_of_a_token_end_when_it_expires() {
    let gateway = gateway()
        .own("limits", json!({ "sessionIdle": "1s" }))
        .start()
        .await;
    let secret = expiring(&gateway, Timestamp::now().after(Duration::from_secs(2))).await;
    let client = Session::open(gateway.port, &secret, "2025-11-25").await;
    let mut stream = client.stream().await;
    let stateless = Stateless {
        port: gateway.port,
        token: secret,
    };
    let (_, mut listen) = stateless
        .begin("subscriptions/listen", r#""notifications":{}"#, None)
        .await;
    listen.event().await.unwrap();
    assert_eq!((stream.event().await, listen.event().await), (None, None));
    assert_eq!(reason(&client.request("ping", "{}").await), "expired");
}
