//! The setting `isolation`: who shares a connection with whom.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use mcpr_tests::http::Request;
use mcpr_tests::talk::{Able, Peer};
use mcpr_tests::{Fake, Gateway, Script, gateway, processes, wait_until};
use serde_json::json;

use crate::pairs::{NAME, asks, echo, forms, never};

const CALL: &str = r#"{"name":"a_ask","arguments":{}}"#;

async fn isolated(isolation: &str, script: Script) -> (Fake, Gateway) {
    let fake = script.stdio();
    let own = json!({ "isolation": isolation });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    (fake, gateway)
}

fn asking() -> Script {
    asks("elicitation/create", NAME)
}

/// The processes that calls came to, once each.
fn called(fake: &Fake) -> BTreeSet<u32> {
    fake.called_processes().into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_a_lone_call_may_ask_its_client() {
    let (fake, gateway) = isolated("shared", asking()).await;
    for peer in gateway.peers(&forms()).await {
        assert!(peer.call("a_ask", "{}", echo).await.text().contains("name for"));
    }
    assert_eq!(called(&fake).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_a_question_that_could_be_about_two_calls_is_declined() {
    let script = asking().delay("tools/call:plain", 5.0);
    let (fake, gateway) = isolated("shared", script).await;
    let other = gateway.client().await;
    let (text, port) = (
        other.text("tools/call", r#"{"name":"a_plain","arguments":{}}"#),
        other.port,
    );
    let mut open = mcpr_tests::http::Connection::open(port).await;
    open.send(&other.post(&text).bytes()).await;
    fake.await_received("tools/call", 1).await;

    for peer in gateway.peers(&forms()).await {
        assert!(
            peer.call("a_ask", "{}", never)
                .await
                .text()
                .contains(r#"{"action":"cancel"}"#)
        );
    }
    assert_eq!(called(&fake).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_each_has_a_process_for_its_whole_life() {
    let (fake, gateway) = isolated("session", asking()).await;
    let clients = [
        gateway.client_with("2025-11-25", &forms()).await,
        gateway.client().await,
    ];
    for client in [&clients[0], &clients[1], &clients[0], &clients[1]] {
        client.converse("tools/call", CALL, echo).await;
    }
    let [one, two, three, four] = fake.called_processes()[..] else {
        panic!("four calls")
    };
    assert!(one != two && one == three && two == four);
    let main = fake.received_of("tools/list")[0].pid;
    assert!(
        main != one && main != two,
        "the process that lists belongs to nobody"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn session_its_process_ends_with_it() {
    let (fake, gateway) = isolated("session", asking()).await;
    let (first, second) = (gateway.client().await, gateway.client().await);
    first.call("a_plain", "{}").await;
    second.call("a_plain", "{}").await;
    let mark = fake.spec_path().display().to_string();
    assert_eq!(processes(&mark).len(), 3);

    first
        .in_session(Request::new("DELETE", "/mcp"))
        .send(first.port)
        .await;

    let first = fake.called_processes()[0];
    let gone = || (!processes(&mark).contains(&first)).then_some(());
    wait_until(std::time::Duration::from_secs(10), "the process ends", gone).await;
    assert_eq!(
        second.call("a_plain", "{}").await["result"]["content"][0]["text"],
        "{}"
    );
    assert_eq!(called(&fake).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_stateless_clients_have_one_for_each_principal() {
    let (fake, gateway) = isolated("session", asking()).await;
    let other = gateway.another_token(&["read", "call"]).await;
    let one = gateway.able(&forms());
    let mut two = one.clone();
    two.client.token = other;
    for able in [&one, &two, &one, &two] {
        Peer::Stateless(Able::clone(able)).call("a_ask", "{}", echo).await;
    }
    let [one, two, three, four] = fake.called_processes()[..] else {
        panic!("four calls")
    };
    assert!(one != two && one == three && two == four);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_two_calls_of_a_session_share_and_are_asked_at_once() {
    let (fake, gateway) = isolated("session", asking()).await;
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let talks = join_all((0..4).map(|_| client.converse("tools/call", CALL, echo))).await;
    assert!(talks.iter().all(|talk| talk.text().contains("name for")));
    assert_eq!(called(&fake).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn call_one_at_a_time_on_each() {
    let (fake, gateway) = isolated("call", asking().delay("tools/call:plain", 0.3)).await;
    let client = gateway.client().await;
    join_all((0..3).map(|_| client.call("a_plain", "{}"))).await;
    assert_eq!(called(&fake).len(), 3);
    client.call("a_plain", "{}").await;
    assert_eq!(called(&fake).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn call_over_http_each_has_a_session() {
    let fake = asking()
        .with(r#"{"session":true}"#)
        .delay("tools/call:plain", 0.3)
        .http();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "isolation": "call" }))
        .ready()
        .await;
    let client = gateway.client().await;
    join_all((0..2).map(|_| client.call("a_plain", "{}"))).await;
    let calls = fake.received_of("tools/call");
    assert_ne!(
        calls[0].header("mcp-session-id"),
        calls[1].header("mcp-session-id")
    );
}
