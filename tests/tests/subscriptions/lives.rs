//! Subscriptions outlive the servers' processes, sessions and streams.

use std::time::Duration;

use mcpr_tests::{Fake, Gateway, wait_for};
use serde_json::json;

use crate::LAST;
use crate::counting::listened;
use crate::ear::Way;
use crate::stands::{Kind, before, exposed, telling, touch};

/// Kills a server, which comes back.
async fn kill(kind: Kind, fake: &Fake, gateway: &Gateway) {
    match kind {
        Kind::SessionPipe | Kind::StatelessPipe => {
            let pid = gateway.server("a").await["pid"].to_string();
            let killed = std::process::Command::new("kill").args(["-9", &pid]).status();
            assert!(killed.unwrap().success(), "{pid} could be killed");
        }
        _ => fake.restart(),
    }
}

/// How often the server was asked to tell of `file:///a`.
fn times_asked(fake: &Fake) -> usize {
    let listens = listened(fake);
    let named = |uris: &&serde_json::Value| uris.as_array().unwrap().contains(&json!("file:///a"));
    fake.received_of("resources/subscribe").len() + listens.iter().filter(named).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_after_the_loss_of_a_server_everything_is_asked_for_anew() {
    for (kind, fake, gateway) in before(&Kind::ALL, telling).await {
        let mut session = Way::SessionHttp.hears(&gateway, &["file:///a"]).await;
        let leaves = Way::SessionPipe.hears(&gateway, &["file:///a"]).await;
        let mut listen = Way::StatelessHttp.hears(&gateway, &[&exposed("file:///a")]).await;
        leaves.leaves(&["file:///a"]).await;
        assert_eq!(times_asked(&fake), 1, "{kind:?}");

        kill(kind, &fake, &gateway).await;

        // What changed meanwhile went unheard, so it counts as changed.
        assert_eq!(session.hears_of().await, "file:///a", "{kind:?}");
        assert_eq!(listen.hears_of().await, exposed("file:///a"), "{kind:?}");
        assert_eq!(times_asked(&fake), 2, "{kind:?}: once in each life");
        touch(&gateway, "file:///a").await;
        assert_eq!(session.hears_of().await, "file:///a", "{kind:?}");
        assert_eq!(listen.hears_of().await, exposed("file:///a"), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_after_the_expiry_of_a_session_everything_is_asked_for_anew() {
    let short = || telling().set("ttl", json!(6));
    let (_, fake, gateway) = before(&[Kind::SessionHttp], short).await.remove(0);
    let mut ear = Way::StatelessHttp.hears(&gateway, &["file:///a"]).await;
    let mut bystander = Way::SessionHttp.hears(&gateway, &[LAST]).await;

    let touch_nothing = r#"{"uri":"file:///none"}"#;
    wait_for(Duration::from_secs(20), "another session", async || {
        gateway.stateless().call("a_touch", touch_nothing).await;
        (fake.received_of("initialize").len() >= 2).then_some(())
    })
    .await;

    assert_eq!(
        ear.hears_of().await,
        "file:///a",
        "what changed meanwhile went unheard"
    );
    assert_eq!(bystander.hears_of().await, LAST);
    touch(&gateway, "file:///a").await;
    assert_eq!(ear.hears_of().await, "file:///a");
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_a_subscription_made_while_a_server_comes_back_is_answered_when_it_is_there() {
    for (kind, fake, gateway) in before(&[Kind::SessionPipe, Kind::StatelessPipe], telling).await {
        kill(kind, &fake, &gateway).await;
        let mut ear = Way::SessionHttp.hears(&gateway, &["file:///a"]).await;
        touch(&gateway, "file:///a").await;
        assert_eq!(ear.hears_of().await, "file:///a", "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b106_an_idle_server_is_woken_by_a_subscription_and_kept_awake_by_it() {
    let lazy = json!({ "lazy": true, "stopAfterIdle": "200ms" });
    let (kept, clock) = (telling().stdio(), telling().stdio());
    let gateway = mcpr_tests::gateway()
        .fake_with("a", &kept, lazy.clone())
        .fake_with("clock", &clock, lazy)
        .start()
        .await;
    for name in ["a", "clock"] {
        gateway
            .await_server(name, |server| server["state"] == "idle" && server["tools"] == 1)
            .await;
    }
    let mut ear = Way::StatelessHttp.hears(&gateway, &[&exposed("file:///a")]).await;
    assert_eq!(
        ear.accepted()["resourceSubscriptions"],
        json!([exposed("file:///a")])
    );

    gateway
        .stateless()
        .call("clock_touch", r#"{"uri":"file:///a"}"#)
        .await;
    gateway.await_state("clock", "idle").await;

    assert_eq!(gateway.server("a").await["state"], "ok", "it is in use");
    touch(&gateway, "file:///a").await;
    assert_eq!(ear.hears_of().await, exposed("file:///a"));
    ear.leaves(&[]).await;
    gateway.await_state("a", "idle").await;
}
