//! What a server gets to see in each of its lives, and no more than that.

use std::collections::BTreeSet;

use mcpr_tests::{Fake, Received, gateway};
use serde_json::json;

use crate::loss::kill;
use crate::{impatient, text};

#[tokio::test(flavor = "multi_thread")]
async fn b88_every_life_begins_with_the_handshake_in_its_order() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    for life in 1..=3_u64 {
        client.call("a_t", "{}").await;
        kill(&gateway.server("a").await["pid"]);
        gateway
            .await_server("a", |server| {
                server["state"] == "ok" && server["starts"] == life + 1
            })
            .await;
    }
    client.call("a_t", "{}").await;

    let received = fake.received();
    for life in received.chunk_by(|one, next| one.pid == next.pid) {
        let methods: Vec<_> = life
            .iter()
            .filter_map(|received| received.method.as_deref())
            .filter(|method| *method != "server/discover")
            .collect();
        assert_eq!(
            methods,
            [
                "initialize",
                "notifications/initialized",
                "tools/list",
                "tools/call"
            ]
        );
    }
    assert_eq!(fake.received_of("initialize").len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn b88_over_http_the_session_is_named_from_the_second_message_on() {
    let fake = Fake::script().tool("t").with(r#"{"session": true}"#).http();
    let gateway = gateway().fake_with("a", &fake, impatient()).ready().await;
    let client = gateway.client().await;
    client.call("a_t", "{}").await;
    fake.restart();
    client.call("a_t", "{}").await;

    let session = |received: &Received| {
        received
            .header("mcp-session-id")
            .first()
            .map(|id| (*id).to_owned())
    };
    let all = fake.received();
    for life in all.chunk_by(|one, next| one.pid == next.pid) {
        let opened = life
            .iter()
            .position(|received| received.method.as_deref() == Some("initialize"))
            .unwrap();
        assert_eq!(session(&life[opened]), None);
        let later: BTreeSet<_> = life[opened + 1..].iter().map(session).collect();
        assert_eq!(later.len(), 1, "one session in a life: {later:?}");
        assert!(later.first().unwrap().is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b100_a_call_costs_one_message() {
    for fake in [
        Fake::script().tool("t").stdio(),
        Fake::script().tool("t").with(r#"{"session": true}"#).http(),
    ] {
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client().await;
        for n in 0..100 {
            let arguments = format!(r#"{{"n":{n}}}"#);
            assert_eq!(text(&client.call("a_t", &arguments).await), arguments);
        }

        let count = |method| fake.received_of(method).len();
        let methods = [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            "server/discover",
        ];
        assert_eq!(methods.map(count), [1, 1, 1, 100, 1]);
        let messages = fake
            .received()
            .iter()
            .filter(|received| received.method.is_some())
            .count();
        assert_eq!(messages, 104);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b72_clients_and_refreshes_share_one_process_and_one_handshake() {
    let notify = json!([{ "method": "notifications/tools/list_changed" }]);
    let fake = Fake::script().tool("t").set("notify", notify).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    for round in 2..=5 {
        let (session, stateless) = (gateway.client().await, gateway.stateless());
        tokio::join!(
            session.call("a_t", "{}"),
            stateless.call("a_t", "{}"),
            session.tools()
        );
        fake.await_received("tools/list", round).await;
    }

    let pids: BTreeSet<_> = fake.received().iter().map(|received| received.pid).collect();
    assert_eq!((pids.len(), fake.received_of("initialize").len()), (1, 1));
}
