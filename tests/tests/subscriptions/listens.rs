//! The streams of stateless clients.

use std::time::{Duration, Instant};

use mcpr_tests::gateway;
use serde_json::{Value, json};

use crate::LAST;
use crate::ear::{SUBSCRIPTION, Way, listen, resources};
use crate::stands::{Kind, before, exposed, telling, touch};
use crate::wire::Wire;

#[tokio::test(flavor = "multi_thread")]
async fn b106_a_change_right_after_the_acknowledgement_is_heard() {
    let slow = || {
        telling()
            .delay("resources/subscribe", 0.3)
            .delay("subscriptions/listen", 0.3)
    };
    for (kind, _fake, gateway) in before(&Kind::ALL, slow).await {
        let began = Instant::now();
        let mut ear = Way::StatelessHttp.hears(&gateway, &["file:///a"]).await;
        assert!(
            began.elapsed() >= Duration::from_millis(300),
            "{kind:?}: not before the server knows"
        );
        touch(&gateway, "file:///a").await;
        assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_a_server_that_does_not_answer_holds_nobody_up_for_long() {
    let mute = || telling().set("silent", json!(["resources/subscribe"]));
    let (_, fake, gateway) = before(&[Kind::SessionPipe], mute).await.remove(0);
    let began = Instant::now();
    let filter = r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;

    let listen = listen(&gateway, filter).await;

    assert_eq!(*listen.accepted(), json!({ "toolsListChanged": true }));
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(fake.received_of("resources/subscribe").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_hears_lists_and_resources_together() {
    let script = || telling().with(r#"{"env_tool":true}"#);
    for (kind, _fake, gateway) in before(&Kind::ALL, script).await {
        let filter = r#""notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["file:///a"]}"#;
        let mut both = listen(&gateway, filter).await;
        let mut other = listen(&gateway, &resources(&["file:///a"])).await;
        let accepted = json!({ "toolsListChanged": true, "resourceSubscriptions": ["file:///a"] });
        assert_eq!(*both.accepted(), accepted, "{kind:?}");

        gateway.stateless().call("a_add", "{}").await;
        assert_eq!(
            both.next().await["method"],
            "notifications/tools/list_changed",
            "{kind:?}"
        );
        touch(&gateway, "file:///a").await;

        assert_eq!(both.hears_of().await, "file:///a", "{kind:?}");
        assert_eq!(
            other.hears_of().await,
            "file:///a",
            "{kind:?}: it did not ask for tools"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_listens_on_one_pipe_are_told_apart_and_end_one_by_one() {
    let (_, fake, gateway) = before(&[Kind::SessionPipe], telling).await.remove(0);
    let (mut wire, stateless) = (Wire::new(&gateway), gateway.stateless());
    for (id, uri) in [("1", "file:///a"), (r#""1""#, "file:///b"), ("2", "file:///a")] {
        let text = stateless.text(id, "subscriptions/listen", &resources(&[uri]));
        wire.send(&text).await;
        wire.next().await;
    }
    let tag = |message: &Value| message["params"]["_meta"][SUBSCRIPTION].clone();
    touch(&gateway, "file:///b").await;
    assert_eq!(tag(&wire.next().await), "1", "the text, not the number");
    let mut both = [
        wire_after(&gateway, &mut wire, "file:///a").await,
        wire.next().await,
    ];
    both.sort_by_key(|message| tag(message).as_i64());
    assert_eq!(both.each_ref().map(tag), [json!(1), json!(2)]);

    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#)
        .await;
    fake.await_received("resources/unsubscribe", 1).await;
    touch(&gateway, "file:///b").await;
    let next = wire_after(&gateway, &mut wire, "file:///a").await;
    assert_eq!(
        next["params"]["uri"], "file:///a",
        "the one that ended hears nothing"
    );
}

async fn wire_after(gateway: &mcpr_tests::Gateway, wire: &mut Wire, uri: &str) -> Value {
    touch(gateway, uri).await;
    wire.next().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_to_resources_is_answered_when_the_gateway_stops() {
    let (_, _fake, gateway) = before(&[Kind::SessionPipe], telling).await.remove(0);
    let mut http = Way::StatelessHttp.hears(&gateway, &["file:///a"]).await;
    let mut pipe = Way::StatelessPipe.hears(&gateway, &["file:///a"]).await;

    gateway.operate("stop", json!({})).await;

    for (ear, id) in [(&mut http, json!(1)), (&mut pipe, json!("l"))] {
        let answer = ear.next().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["resultType"]),
            (&id, &json!("complete"))
        );
        assert_eq!(answer["result"]["_meta"][SUBSCRIPTION], id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listen_waits_for_a_server_that_is_just_starting() {
    for kind in [Kind::SessionPipe, Kind::StatelessPipe] {
        let fake = kind.run(telling().delay("start", 0.3));
        let gateway = gateway().fake("a", &fake).start().await;

        let mut ear = Way::StatelessHttp
            .hears(&gateway, &["file:///a", &exposed(LAST)])
            .await;

        assert_eq!(
            ear.accepted()["resourceSubscriptions"],
            json!(["file:///a", exposed(LAST)]),
            "{kind:?}"
        );
        touch(&gateway, "file:///a").await;
        assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_pipe_has_so_many_listens_and_not_one_more() {
    let gateway = gateway().ready().await;
    let (mut wire, stateless) = (Wire::new(&gateway), gateway.stateless());
    for id in 0..256 {
        let text = stateless.text(&id.to_string(), "subscriptions/listen", "");
        wire.send(&text).await;
        assert_eq!(
            wire.next().await["method"],
            "notifications/subscriptions/acknowledged"
        );
    }

    wire.send(&stateless.text("\"x\"", "subscriptions/listen", ""))
        .await;

    let refused = wire.next().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["data"]["reason"]),
        (&json!("x"), &json!("busy")),
        "{refused}"
    );
}
