//! `POST /admin/v1/events`: servers that change, lists that change, calls that end.

use std::time::Duration;

use futures_util::StreamExt as _;
use mcpr_auth::Principal;
use mcpr_core::Operator as Inside;
use mcpr_tests::{Fake, Script, gateway};
use serde_json::{Value, json};

use crate::common::Operator;

/// A server that can be told to end, and takes a while to be back.
fn mortal() -> Script {
    Fake::script()
        .tool("x")
        .tool("end")
        .with(r#"{"exit_on":"tools/call:end"}"#)
        .delay("start", 0.3)
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_a_server_that_dies_and_returns_is_told() {
    let fake = mortal().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let operator = Operator::of(&gateway).await;
    let mut events = operator.stream("events", r#"{"kinds":["server"]}"#).await;

    gateway.client().await.call("a_end", "{}").await;
    let told = events.until(|event| event["state"] == "ok").await;

    assert!(told.len() > 1, "it was not well in between: {told:?}");
    for event in &told {
        assert_eq!(
            (&event["kind"], &event["server"]),
            (&json!("server"), &json!("a"))
        );
    }
    assert_ne!(told[0]["state"], "ok");
    let at = told[0]["at"].as_str().unwrap();
    assert!(
        at.len() == "2027-01-15T08:00:00.123Z".len() && at.ends_with('Z'),
        "{at}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_a_server_that_an_operator_turns_off_is_told_with_what_it_takes_along() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let operator = Operator::of(&gateway).await;
    let mut events = operator
        .stream("events", r#"{"kinds":["server","catalog"]}"#)
        .await;

    gateway.operate("servers/disable", json!({ "name": "a" })).await;
    let told = events.until(|event| event["kind"] == "catalog").await;

    assert_eq!(told[0]["state"], "disabled", "{told:?}");
    assert_eq!(told[0]["reason"], "turned off by an operator");
    assert_eq!(told.last().unwrap()["reason"], "tools");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_every_call_that_ends_is_told_with_who_called_and_how_it_went() {
    let fake = Fake::script()
        .tool("x")
        .tool("bad")
        .raw("tools/call:bad", r#"{"content":[],"isError":true}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let operator = Operator::of(&gateway).await;
    let mut events = operator.stream("events", r#"{"kinds":["call"]}"#).await;

    let mut told = Vec::new();
    for tool in ["a_x", "a_bad", "a_none"] {
        client.call(tool, "{}").await;
        told.push(events.next().await.unwrap());
    }

    let call = &told[0]["call"];
    assert_eq!((&told[0]["server"], &call["tool"]), (&json!("a"), &json!("x")));
    assert_eq!(
        (&call["method"], &call["client"]),
        (&json!("tools/call"), &json!("test"))
    );
    assert!(call["principal"].as_str().unwrap().starts_with("tk_") && call["durationUs"].as_u64() > Some(0));
    let ends = told.iter().map(|event| &event["call"]["status"]);
    assert!(ends.eq(["ok", "tool_error", "error"]), "{told:?}");
    assert_eq!(told[2]["reason"], "Unknown tool: a_none");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_only_the_kinds_that_were_asked_for_are_told() {
    let news = r#"{"notify":[{"method":"notifications/tools/list_changed"}]}"#;
    let fake = Fake::script().tool("x").with(news).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let operator = Operator::of(&gateway).await;
    let mut catalog = operator.stream("events", r#"{"kinds":["catalog"]}"#).await;
    let mut all = operator.stream("events", "{}").await;

    gateway.client().await.call("a_x", "{}").await;

    let first = catalog.next().await.unwrap();
    assert_eq!(
        (&first["kind"], &first["reason"]),
        (&json!("catalog"), &json!("tools"))
    );
    let told = all.until(|event| event["kind"] == "catalog").await;
    assert!(told.iter().any(|event| event["kind"] == "call"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_a_slow_reader_loses_the_oldest_and_is_told_how_many() {
    let gateway = gateway().start().await;
    let operator = Inside::new(gateway.core.clone());
    let local = Principal::local();
    let watch = operator.stream(&local, "events", false, br#"{"kinds":["call"]}"#);
    let mut unread = watch.await.unwrap().unwrap();

    for number in 0..1030 {
        let name = format!("none{number}");
        gateway.operate("tools/call", json!({ "name": name })).await;
    }
    let mut read = async || serde_json::from_str::<Value>(unread.next().await.unwrap().as_str()).unwrap();
    let (first, second) = (read().await, read().await);

    assert_eq!(
        (&first["missed"], &first["reason"]),
        (&json!(6), &json!("Unknown tool: none6"))
    );
    assert_eq!(
        (&second["missed"], &second["reason"]),
        (&Value::Null, &json!("Unknown tool: none7"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_the_stream_is_kept_alive_and_ends_with_the_gateway() {
    let builder = gateway().keep_alive(Duration::from_millis(20));
    let gateway = builder.start().await;
    let operator = Operator::of(&gateway).await;
    let mut events = operator.stream("events", r#"{"kinds":["server"]}"#).await.0;

    assert_eq!(events.event().await.unwrap().comments, [""]);
    gateway.operate("stop", json!({})).await;

    while let Some(event) = events.event().await {
        assert_eq!(event.data, "", "a sign of life only");
    }
}
