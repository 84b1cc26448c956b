//! Several messages at once, which only 2025-03-26 has (`protocol.md` 2).

use std::collections::BTreeSet;

use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;
use crate::wire::Wire;

const REVISION: &str = "2025-03-26";
const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":77,"result":{}}"#;

fn call(id: &str, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":{id}}}}}}}"#
    )
}

fn array(members: &[&str]) -> String {
    format!("[{}]", members.join(","))
}

/// The ids of the answers among some messages, as JSON texts.
fn ids<'m>(messages: impl IntoIterator<Item = &'m Value>) -> BTreeSet<String> {
    let answers = messages.into_iter().filter(|message| message["method"].is_null());
    answers.map(|answer| answer["id"].to_string()).collect()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

/// A gateway before a server with a quiet tool and one that reports progress.
async fn serving() -> ([Fake; 2], Gateway) {
    let quiet = Fake::script().tool("x").delay("tools/call", 0.4).stdio();
    let loud = Fake::script()
        .tool("x")
        .with(r#"{"progress":{"count":2,"interval":0.05}}"#)
        .stdio();
    let gateway = gateway().fake("a", &quiet).fake("b", &loud).ready().await;
    ([quiet, loud], gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_batch_are_under_way_together_and_answered_in_one_array() {
    let ([fake, _loud], gateway) = serving().await;
    let client = gateway.client_of(REVISION).await;
    let batch = array(&[
        &call("1", "a_x"),
        NOTE,
        PING,
        &call("\"1\"", "a_x"),
        &call("2", "a_none"),
    ]);
    let sending = client.post(&batch);
    let (answer, received) = tokio::join!(sending.send(gateway.port), fake.await_received("tools/call", 2));

    assert!(
        received[1].at - received[0].at < 0.2,
        "the second did not wait for the first"
    );
    assert_eq!(answer.head.header("content-type"), Some("application/json"));
    let answers: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(
        (answers.len(), ids(&answers)),
        (4, set(&["1", "\"1\"", "\"p\"", "2"]))
    );
    let failed = answers.iter().find(|answer| answer["id"] == 2).unwrap();
    assert_eq!(failed["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_in_which_something_streams_is_a_stream_with_one_answer_for_each_request() {
    let (_fakes, gateway) = serving().await;
    let client = gateway.client_of(REVISION).await;
    let batch = array(&[PING, &call("1", "b_x"), &call("2", "b_x"), &call("3", "a_x")]);
    let answer = client.post(&batch).send(gateway.port).await;
    let messages: Vec<Value> = answer.events().iter().map(|event| event.message()).collect();
    assert_eq!(ids(&messages), set(&["\"p\"", "1", "2", "3"]));
    assert_eq!(
        messages.len(),
        4 + 2 * 2,
        "each reports twice under its own token"
    );

    let json = client.post(&batch).replace("accept", "application/json");
    let answers: Vec<Value> = serde_json::from_slice(&json.send(gateway.port).await.body).unwrap();
    assert_eq!(ids(&answers), set(&["\"p\"", "1", "2", "3"]));
    let events = client
        .post(&array(&[PING]))
        .replace("accept", "text/event-stream");
    assert_eq!(events.send(gateway.port).await.events()[0].message()["id"], "p");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_batch_is_resumed_like_any_other() {
    let (_fakes, gateway) = serving().await;
    let client = gateway.client_of(REVISION).await;
    let batch = array(&[&call("1", "b_x"), &call("2", "a_x")]);
    let (_, mut connection) = client.post(&batch).open(gateway.port).await;
    let first = connection.event().await.unwrap().id.unwrap();
    connection.reset();
    let resumed = client
        .in_session(Request::get("/mcp"))
        .header("last-event-id", &first);
    let rest = resumed.send(gateway.port).await.events();
    let messages: Vec<Value> = rest.iter().map(|event| event.message()).collect();
    assert_eq!((messages.len(), ids(&messages)), (3, set(&["1", "2"])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_without_requests_is_accepted_and_not_answered() {
    let gateway = gateway().ready().await;
    let client = gateway.client_of(REVISION).await;
    for members in [&[NOTE][..], &[NOTE, NOTE], &[ANSWER], &[ANSWER, NOTE, ANSWER]] {
        let answer = client.post(&array(members)).send(gateway.port).await;
        assert_eq!(
            (answer.status(), answer.text()),
            (202, String::new()),
            "{members:?}"
        );
    }
}

/// Batches of which nothing may be carried out.
fn refused() -> Vec<String> {
    let call = call("1", "a_x");
    let initialize =
        r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
    let envelope = r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let many: Vec<String> = (0..101)
        .map(|id| PING.replace("\"p\"", &id.to_string()))
        .collect();
    vec![
        "[]".to_owned(),
        array(&[&call, ANSWER]),
        array(&[&call, initialize]),
        array(&[&call, envelope]),
        array(&[&call, PING, &call]),
        format!("[{}]", many.join(",")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_batch_that_may_not_be_is_refused_as_a_whole() {
    let ([fake, _loud], gateway) = serving().await;
    let (client, mut wire) = (
        gateway.client_of(REVISION).await,
        Wire::open_as(&gateway, REVISION).await,
    );
    for batch in refused() {
        let answer = client.post(&batch).send(gateway.port).await;
        assert_eq!(refusal(&answer), (400, -32600, Value::Null), "{batch}");
        wire.send(&batch).await;
        let answer = wire.next().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(-32600), &Value::Null),
            "{batch}"
        );
    }
    let newer = gateway.client().await;
    assert_eq!(
        refusal(&newer.post(&array(&[PING])).send(gateway.port).await).0,
        400
    );
    let lost = client.post(&array(&[PING])).replace("mcp-session-id", "none");
    assert_eq!(refusal(&lost.send(gateway.port).await).0, 404);
    client.call("a_x", "{}").await;
    assert_eq!(fake.received_of("tools/call").len(), 1, "nothing was carried out");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_is_no_message_has_an_error_in_its_place() {
    let gateway = gateway().ready().await;
    let client = gateway.client_of(REVISION).await;
    let nameless = r#"{"jsonrpc":"2.0","id":5}"#;
    let answer = client
        .post(&array(&["7", PING, nameless]))
        .send(gateway.port)
        .await;
    let answers: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    let codes: BTreeSet<String> = answers
        .iter()
        .map(|answer| format!("{} {}", answer["id"], answer["error"]["code"]))
        .collect();
    assert_eq!(codes, set(&["null -32600", "5 -32600", "\"p\" null"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_member_is_cancelled_by_itself() {
    let silent = Fake::script()
        .tool("x")
        .tool("slow")
        .with(r#"{"silent":["tools/call:slow"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &silent).ready().await;
    let client = gateway.client_of(REVISION).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    let batch = array(&[&call("1", "a_x"), &call("2", "a_slow"), cancel]);
    let answer = client.post(&batch).send(gateway.port).await;
    let answers: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(ids(&answers), set(&["1"]));
    let none = client
        .post(&array(&[&call("2", "a_slow"), cancel]))
        .send(gateway.port)
        .await;
    assert_eq!(none.text(), "", "there is nothing to answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_on_a_pipe_is_answered_on_one_line() {
    let ([fake, _loud], gateway) = serving().await;
    let mut wire = Wire::open_as(&gateway, REVISION).await;
    let batch = array(&[&call("1", "a_x"), NOTE, &call("2", "b_x"), &call("3", "a_x"), "7"]);
    wire.send(&array(&[NOTE, ANSWER])).await;
    wire.send(&batch).await;
    fake.await_received("tools/call", 2).await;
    assert_eq!(
        wire.ask("\"p\"", "ping", "{}").await["result"],
        json!({}),
        "it is not waited for"
    );
    let answers = wire.message(Value::is_array).await;
    assert_eq!(ids(answers.as_array().unwrap()), set(&["1", "2", "3", "null"]));
}
