//! Tokens that are no longer good: revoked here or elsewhere, or expired (SEC-02).

use std::time::Duration;

use mcpr_auth::Timestamp;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::{Fake, gateway};
use serde_json::json;

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
    assert_eq!(call.await.unwrap().text(), "");
    assert_eq!(other.request("ping", "{}").await.status(), 200);
    gateway.operate("stop", json!({})).await;
    assert_eq!(
        others.event().await,
        None,
        "somebody else's stream lasted until the end"
    );
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

#[tokio::test(flavor = "multi_thread")]
async fn sec_02_a_token_that_another_process_makes_is_good_soon() {
    let gateway = gateway().start().await;
    let elsewhere = mcpr_store::open(gateway.home().join("mcpr.db")).await.unwrap();
    let new = mcpr_auth::NewToken::new(mcpr_auth::TokenKind::Pat, "elsewhere");
    let minted = mcpr_auth::mint(new, Timestamp::now()).unwrap();
    elsewhere.insert_token(minted.token, minted.hash).await.unwrap();
    let request = nameless().token(minted.secret.reveal());
    let end = std::time::Instant::now() + Duration::from_secs(5);
    while request.send(gateway.port).await.status() != LET_IN {
        assert!(std::time::Instant::now() < end, "it is still refused");
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
