//! What servers are asked for: once for all who subscribe, and no longer than that.

use std::time::Duration;

use mcpr_tests::{Fake, gateway, wait_until};
use serde_json::{Value, json};

use crate::LAST;
use crate::ear::{Way, end, subscribe};
use crate::stands::{Kind, before, exposed, telling, touch};

const SUBSCRIBE: &str = "resources/subscribe";
const UNSUBSCRIBE: &str = "resources/unsubscribe";

/// The URIs of all requests of this method.
fn asked(fake: &Fake, method: &str) -> Vec<Value> {
    let received = fake.received_of(method);
    received
        .iter()
        .map(|request| request.params()["uri"].clone())
        .collect()
}

/// The resources of each listen that named any, in order.
pub(crate) fn listened(fake: &Fake) -> Vec<Value> {
    let filters = fake.received_of("subscriptions/listen").into_iter();
    let filters = filters.map(|request| request.params()["notifications"]["resourceSubscriptions"].clone());
    filters.filter(|uris| !uris.is_null()).collect()
}

/// How many listens the gateway has ended.
fn ended(fake: &Fake) -> usize {
    let closed = fake
        .received()
        .iter()
        .filter(|line| line.closed.is_some())
        .count();
    closed + fake.received_of("notifications/cancelled").len()
}

async fn await_ended(fake: &Fake, count: usize) {
    let what = format!("{count} listens end");
    wait_until(Duration::from_secs(10), &what, || {
        (ended(fake) >= count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_a_server_is_asked_at_the_first_and_released_at_the_last() {
    for (kind, fake, gateway) in before(&Kind::SESSION, telling).await {
        let mut ears = Vec::new();
        for way in Way::ALL {
            ears.push(way.hears(&gateway, &["file:///a", &exposed("file:///a")]).await);
        }
        let mut last = Way::SessionHttp.hears(&gateway, &["file:///a"]).await;
        for ear in ears {
            ear.leaves(&["file:///a", &exposed("file:///a")]).await;
        }
        touch(&gateway, "file:///a").await;
        assert_eq!(last.hears_of().await, "file:///a", "{kind:?}");
        assert_eq!(asked(&fake, SUBSCRIBE), ["file:///a"], "{kind:?}");
        assert_eq!(asked(&fake, UNSUBSCRIBE), [Value::Null; 0], "{kind:?}");

        last.leaves(&["file:///a"]).await;

        fake.await_received(UNSUBSCRIBE, 1).await;
        assert_eq!(asked(&fake, UNSUBSCRIBE), ["file:///a"], "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_a_stateless_server_has_one_stream_for_all_and_each_change_is_a_new_one() {
    for (kind, fake, gateway) in before(&Kind::STATELESS, telling).await {
        let a = Way::SessionHttp.hears(&gateway, &["file:///a"]).await;
        let mut b = Way::StatelessHttp
            .hears(&gateway, &["file:///b", &exposed("file:///a")])
            .await;
        await_ended(&fake, 1).await;
        a.leaves(&["file:///a"]).await;
        touch(&gateway, "file:///a").await;
        assert_eq!(b.hears_of().await, exposed("file:///a"), "{kind:?}");
        b.leaves(&[]).await;
        await_ended(&fake, 2).await;

        assert_eq!(
            listened(&fake),
            [json!(["file:///a"]), json!(["file:///a", "file:///b"])],
            "{kind:?}: what somebody still wants needs no new stream"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_nothing_is_lost_and_nothing_comes_twice_while_a_stream_gives_way() {
    for (kind, fake, gateway) in before(&Kind::STATELESS, telling).await {
        let mut ear = Way::StatelessHttp.hears(&gateway, &["file:///a", LAST]).await;
        let client = gateway.client().await;
        for round in 0..10 {
            let uri = format!("file:///{round}");
            let (told, ()) = tokio::join!(subscribe(&client, &uri), touch(&gateway, "file:///a"));
            assert_eq!(told["result"], json!({}), "{told}");
            assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}, round {round}");
        }
        touch(&gateway, LAST).await;
        assert_eq!(ear.hears_of().await, LAST, "{kind:?}: nothing came twice");
        assert!(listened(&fake).len() > 1, "streams gave way");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_what_a_session_has_subscribed_to_ends_with_it() {
    let fake = telling().stdio();
    let gateway = gateway()
        .own("limits", json!({ "sessionIdle": "100ms" }))
        .fake("a", &fake)
        .ready()
        .await;
    let deleted = gateway.client().await;
    subscribe(&deleted, "file:///a").await;
    end(&deleted).await;
    fake.await_received(UNSUBSCRIBE, 1).await;

    let forgotten = gateway.client().await;
    subscribe(&forgotten, "file:///b").await;
    fake.await_received(UNSUBSCRIBE, 2).await;

    let pipe = Way::SessionPipe.hears(&gateway, &[LAST]).await;
    pipe.leaves(&[]).await;

    fake.await_received(UNSUBSCRIBE, 3).await;
    let uris = ["file:///a", "file:///b", LAST];
    assert_eq!(asked(&fake, UNSUBSCRIBE), uris);
    assert_eq!(asked(&fake, SUBSCRIBE), uris);
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_many_are_asked_for_at_once_and_each_is_heard() {
    for (kind, _fake, gateway) in before(&Kind::ALL, telling).await {
        let uris: Vec<String> = (0..100).map(|number| format!("file:///n/{number}")).collect();
        let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
        let mut ear = Way::StatelessHttp.hears(&gateway, &uris).await;
        assert_eq!(ear.accepted()["resourceSubscriptions"], json!(uris), "{kind:?}");
        for uri in ["file:///n/99", "file:///n/0"] {
            touch(&gateway, uri).await;
            assert_eq!(ear.hears_of().await, uri, "{kind:?}");
        }
    }
}
