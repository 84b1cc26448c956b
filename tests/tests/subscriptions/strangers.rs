//! What one token has subscribed to, no other can end, hear or see (SEC-03).

use mcpr_tests::Gateway;
use mcpr_tests::client::{Session, Stateless};
use mcpr_tests::http::Request;

use crate::LAST;
use crate::ear::{Way, subscribe, unsubscribe};
use crate::stands::{Kind, before, telling, touch};

/// Clients of both eras with another token.
async fn strangers(gateway: &Gateway) -> (Session, Stateless) {
    let token = gateway.another_token(&["read", "call"]).await;
    let session = Session::open(gateway.port, &token, "2025-11-25").await;
    let port = gateway.port;
    (session, Stateless { port, token })
}

/// All that a stranger can try, under each name that a request or a listen of the tests can have.
async fn try_to_end(gateway: &Gateway) {
    let (session, stateless) = strangers(gateway).await;
    unsubscribe(&session, "file:///a").await;
    for id in ["1", "\"l\"", "7"] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        session.post(&text).send(gateway.port).await;
        let foreign = stateless.post(&text, "notifications/cancelled", None);
        foreign.send(gateway.port).await;
    }
    let leave = session.in_session(Request::new("DELETE", "/mcp"));
    assert_eq!(leave.send(gateway.port).await.status(), 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_nobody_ends_what_another_token_has_subscribed_to() {
    for (kind, _fake, gateway) in before(&[Kind::SessionPipe, Kind::StatelessHttp], telling).await {
        let mut ears = Vec::new();
        for way in [Way::SessionHttp, Way::StatelessHttp] {
            ears.push(way.hears(&gateway, &["file:///a"]).await);
        }
        try_to_end(&gateway).await;
        touch(&gateway, "file:///a").await;
        for ear in &mut ears {
            assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_nobody_hears_of_what_another_token_has_subscribed_to() {
    let (_, _fake, gateway) = before(&[Kind::SessionPipe], telling).await.remove(0);
    let mut owner = Way::StatelessHttp.hears(&gateway, &["file:///a"]).await;
    let (stranger, _) = strangers(&gateway).await;
    subscribe(&stranger, LAST).await;
    let mut stream = stranger.stream().await;

    touch(&gateway, "file:///a").await;
    assert_eq!(owner.hears_of().await, "file:///a");
    touch(&gateway, LAST).await;

    let first = stream.message(|message| !message.is_null()).await.unwrap();
    assert_eq!(first["params"]["uri"], LAST, "{first}");
}
