//! How many processes a server on a pipe has: one, and more only while clients would meet.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use mcpr_tests::talk::{Peer, Saying};
use mcpr_tests::{Fake, Gateway, await_no_process, gateway, logged, wait_until};
use serde_json::json;

use crate::pairs::{CONNECTIONS, NAME, always, asks, echo, forms};

const CALL: &str = r#"{"name":"a_ask","arguments":{}}"#;

async fn asking() -> (Fake, Gateway) {
    let fake = asks("elicitation/create", NAME).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

fn processes(fake: &Fake) -> BTreeSet<u32> {
    fake.called_processes().into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_client_alone_has_one_process() {
    let (fake, gateway) = asking().await;
    for peer in gateway.peers(&forms()).await {
        for _ in 0..5 {
            peer.call("a_ask", "{}", echo).await;
        }
    }
    assert_eq!(processes(&fake).len(), 1);
    assert_eq!(fake.received_of("initialize").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_session_share_its_process() {
    let (fake, gateway) = asking().await;
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let calls = (0..5).map(|_| client.converse("tools/call", CALL, echo));
    join_all(calls).await;
    assert_eq!(processes(&fake).len(), 1);
}

/// A client whose call waits for its answer.
async fn waiting(gateway: &Gateway) -> (mcpr_tests::client::Session, mcpr_tests::http::Connection, String) {
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let (_, mut connection) = client.begin("tools/call", CALL).await;
    let question = connection.event().await.unwrap().message();
    (client, connection, question["id"].to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_waits_is_not_in_the_way_of_others() {
    let (fake, gateway) = asking().await;
    let (first, mut connection, id) = waiting(&gateway).await;

    let second = gateway.client_with("2025-11-25", &forms()).await;
    assert!(
        second
            .converse("tools/call", CALL, echo)
            .await
            .text()
            .contains("name for")
    );
    let plain = gateway.client().await.call("a_plain", r#"{"n":1}"#).await;
    assert_eq!(plain["result"]["content"][0]["text"], r#"{"n":1}"#);

    first
        .say(&id, Saying::Result(r#"{"action":"decline"}"#.into()))
        .await;
    let answer = connection.event().await.unwrap().message();
    assert!(
        answer["result"]["content"][0]["text"]
            .to_string()
            .contains("decline")
    );
    assert_eq!(processes(&fake).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_comes_back_to_the_process_that_it_used() {
    let (fake, gateway) = asking().await;
    let (first, connection, id) = waiting(&gateway).await;
    let second = gateway.client_with("2025-11-25", &forms()).await;
    second.converse("tools/call", CALL, echo).await;
    first
        .say(&id, Saying::Result(r#"{"action":"decline"}"#.into()))
        .await;
    drop(connection);
    gateway.await_server("a", |server| server["inFlight"] == 0).await;

    second.converse("tools/call", CALL, echo).await;
    first.converse("tools/call", CALL, echo).await;

    let [one, two, three, four] = fake.called_processes()[..] else {
        panic!("four calls")
    };
    assert!(one != two && two == three && one == four);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_a_limit_to_them_and_the_next_client_waits() {
    let (fake, gateway) = asking().await;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(waiting(&gateway).await);
    }
    assert_eq!(processes(&fake).len(), CONNECTIONS);

    let next = gateway.able(&forms());
    let next = tokio::spawn(async move { Peer::Stateless(next).call("a_ask", "{}", echo).await });
    let (first, _connection, id) = clients.remove(0);
    first
        .say(&id, Saying::Result(r#"{"action":"decline"}"#.into()))
        .await;
    assert!(next.await.unwrap().text().contains("name for"));
    assert_eq!(processes(&fake).len(), CONNECTIONS);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_too_long_for_a_connection_is_told_so() {
    let fake = asks("elicitation/create", NAME).stdio();
    let own = json!({ "queue": { "wait": "200ms" } });
    let gateway = gateway().fake_with("a", &fake, own).ready().await;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(waiting(&gateway).await);
    }
    let answer = gateway
        .client_with("2025-11-25", &forms())
        .await
        .call("a_ask", "{}")
        .await;
    let data = &answer["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["retry"]),
        (&json!("busy"), &json!("safe")),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_further_processes_at_the_end() {
    let (fake, gateway) = asking().await;
    let _clients = join_all((0..3).map(|_| waiting(&gateway))).await;
    let mark = fake.spec_path().display().to_string();
    assert_eq!(mcpr_tests::processes(&mark).len(), 3);
    gateway.stop().await;
    await_no_process(&mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_further_process_that_is_lost_is_replaced_at_the_next_need() {
    let (fake, gateway) = asking().await;
    let (first, _connection, id) = waiting(&gateway).await;
    let (second, mut lost, _) = waiting(&gateway).await;
    let pid = *fake.called_processes().last().unwrap();
    std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();

    let told = lost
        .message(|message| message["error"].is_object())
        .await
        .unwrap();
    assert_eq!(told["error"]["data"]["reason"], "outcome_unknown", "{told}");
    let again = second.converse("tools/call", CALL, echo).await;
    assert!(again.text().contains("name for"), "{again:?}");
    assert_eq!(processes(&fake).len(), 3);
    first
        .say(&id, Saying::Result(r#"{"action":"decline"}"#.into()))
        .await;
    assert_eq!(gateway.server("a").await["state"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_can_run_only_once_has_its_clients_one_after_the_other() {
    logged();
    let fake = asks("elicitation/create", NAME).stdio();
    let folder = tempfile::tempdir().unwrap();
    let [program, spec] = fake.command();
    let once = format!(
        "mkdir {}/lock || exit 1; exec {program} {spec}",
        folder.path().display()
    );
    // Other tests log of servers by other names; its tools are called as theirs are.
    let own = json!({ "prefix": "a" });
    let gateway = gateway()
        .server(
            "single",
            json!({ "command": "sh", "args": ["-c", once], "mcpr": own }),
        )
        .ready()
        .await;
    let (first, _connection, id) = waiting(&gateway).await;
    let second = gateway.able(&forms());
    let second = tokio::spawn(async move {
        Peer::Stateless(second)
            .call("a_ask", "{}", always(r#"{"action":"decline"}"#))
            .await
    });
    let tried = || {
        let told = |line: &String| line.contains("single") && line.contains("a further connection");
        logged().iter().any(told).then_some(())
    };
    wait_until(Duration::from_secs(10), "a further process is tried", tried).await;

    first
        .say(&id, Saying::Result(r#"{"action":"decline"}"#.into()))
        .await;

    assert!(second.await.unwrap().text().contains("decline"));
    assert_eq!(processes(&fake).len(), 1);
}
