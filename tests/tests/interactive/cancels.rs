//! Calls that are given up while their servers ask, and servers that do not hear of it.

use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::talk::{Saying, Talk};
use mcpr_tests::{Fake, Gateway, Script, gateway};
use serde_json::{Value, json};

use crate::pairs::{NAME, asks, echo, forms, never, sessions};

const CALL: &str = r#"{"name":"a_ask","arguments":{}}"#;

/// Sends a call under the id `call`.
async fn send(client: &Session, params: &str) -> Connection {
    let text = format!(r#"{{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{params}}}"#);
    let mut connection = Connection::open(client.port).await;
    connection.send(&client.post(&text).bytes()).await;
    connection
}

async fn cancel(client: &Session) {
    client
        .notify("notifications/cancelled", r#"{"requestId":"call"}"#)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_cancel_takes_the_question_back_and_answers_the_server() {
    for place in sessions(|| asks("elicitation/create", NAME)).await {
        let client = place.gateway.client_with("2025-11-25", &forms()).await;
        let mut connection = send(&client, CALL).await;
        connection.head().await;
        let question = connection.event().await.unwrap().message();
        cancel(&client).await;

        let told = connection.event().await.unwrap().message();
        assert_eq!(told["method"], "notifications/cancelled");
        assert_eq!(told["params"]["requestId"], question["id"]);
        assert!(connection.event().await.is_none(), "no answer");
        assert!(place.fake.await_answers(1).await[0].contains(r#"{"action":"cancel"}"#));
        let call = place.fake.received_of("tools/call")[0].message()["id"].clone();
        assert_eq!(
            place.fake.await_received("notifications/cancelled", 1).await[0].params()["requestId"],
            call
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_stateless_call_that_came_back_is_cancelled_by_closing_its_stream() {
    let rounds = json!([[{ "method": "elicitation/create" }], []]);
    let script = || {
        Fake::script()
            .tool("ask")
            .interview(json!({ "rounds": rounds, "pause": 0.3 }))
    };
    for place in sessions(script).await {
        let able = place.gateway.able(&forms());
        let talk: Talk = able.call("a_ask", "{}", "").await;
        let retry = talk.retry(&[(talk.questions[0].key.clone(), r#"{"action":"decline"}"#.into())]);
        let params = format!("{}{retry}", mcpr_tests::talk::call("a_ask", "{}"));
        let mut connection = Connection::open(able.client.port).await;
        connection.send(&able.post("tools/call", &params).bytes()).await;
        place.fake.await_answers(1).await;

        drop(connection);

        let call = place.fake.received_of("tools/call")[0].message()["id"].clone();
        assert_eq!(
            place.fake.await_received("notifications/cancelled", 1).await[0].params()["requestId"],
            call
        );
    }
}

/// A server that goes on with cancelled calls, and asks after a while.
fn stubborn() -> Script {
    let ask =
        json!({ "method": "elicitation/create", "params": serde_json::from_str::<Value>(NAME).unwrap() });
    Fake::script()
        .tool("ask")
        .tool("slow")
        .interview(json!({ "on": ["tools/call:ask"], "rounds": [[ask]], "pause": 0.3 }))
        .delay("tools/call:slow", 0.6)
}

/// A cancelled call of one client, and a call of another that lasts until after the question.
async fn cancelled_beside_another(gateway: &Gateway, fake: &Fake) {
    let (one, two) = (
        gateway.client_with("2025-11-25", &forms()).await,
        gateway.client_with("2025-11-25", &forms()).await,
    );
    let _connection = send(&one, CALL).await;
    fake.await_received("tools/call", 1).await;
    cancel(&one).await;
    fake.await_received("notifications/cancelled", 1).await;

    let talk = two
        .converse("tools/call", r#"{"name":"a_slow","arguments":{"n":2}}"#, never)
        .await;

    assert_eq!(talk.text(), r#"{"n":2}"#);
    assert!(fake.await_answers(1).await[0].contains(r#"{"action":"cancel"}"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_what_a_cancelled_call_still_asks_is_asked_of_nobody_else() {
    for fake in [stubborn().stdio(), stubborn().sse()] {
        let gateway = gateway().fake("a", &fake).ready().await;
        cancelled_beside_another(&gateway, &fake).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b37_not_even_where_all_share_a_pipe() {
    let fake = stubborn().stdio();
    let gateway = gateway()
        .fake_with("a", &fake, json!({ "isolation": "shared" }))
        .ready()
        .await;
    cancelled_beside_another(&gateway, &fake).await;
    let processes = fake.called_processes();
    assert_eq!(processes[0], processes[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cancels_and_calls_again_keeps_its_process() {
    let fake = stubborn().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client_with("2025-11-25", &forms()).await;
    let _connection = send(&client, CALL).await;
    fake.await_received("tools/call", 1).await;
    cancel(&client).await;
    let talk = client.converse("tools/call", CALL, |question| match question.method.as_str() {
        "elicitation/create" => echo(question),
        _ => Saying::Nothing,
    });
    assert!(talk.await.text().contains("name for"));
    let processes = fake.called_processes();
    assert_eq!(processes[0], processes[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_client_went_before_anything_was_said_asks_nobody() {
    let ask = json!([[{ "method": "elicitation/create" }]]);
    for era in ["session", "stateless"] {
        let interview = json!({ "on": ["tools/call:ask"], "rounds": ask, "pause": 0.2 });
        let fake = Fake::script()
            .tool("ask")
            .interview(interview)
            .delay("tools/call", 0.2);
        let fake = fake.set("era", json!(era)).stdio();
        let gateway = gateway().fake("a", &fake).ready().await;
        let client = gateway.client_with("2025-11-25", &forms()).await;
        let connection = send(&client, CALL).await;
        fake.await_received("tools/call", 1).await;

        drop(connection);

        let said = match era {
            "session" => fake.await_answers(1).await[0].clone(),
            _ => fake.await_received("tools/call", 2).await[1].text.clone(),
        };
        assert!(said.contains(r#"{"action":"cancel"}"#), "{said}");
        gateway.await_server("a", |server| server["inFlight"] == 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_client_that_cancels_and_calls_again_keeps_its_process() {
    let fake = stubborn().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let able = gateway.able(&forms());
    let mut connection = Connection::open(able.client.port).await;
    let params = mcpr_tests::talk::call("a_slow", "{}");
    connection.send(&able.post("tools/call", &params).bytes()).await;
    fake.await_received("tools/call", 1).await;
    drop(connection);
    fake.await_received("notifications/cancelled", 1).await;
    gateway.await_server("a", |server| server["inFlight"] == 0).await;

    assert!(able.call("a_ask", "{}", "").await.needs_more());
    let processes = fake.called_processes();
    assert_eq!(processes[0], processes[1]);
}
