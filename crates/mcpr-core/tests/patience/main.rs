//! How long things may take that wait for a person; time is paused.

mod inside;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::yield_now;
use tokio::time::advance;

use crate::inside::{Client, Server};

/// Lets time pass, and everybody do what is due then.
async fn pass(seconds: u64) {
    advance(Duration::from_secs(seconds)).await;
    for _ in 0..100 {
        yield_now().await;
    }
}

/// What is brought back with an answer to the first question of a round.
fn brought(asked: &Value, answers: Value) -> Value {
    json!({ "requestState": asked["result"]["requestState"], "inputResponses": answers })
}

#[tokio::test(start_paused = true)]
async fn a_person_has_ten_minutes_for_a_question() {
    let server = Server::default();
    let gateway = server.gateway().await;
    let mut client = Client::session(&gateway).await;
    client.call(1, "a_ask").await;
    let question = client.next().await;
    let main = &server.connections()[0];

    pass(599).await;
    assert!(main.answers().is_empty());
    pass(1).await;

    assert_eq!(main.answers(), [r#"{"action":"cancel"}"#]);
    let told = client.next().await;
    assert_eq!(
        (&told["method"], &told["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    let answer = client.next().await;
    assert_eq!(answer["result"]["content"][0]["text"], r#"{"action":"cancel"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_come_back_in_ten_minutes_is_given_up() {
    let server = Server::default();
    let gateway = server.gateway().await;
    let mut client = Client::new(&gateway);
    let asked = client.stateless(1, "a_ask", json!({})).await;
    let main = &server.connections()[0];

    pass(595).await;
    assert!(main.answers().is_empty() && main.cancelled().is_empty());
    pass(10).await;

    assert_eq!(main.answers(), [r#"{"action":"cancel"}"#]);
    assert_eq!(main.cancelled().len(), 1);
    let late = client
        .stateless(
            2,
            "a_ask",
            brought(&asked, json!({ "r1-1": { "action": "accept" } })),
        )
        .await;
    assert_eq!(late["error"]["code"], -32602, "{late}");
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_without_all_answers_has_ten_minutes_again() {
    let server = Server::default();
    let gateway = server.gateway().await;
    let mut client = Client::new(&gateway);
    let asked = client.stateless(1, "a_ask", json!({})).await;
    pass(500).await;
    let again = client.stateless(2, "a_ask", brought(&asked, json!({}))).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    pass(500).await;

    let done = client
        .stateless(
            3,
            "a_ask",
            brought(&again, json!({ "r1-1": { "action": "decline" } })),
        )
        .await;

    assert_eq!(
        done["result"]["content"][0]["text"], r#"{"action":"decline"}"#,
        "{done}"
    );
}

/// Two sessions that called at once, so that the second has a connection of its own.
async fn two_at_once(server: &Server) -> (std::sync::Arc<mcpr_core::Gateway>, [Client; 2]) {
    let gateway = server.gateway().await;
    let mut clients = [Client::session(&gateway).await, Client::session(&gateway).await];
    let mut questions = Vec::new();
    for client in &mut clients {
        client.call(1, "a_ask").await;
        questions.push(client.next().await);
    }
    for (client, question) in clients.iter_mut().zip(&questions) {
        client.answer(question).await;
        client.next().await;
    }
    (gateway, clients)
}

#[tokio::test(start_paused = true)]
async fn a_further_connection_ends_after_five_minutes_without_use() {
    let server = Server::default();
    let (_gateway, mut clients) = two_at_once(&server).await;
    assert_eq!(server.connections().len(), 2);
    pass(200).await;
    clients[1].call(2, "a_ask").await;
    let question = clients[1].next().await;
    clients[1].answer(&question).await;
    clients[1].next().await;

    pass(299).await;
    assert!(
        server
            .connections()
            .iter()
            .all(|connection| !connection.is_closed())
    );
    pass(2).await;

    let closed: Vec<_> = server
        .connections()
        .iter()
        .map(|connection| connection.is_closed())
        .collect();
    assert_eq!(closed, [false, true]);
    clients[1].call(3, "a_ask").await;
    clients[1].next().await;
    assert_eq!(server.connections().len(), 2, "the first connection is free");
}

#[tokio::test(start_paused = true)]
async fn b37_a_cancelled_call_keeps_others_away_for_a_minute() {
    let server = Server::default();
    let gateway = server.gateway().await;
    let (mut one, mut two) = (Client::session(&gateway).await, Client::session(&gateway).await);
    one.call(1, "a_wait").await;
    pass(1).await;
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    one.send(&cancel).await;
    pass(1).await;
    assert_eq!(server.connections()[0].cancelled().len(), 1);

    two.call(1, "a_ask").await;
    two.next().await;
    assert_eq!(server.connections().len(), 2);

    pass(60).await;
    let mut third = Client::session(&gateway).await;
    third.call(1, "a_ask").await;
    third.next().await;
    assert_eq!(server.connections().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_still_waits_after_its_client_came_back_under_an_id_in_use() {
    let server = Server::default();
    let gateway = server.gateway().await;
    let mut client = Client::new(&gateway);
    let asked = client.stateless(1, "a_ask", json!({})).await;
    client.begin_stateless(5, "a_wait", json!({})).await;
    let answers = brought(&asked, json!({ "r1-1": { "action": "decline" } }));

    let twice = client.stateless(5, "a_ask", answers.clone()).await;
    let done = client.stateless(6, "a_ask", answers).await;

    assert_eq!(twice["error"]["code"], -32600, "{twice}");
    assert_eq!(
        done["result"]["content"][0]["text"], r#"{"action":"decline"}"#,
        "{done}"
    );
}
