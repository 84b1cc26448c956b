//! Who hears of a change, and in which form.

use mcpr_tests::client::Session;
use mcpr_tests::gateway;
use serde_json::json;

use crate::LAST;
use crate::ear::{Ear, Way, subscribe, unsubscribe};
use crate::stands::{Kind, before, exposed, telling, touch, touch_at};

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_a_change_reaches_its_subscribers_and_nobody_else_in_every_pairing() {
    for (kind, _fake, gateway) in before(&Kind::ALL, telling).await {
        let mut ears = Vec::new();
        for way in Way::ALL {
            ears.push((way, way.hears(&gateway, &["file:///a", LAST]).await));
        }
        let mut stranger = Way::SessionHttp.hears(&gateway, &[LAST]).await;
        let mut other = Way::StatelessHttp.hears(&gateway, &["file:///b", LAST]).await;

        touch(&gateway, "file:///a").await;
        touch(&gateway, LAST).await;

        for (way, ear) in &mut ears {
            assert_eq!(ear.hears_of().await, "file:///a", "{way:?} before {kind:?}");
            assert_eq!(ear.hears_of().await, LAST, "{way:?} before {kind:?}");
        }
        assert_eq!(stranger.hears_of().await, LAST, "{kind:?}");
        assert_eq!(other.hears_of().await, LAST, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_each_hears_in_the_form_in_which_it_subscribed() {
    let wrapped = exposed("file:///a");
    for (_, fake, gateway) in before(&[Kind::SessionHttp, Kind::StatelessPipe], telling).await {
        for way in Way::ALL {
            let mut by_own_name = way.hears(&gateway, &["file:///a"]).await;
            let mut by_exposed = way.hears(&gateway, &[&wrapped]).await;
            let mut by_both = way.hears(&gateway, &["file:///a", &wrapped]).await;

            touch(&gateway, "file:///a").await;

            assert_eq!(by_own_name.hears_of().await, "file:///a", "{way:?}");
            assert_eq!(by_exposed.hears_of().await, wrapped, "{way:?}");
            let mut both = [by_both.hears_of().await, by_both.hears_of().await];
            both.sort();
            assert_eq!(both, ["file:///a", wrapped.as_str()], "{way:?}");
        }
        let asked = fake
            .received()
            .iter()
            .map(|received| received.text.clone())
            .collect::<String>();
        assert!(
            !asked.contains("resource://"),
            "the server is asked for its own URIs"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_a_part_that_changed_is_told_to_those_who_subscribed_to_the_whole() {
    for (kind, _fake, gateway) in before(&Kind::ALL, telling).await {
        let wrapped = exposed("file:///a");
        let mut whole = Way::SessionHttp.hears(&gateway, &["file:///a", LAST]).await;
        let mut by_exposed = Way::StatelessHttp.hears(&gateway, &[&wrapped]).await;
        let mut neighbour = Way::SessionPipe.hears(&gateway, &["file:///a/bc", LAST]).await;

        touch(&gateway, "file:///a/b/c").await;
        touch(&gateway, "file:///ab").await;
        touch(&gateway, LAST).await;

        assert_eq!(whole.hears_of().await, "file:///a/b/c", "{kind:?}");
        assert_eq!(
            whole.hears_of().await,
            LAST,
            "`file:///ab` is no part of `file:///a`"
        );
        assert_eq!(by_exposed.hears_of().await, format!("{wrapped}/b/c"), "{kind:?}");
        assert_eq!(neighbour.hears_of().await, LAST, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_resources_of_two_servers_with_one_name_are_two_resources() {
    let (a, b) = (telling().stdio(), telling().stdio());
    let gateway = gateway().fake("a", &a).fake("b", &b).ready().await;
    let mut first = Way::SessionHttp
        .hears(&gateway, &["resource://a/file:///a"])
        .await;
    let mut second = Way::StatelessHttp
        .hears(&gateway, &["resource://b/file:///a", "resource://b/file:///b"])
        .await;

    touch_at(&gateway, "a", &json!({ "uri": "file:///a" })).await;
    touch_at(&gateway, "b", &json!({ "uri": "file:///b" })).await;

    assert_eq!(first.hears_of().await, "resource://a/file:///a");
    assert_eq!(second.hears_of().await, "resource://b/file:///b");
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_what_a_server_says_in_the_answer_to_a_call_is_told_all_the_same() {
    for (kind, _fake, gateway) in before(&Kind::SESSION, telling).await {
        let mut ear = Way::SessionHttp.hears(&gateway, &["file:///a"]).await;
        let caller = gateway.client().await;

        let call = json!({ "name": "a_touch", "arguments": { "uri": "file:///a", "within": true } });
        let answer = caller.request("tools/call", &call.to_string()).await;

        assert!(
            !answer.text().contains("resources/updated"),
            "{kind:?}: {}",
            answer.text()
        );
        assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_what_changes_while_no_stream_is_open_is_told_once_when_one_opens() {
    let (fake, other) = (telling().stdio(), telling().stdio());
    let gateway = gateway().fake("a", &fake).fake("b", &other).ready().await;
    let client = gateway.client().await;
    for uri in ["file:///a", "file:///b", "resource://b/memo:///last"] {
        subscribe(
            &client,
            &if uri.starts_with("res") {
                uri.into()
            } else {
                exposed(uri)
            },
        )
        .await;
    }
    let mut witness = Way::SessionPipe.hears(&gateway, &[&exposed("file:///b")]).await;
    for _ in 0..20 {
        touch(&gateway, "file:///a").await;
    }
    touch(&gateway, "file:///b").await;
    witness.hears_of().await;

    let mut stream = client.stream().await;
    touch_at(&gateway, "b", &json!({ "uri": LAST })).await;

    for uri in [
        exposed("file:///a"),
        exposed("file:///b"),
        "resource://b/memo:///last".into(),
    ] {
        let message = stream.message(|message| !message.is_null()).await.unwrap();
        assert_eq!(message["params"]["uri"], uri, "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_who_has_left_hears_nothing_more_and_the_others_do() {
    for (kind, _fake, gateway) in before(&[Kind::SessionPipe, Kind::StatelessHttp], telling).await {
        let stays = &mut Way::StatelessHttp.hears(&gateway, &["file:///a"]).await;
        let leaves = gateway.client().await;
        subscribe(&leaves, "file:///a").await;
        subscribe(&leaves, &exposed(LAST)).await;
        unsubscribe(&leaves, &exposed("file:///a")).await;
        unsubscribe(&leaves, "file:///a").await;
        let mut stream = leaves.stream().await;

        touch(&gateway, "file:///a").await;
        touch(&gateway, LAST).await;

        assert_eq!(stays.hears_of().await, "file:///a", "{kind:?}");
        let message = stream.message(|message| !message.is_null()).await.unwrap();
        assert_eq!(
            message["params"]["uri"],
            exposed(LAST),
            "the other name ends it as well"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_11_what_was_left_is_not_told_when_a_stream_opens_later() {
    let (_, _fake, gateway) = before(&[Kind::SessionPipe], telling).await.remove(0);
    let client = gateway.client().await;
    let mut witness = Way::SessionPipe.hears(&gateway, &["file:///a"]).await;
    for uri in ["file:///a", LAST] {
        subscribe(&client, uri).await;
    }
    touch(&gateway, "file:///a").await;
    witness.hears_of().await;

    unsubscribe(&client, "file:///a").await;
    let mut stream = client.stream().await;
    touch(&gateway, LAST).await;

    let message = stream.message(|message| !message.is_null()).await.unwrap();
    assert_eq!(message["params"]["uri"], LAST);
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_01_who_has_subscribed_hears_nothing_of_a_server_that_has_left_the_project() {
    let (a, b) = (Kind::SessionHttp.run(telling()), Kind::SessionHttp.run(telling()));
    let gateway = gateway().fake("a", &a).fake("b", &b).ready().await;
    let project = |servers| json!({ "name": "p", "servers": servers, "replace": true });
    gateway.operate("projects/save", project(json!(["a", "b"]))).await;
    let token = gateway
        .operate("tokens/create", json!({ "name": "bound", "project": "p" }))
        .await;
    let token = token["secret"].as_str().expect("a secret");
    let session = Session::open(gateway.port, token, "2025-11-25").await;
    let (left, last) = ("resource://b/file:///a", exposed(LAST));
    for uri in [left, last.as_str()] {
        assert_eq!(subscribe(&session, uri).await["result"], json!({}));
    }
    let stream = session.stream().await;
    let mut ear = Ear::Stream(Box::new(session), stream);
    touch_at(&gateway, "b", &json!({ "uri": "file:///a" })).await;
    assert_eq!(ear.hears_of().await, left);

    gateway.operate("projects/save", project(json!(["a"]))).await;
    touch_at(&gateway, "b", &json!({ "uri": "file:///a" })).await;
    touch(&gateway, LAST).await;

    assert_eq!(ear.hears_of().await, last);
}
