//! Looking after the gateway from the embedding program: operations as values, and events.

use mcpr_core::admin::{DisableServer, ErrorCode, EventKind, ListServers, ServerState};
use mcpr_tests::{Fake, gateway};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn emb_01_a_program_operates_its_gateway_by_values() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let disable = |name: &str| DisableServer { name: name.into() };

    gateway
        .core
        .operate(disable("a"))
        .await
        .expect("it is turned off");
    let servers = gateway
        .core
        .operate(ListServers {})
        .await
        .expect("a list")
        .servers;
    let missing = gateway
        .core
        .operate(disable("b"))
        .await
        .expect_err("there is none");

    assert_eq!(servers[0].state, ServerState::Disabled);
    assert_eq!(missing.code, ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn emb_01_a_program_hears_what_happens_until_the_gateway_ends() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut calls = gateway.core.events(&[EventKind::Call]);
    let mut all = gateway.core.events(&[]);

    gateway
        .core
        .client()
        .call("a_x", &json!({}))
        .await
        .expect("a result");
    let call = calls.next().await.and_then(|event| event.call).expect("a call");
    assert_eq!((call.tool.as_deref(), &*call.status), (Some("x"), "ok"));
    gateway.operate("servers/disable", json!({ "name": "a" })).await;
    let told = async {
        loop {
            let event = all.next().await.expect("there is more to come");
            if event.state == Some(ServerState::Disabled) {
                return event.server;
            }
        }
    };
    assert_eq!(told.await.as_deref(), Some("a"));

    gateway.core.leave();
    assert!(calls.next().await.is_none());
}
