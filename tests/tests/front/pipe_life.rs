//! How a pipe begins and ends (HTTP-07, AGG-12).

use std::time::{Duration, Instant};

use mcpr_tests::{Fake, gateway};
use serde_json::{Value, json};

use crate::pipe::{modern, serving};
use crate::wire::Wire;

#[tokio::test(flavor = "multi_thread")]
async fn http_07_at_the_end_of_input_what_is_under_way_is_still_answered() {
    let fake = Fake::script().tool("x").delay("tools/call", 0.2).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut wire = Wire::open(&gateway).await;
    wire.send(&modern(
        &gateway,
        "\"l\"",
        "subscriptions/listen",
        r#""notifications":{}"#,
    ))
    .await;
    wire.next().await;
    wire.request("1", "tools/call", r#"{"name":"a_x","arguments":{"n":1}}"#)
        .await;
    let began = Instant::now();
    let rest = wire.close().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["content"][0]["text"], r#"{"n":1}"#);
    assert!(
        began.elapsed() < Duration::from_millis(1500),
        "listens and notices hold up no end: {:?}",
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_07_what_takes_too_long_after_the_end_of_input_is_cancelled_at_its_server() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"silent":["tools/call"]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut wire = Wire::open(&gateway).await;
    wire.request("1", "tools/call", r#"{"name":"a_x"}"#).await;
    let call = fake.await_received("tools/call", 1).await;
    assert_eq!(wire.close().await, [Value::Null; 0]);
    let cancel = fake.await_received("notifications/cancelled", 1).await;
    assert_eq!(cancel[0].params()["requestId"], call[0].message()["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_the_first_list_of_a_pipe_waits_for_servers_that_were_never_listed() {
    let fake = Fake::script().tool("x").delay("start", 0.4).stdio();
    let gateway = gateway().fake("a", &fake).start().await;
    let over_http = gateway.client().await.tool_names().await;
    let listed = Wire::open(&gateway).await.ask("1", "tools/list", "{}").await;
    assert_eq!(over_http, [""; 0], "over HTTP it waits for nobody");
    assert_eq!(listed["result"]["tools"][0]["name"], "a_x");
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_that_wait_has_a_limit_and_comes_once() {
    let fake = Fake::script().tool("x").delay("start", 30.0).stdio();
    let gateway = gateway()
        .fake("a", &fake)
        .own("startup", json!({ "listWait": "700ms" }))
        .start()
        .await;
    let mut wire = Wire::open(&gateway).await;
    let began = Instant::now();
    let listed = wire.ask("1", "tools/list", "{}").await;
    let waited = began.elapsed();
    wire.ask("2", "prompts/list", "{}").await;
    assert_eq!(listed["result"]["tools"], json!([]));
    assert_eq!(
        listed["result"]["_meta"]["dev.mcpr/servers"]["a"]["state"],
        "starting"
    );
    assert!(
        waited >= Duration::from_millis(700) && began.elapsed() < 2 * Duration::from_millis(700),
        "{waited:?} {:?}",
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_server_with_a_stored_listing_is_waited_for_by_nobody() {
    let fake = Fake::script().tool("x").stdio();
    let first = gateway().fake("a", &fake).ready().await;
    let stopped = gateway().at_home_of(&first);
    first.stop().await;
    fake.rescript(Fake::script().tool("x").delay("start", 30.0));
    let second = stopped.fake("a", &fake).start().await;
    let began = Instant::now();
    let listed = Wire::open(&second).await.ask("1", "tools/list", "{}").await;
    assert_eq!(listed["result"]["tools"][0]["name"], "a_x");
    assert!(
        began.elapsed() < Duration::from_millis(1900),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_initialize_begins_anew() {
    let (_fake, gateway) = serving().await;
    let mut wire = Wire::open(&gateway).await;
    let again = wire
        .ask("1", "initialize", r#"{"protocolVersion":"2025-03-26"}"#)
        .await;
    assert_eq!(again["result"]["protocolVersion"], "2025-03-26");
    assert!(wire.ask("2", "tools/call", r#"{"name":"a_x"}"#).await["result"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn http_07_the_pipe_ends_when_the_gateway_stops() {
    let gateway = gateway().ready().await;
    let mut wire = Wire::open(&gateway).await;
    wire.send(&modern(
        &gateway,
        "\"l\"",
        "subscriptions/listen",
        r#""notifications":{}"#,
    ))
    .await;
    wire.next().await;
    gateway.operate("stop", json!({})).await;
    while wire.line().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn agg_12_a_call_cancelled_during_that_wait_is_neither_sent_nor_answered() {
    let fake = Fake::script().tool("x").delay("start", 0.5).stdio();
    let gateway = gateway().fake("a", &fake).start().await;
    let mut wire = Wire::open(&gateway).await;
    wire.request("1", "tools/call", r#"{"name":"a_x"}"#).await;
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    wire.request("2", "tools/call", r#"{"name":"a_x"}"#).await;
    let rest = wire.close().await;
    let answered: Vec<&Value> = rest.iter().filter_map(|message| message.get("id")).collect();
    assert_eq!(answered, [&json!(2)], "{rest:?}");
    assert_eq!(fake.received_of("tools/call").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_07_an_end_of_input_right_after_initialize_is_not_waited_out() {
    let gateway = gateway().ready().await;
    let began = Instant::now();
    for _ in 0..20 {
        let mut wire = Wire::new(&gateway);
        wire.request("1", "initialize", r#"{"protocolVersion":"2025-11-25"}"#)
            .await;
        assert_eq!(wire.close().await[0]["id"], 1);
    }
    assert!(
        began.elapsed() < Duration::from_millis(1900),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn http_07_the_pipe_ends_when_its_client_no_longer_reads() {
    let gateway = gateway().ready().await;
    Wire::open(&gateway).await.go_deaf().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_client_that_reads_no_answers_is_not_read_from_any_further() {
    let gateway = gateway().ready().await;
    let mut wire = Wire::open(&gateway).await;
    let taken = wire.flood(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert!(taken < 1024 * 1024, "{taken} bytes were taken");
    assert_eq!(wire.next().await["result"], json!({}));
}
