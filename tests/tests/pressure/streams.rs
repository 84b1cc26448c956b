//! How many streams a principal may have open that no request ends (SEC-05).

use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::http::{Connection, Head, Request};
use mcpr_tests::{Gateway, gateway, wait_for};
use serde_json::Value;

use crate::wire::Wire;
use crate::{assert_busy, data, per_principal};

/// How long it may take until something has ended.
const SOON: Duration = Duration::from_secs(10);

const SETTING: &str = "`limits.perPrincipal.streams`";

/// A gateway that grants each principal two streams.
async fn narrow() -> Gateway {
    let limits = per_principal("streams", 2);
    gateway().own("limits", limits).start().await
}

/// Opens a listen of a stateless client.
async fn listen(gateway: &Gateway) -> (Head, Connection) {
    let stateless = gateway.stateless();
    stateless
        .begin("subscriptions/listen", r#""notifications":{}"#, None)
        .await
}

/// What is said to a client that asks for a stream too many.
async fn refused(gateway: &Gateway) -> Value {
    let stateless = gateway.stateless();
    let answer = stateless.request("subscriptions/listen", r#""notifications":{}"#, None);
    answer.await.message()
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_streams_of_get_and_listens_share_one_limit() {
    let gateway = narrow().await;
    let clients = [gateway.client().await, gateway.client().await];
    let _stream = clients[0].stream().await;
    let _listen = listen(&gateway).await;

    assert_busy(&refused(&gateway).await, SETTING);
    let get = clients[1]
        .in_session(Request::get("/mcp"))
        .send(gateway.port)
        .await;
    assert_eq!((get.status(), get.head.header("retry-after")), (429, Some("1")));
    assert_busy(&get.message(), SETTING);

    let token = gateway.another_token(&["read"]).await;
    let other = Session::open(gateway.port, &token, "2025-11-25").await;
    other.stream().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_takes_the_place_of_another_needs_no_room() {
    let gateway = narrow().await;
    let client = gateway.client().await;
    let (_first, _listen) = (client.stream().await, listen(&gateway).await);

    let (_second, _third) = (client.stream().await, client.stream().await);

    assert_busy(&refused(&gateway).await, SETTING);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_stream_that_ends_makes_room() {
    let gateway = narrow().await;
    let client = gateway.client().await;
    let (stream, listening) = (client.stream().await, listen(&gateway).await);
    assert_busy(&refused(&gateway).await, SETTING);

    drop((stream, listening));

    wait_for(SOON, "room for a stream", async || {
        let (head, _) = listen(&gateway).await;
        (head.header("content-type") == Some("text/event-stream")).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_the_limit_holds_on_a_pipe_and_a_cancel_makes_room() {
    let gateway = narrow().await;
    let (mut wire, stateless) = (Wire::new(&gateway), gateway.stateless());
    for id in ["1", "2"] {
        wire.send(&stateless.text(id, "subscriptions/listen", "")).await;
        assert_eq!(
            wire.next().await["method"],
            "notifications/subscriptions/acknowledged"
        );
    }
    wire.send(&stateless.text("3", "subscriptions/listen", "")).await;
    assert_busy(&wire.message(|message| message["id"] == 3).await, SETTING);

    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;

    wait_for(SOON, "room for a stream", async || {
        wire.send(&stateless.text("4", "subscriptions/listen", "")).await;
        let answer = wire.next().await;
        let acknowledged = answer["method"] == "notifications/subscriptions/acknowledged";
        assert!(acknowledged || data(&answer)["reason"] == "busy", "{answer}");
        acknowledged.then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_an_operators_watches_are_streams_too() {
    let gateway = narrow().await;
    let token = gateway.another_token(&["admin"]).await;
    let watch = Request::post("/admin/v1/events", "{}").token(&token);
    let watching = [watch.open(gateway.port).await, watch.open(gateway.port).await];
    assert!(watching.iter().all(|(head, _)| head.status == 200));

    let refused = watch.send(gateway.port).await;

    assert_eq!(refused.status(), 503, "{}", refused.text());
    assert!(refused.text().contains(SETTING), "{}", refused.text());
    drop(watching);
    wait_for(SOON, "room for a watch", async || {
        (watch.open(gateway.port).await.0.status == 200).then_some(())
    })
    .await;
}
