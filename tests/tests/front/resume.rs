//! Streams of a session that are resumed after their connection was lost (`protocol.md` 6).

use mcpr_tests::client::Session;
use mcpr_tests::http::{Connection, Event, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::auth::token;
use crate::refusal;
use crate::wire::Wire;

const LAST_EVENT: &str = "last-event-id";
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"a_x","_meta":{"progressToken":1}}}"#;

/// A gateway before a server that reports progress `count` times during a call.
async fn reporting(count: usize, interval: f64) -> (Fake, Gateway) {
    let progress = json!({ "count": count, "interval": interval });
    let fake = Fake::script().tool("x").set("progress", progress).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

/// Begins the call, and gives its connection and the id of the event that its stream begins with.
async fn begun(client: &Session) -> (Connection, String) {
    let (head, mut connection) = client.post(CALL).open(client.port).await;
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    let id = connection.any_event().await.unwrap().id.unwrap();
    (connection, id)
}

/// A GET of what follows an event.
fn after(client: &Session, id: &str) -> Request {
    client.in_session(Request::get("/mcp")).header(LAST_EVENT, id)
}

/// What follows an event, to the end of its stream.
async fn rest(client: &Session, id: &str) -> Vec<Event> {
    let answer = after(client, id).send(client.port).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.all_events()
}

/// The progress that each event reports; the answer to the call is the last.
fn progress(events: &[Event]) -> Vec<u64> {
    let (last, notes) = events.split_last().unwrap();
    assert_eq!(last.message()["id"], "c");
    notes
        .iter()
        .map(|note| note.message()["params"]["progress"].as_u64().unwrap())
        .collect()
}

async fn idle(gateway: &Gateway) {
    gateway.await_server("a", |server| server["inFlight"] == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_connection_is_cut_is_read_on_while_it_goes_on_and_after_its_end() {
    let (fake, gateway) = reporting(5, 0.1).await;
    let client = gateway.client().await;
    let (mut connection, _) = begun(&client).await;
    let first = connection.event().await.unwrap();
    assert_eq!(first.message()["params"]["progress"], 1);
    connection.reset();
    let id = first.id.unwrap();

    let live = rest(&client, &id).await;
    assert_eq!(progress(&live), [2, 3, 4, 5], "each once, the answer last");
    idle(&gateway).await;
    assert_eq!(rest(&client, &id).await, live, "the same after its end");
    assert_eq!(
        progress(&rest(&client, live[1].id.as_ref().unwrap()).await),
        [4, 5]
    );
    assert_eq!(fake.received_of("notifications/cancelled").len(), 0);
    assert_eq!(fake.received_of("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_nobody_reads_is_kept_up_to_the_newest_256_events() {
    let (_fake, gateway) = reporting(300, 0.0).await;
    let client = gateway.client().await;
    let (connection, id) = begun(&client).await;
    connection.reset();
    idle(&gateway).await;
    let events = rest(&client, &id).await;
    let progress = progress(&events);
    assert_eq!((events.len(), progress.last()), (256, Some(&300)));
    assert!(progress.is_sorted(), "{progress:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event_of_a_session_has_an_id_and_only_2025_11_25_begins_with_one() {
    let (_fake, gateway) = reporting(1, 0.0).await;
    let mut ids = Vec::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = gateway.client_of(version).await;
        for _ in 0..2 {
            let events = client.post(CALL).send(gateway.port).await.all_events();
            assert_eq!(
                events.len(),
                2 + usize::from(version == "2025-11-25"),
                "{version}"
            );
            ids.extend(events.iter().map(|event| event.id.clone().unwrap()));
        }
        let (first, mut stream) = (ids.len(), client.stream().await);
        if version == "2025-11-25" {
            let priming = stream.any_event().await.unwrap();
            assert_eq!((&*priming.data, priming.retry.as_deref()), ("", Some("1000")));
            ids.push(priming.id.unwrap());
        }
        assert_eq!(ids.len() - first, usize::from(version == "2025-11-25"));
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "no id is used twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_the_stateless_era_have_no_ids_and_cannot_be_resumed() {
    let (_fake, gateway) = reporting(2, 0.0).await;
    let stateless = gateway.stateless();
    let params = r#""name":"a_x","arguments":{}"#;
    let text = stateless
        .text("1", "tools/call", params)
        .replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#);
    let call = stateless
        .post(&text, "tools/call", Some("a_x"))
        .header(LAST_EVENT, "0-1-1");
    let events = call.send(gateway.port).await.all_events();
    assert_eq!(events.len(), 3);
    assert!(
        events
            .iter()
            .all(|event| event.id.is_none() && event.retry.is_none())
    );
    let get = call.verb("GET").body("").header("accept", "text/event-stream");
    assert_eq!(get.send(gateway.port).await.status(), 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_03_an_event_id_is_good_in_its_own_session_and_for_its_own_principal_alone() {
    let (_fake, gateway) = reporting(1, 0.0).await;
    let (client, other) = (gateway.client().await, gateway.client().await);
    let (connection, id) = begun(&client).await;
    let (_theirs, other_id) = begun(&other).await;
    connection.reset();
    idle(&gateway).await;

    for id in [
        id.clone(),
        id.replace("-1-", "-7-"),
        format!("{id}9"),
        other_id.replace("-1-", "-2-"),
    ] {
        let answer = after(&other, &id).send(gateway.port).await;
        assert_eq!(refusal(&answer), (405, -32600, Value::Null), "{id}");
    }
    let stranger = gateway.another_token(&["read", "call"]).await;
    let foreign = after(&client, &id).replace("authorization", &format!("Bearer {stranger}"));
    assert_eq!(refusal(&foreign.send(gateway.port).await).0, 404);
    assert_eq!(progress(&rest(&client, &id).await), [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_was_read_to_its_end_says_so_in_a_way_that_ends_the_asking() {
    let (_fake, gateway) = reporting(1, 0.0).await;
    let client = gateway.client().await;
    let events = client.post(CALL).send(gateway.port).await.events();
    let last = events[1].id.as_ref().unwrap();
    let answer = after(&client, last).send(gateway.port).await;
    assert_eq!(
        (refusal(&answer).0, answer.head.header("allow")),
        (405, Some("POST"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_that_came_last_gets_the_events() {
    let (_fake, gateway) = reporting(1000, 0.02).await;
    let client = gateway.client().await;
    let (mut first, id) = begun(&client).await;
    let (_, mut second) = after(&client, &id).open(gateway.port).await;
    let event = second.event().await.unwrap();
    assert_eq!(event.message()["params"]["progress"], 1);
    let (_, mut third) = after(&client, &id).open(gateway.port).await;
    for older in [&mut first, &mut second] {
        while older.event().await.is_some() {}
    }
    assert_eq!(
        third.event().await.unwrap(),
        event,
        "it gets all that follows its own id"
    );
    assert_eq!(gateway.server("a").await["inFlight"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_after_its_connection_was_lost_has_no_answer() {
    let (fake, gateway) = reporting(1000, 0.05).await;
    let client = gateway.client().await;
    let (connection, id) = begun(&client).await;
    connection.reset();
    let (_, mut resumed) = after(&client, &id).open(gateway.port).await;
    let mut seen = resumed.event().await.unwrap();
    client
        .notify("notifications/cancelled", r#"{"requestId":"c"}"#)
        .await;
    while let Some(event) = resumed.event().await {
        assert_eq!(event.message()["method"], "notifications/progress");
        seen = event;
    }
    fake.await_received("notifications/cancelled", 1).await;
    let again = after(&client, seen.id.as_ref().unwrap()).send(gateway.port).await;
    assert_eq!(again.status(), 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn b34_the_end_of_a_session_ends_its_resumed_streams_and_forgets_them() {
    let (fake, gateway) = reporting(1000, 0.05).await;
    for way in ["delete", "revoke"] {
        let (secret, token) = token(&gateway, way).await;
        let client = Session::open(gateway.port, &secret, "2025-11-25").await;
        let (connection, id) = begun(&client).await;
        connection.reset();
        let (_, mut resumed) = after(&client, &id).open(gateway.port).await;
        resumed.event().await.unwrap();
        if way == "delete" {
            let delete = client.in_session(Request::new("DELETE", "/mcp"));
            assert_eq!(delete.send(gateway.port).await.status(), 204);
        } else {
            gateway.operate("tokens/revoke", json!({ "which": token })).await;
        }
        while resumed.event().await.is_some() {}
        let status = if way == "delete" { 404 } else { 401 };
        assert_eq!(after(&client, &id).send(gateway.port).await.status(), status);
    }
    fake.await_received("notifications/cancelled", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_broken_stream_for_notices_did_not_bring_is_told_again() {
    let changing = Fake::script().with(r#"{"env_tool":true}"#).stdio();
    let gateway = gateway().fake("a", &changing).ready().await;
    let client = gateway.client().await;
    let mut witness = Wire::open(&gateway).await;
    let is_changed = |message: &Value| message["method"] == "notifications/tools/list_changed";
    let mut stream = client.stream().await;
    let beginning = stream.any_event().await.unwrap().id.unwrap();
    client.call("a_add", "{}").await;
    let first = stream.event().await.unwrap();
    stream.reset();
    client.call("a_add", "{}").await;
    witness.message(is_changed).await;
    witness.message(is_changed).await;

    let (_, mut missed_second) = after(&client, first.id.as_ref().unwrap())
        .open(gateway.port)
        .await;
    let second = missed_second.event().await.unwrap();
    assert!(is_changed(&second.message()) && second.id != first.id);
    let (_, mut missed_both) = after(&client, &beginning).open(gateway.port).await;
    assert_eq!(missed_both.event().await.unwrap(), first);
    assert_eq!(missed_both.event().await.unwrap(), second);
}
