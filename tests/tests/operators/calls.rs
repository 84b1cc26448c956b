//! `POST /admin/v1/tools/call` as a stream: what the server says within a call, then its result.

use std::time::Duration;

use mcpr_tests::{Fake, Script, gateway, wait_until};
use serde_json::{Value, json};

use crate::common::{Operator, assert_stream};

const X: &str = r#"{"name":"a_x","arguments":{"n":1E2}}"#;

/// A server that tells its progress twice, and logs before the result.
fn talkative() -> Script {
    Fake::script().tool("x").with(
        r#"{"progress":{"count":2,"interval":0.01},"notify":[
            {"method":"notifications/message","params":{"level":"warning","logger":"disk","data":"almost full"}},
            {"method":"notifications/message","params":{"level":"debug","data":"noise"}}]}"#,
    )
}

fn told(method: &str, params: Value) -> Value {
    json!({ "notification": { "method": method, "params": params } })
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_what_a_server_says_within_a_call_comes_as_it_comes_and_then_the_result() {
    let stateless = talkative().with(r#"{"era":"stateless"}"#);
    for fake in [talkative().stdio(), talkative().http(), stateless.http()] {
        let gateway = gateway().fake("a", &fake).ready().await;
        let mut call = Operator::of(&gateway).await.stream("tools/call", X).await;

        let steps = call.rest().await;

        let progress = |step| json!({ "progressToken": 1, "progress": step, "total": 2 });
        assert_eq!(steps.len(), 4, "{steps:?}");
        assert_eq!(steps[0], told("notifications/progress", progress(1)));
        assert_eq!(steps[1], told("notifications/progress", progress(2)));
        let warning = json!({ "level": "warning", "logger": "disk", "data": "almost full" });
        assert_eq!(steps[2], told("notifications/message", warning));
        assert_eq!(steps[3]["result"]["content"][0]["text"], r#"{"n":1E2}"#);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_progress_comes_before_the_result_is_there() {
    let fake = talkative().delay("tools/call", 30.0).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut call = Operator::of(&gateway).await.stream("tools/call", X).await;

    let first = call.next().await.unwrap();

    assert_eq!(first["notification"]["method"], "notifications/progress");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_who_does_not_name_a_stream_gets_the_result_alone() {
    let fake = talkative().stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let operator = Operator::of(&gateway).await;
    for accept in ["application/json", "*/*"] {
        let request = operator.ask("tools/call", X).replace("accept", accept);
        let answer = request.send(gateway.port).await;

        assert_eq!(answer.head.header("content-type"), Some("application/json"));
        assert_eq!(
            answer.raw(&["result"]),
            r#"{"content":[{"type":"text","text":"{\"n\":1E2}"}]}"#
        );
    }
    let asked = fake.received_of("tools/call");
    assert!(
        asked
            .iter()
            .all(|call| call.params()["_meta"]["progressToken"].is_null())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_what_is_refused_at_once_has_its_status_and_what_fails_later_is_told_in_the_stream() {
    let error = json!({ "code": -32000, "message": "the disk is full" });
    let fake = Fake::script().tool("x").error("tools/call", error).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let operator = Operator::of(&gateway).await;

    let refused = operator.ask("tools/call", r#"{"name":"a_none"}"#);
    let refused = refused.send(gateway.port).await;
    let malformed = operator.ask("tools/call", "{}").send(gateway.port).await;
    let failed = operator.stream("tools/call", X).await.rest().await;

    assert_eq!((refused.status(), malformed.status()), (404, 400));
    assert_eq!(refused.message()["error"]["code"], "not_found");
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["error"]["message"], "the disk is full");
    assert_eq!(failed[0]["error"]["code"], "failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_a_built_in_tool_is_called_through_a_stream_too() {
    let gateway = gateway().with_builtins().start().await;
    let call = r#"{"name":"get-active-toolset"}"#;

    let steps = Operator::of(&gateway)
        .await
        .stream("tools/call", call)
        .await
        .rest()
        .await;

    assert_eq!(steps.len(), 1, "{steps:?}");
    assert!(steps[0]["result"]["structuredContent"].is_object(), "{steps:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_who_goes_away_cancels_the_call_at_its_server() {
    for accept in ["text/event-stream", "application/json"] {
        let fake = Fake::script().tool("x").delay("tools/call", 30.0).stdio();
        let gateway = gateway().fake("a", &fake).ready().await;
        let operator = Operator::of(&gateway).await;
        let mut events = operator.stream("events", r#"{"kinds":["call"]}"#).await;
        let request = operator.ask("tools/call", X).replace("accept", accept);
        let connection = request.start(gateway.port).await;
        let id = fake.await_received("tools/call", 1).await[0].message()["id"].clone();

        drop(connection);

        let cancelled = fake.await_received("notifications/cancelled", 1).await;
        assert_eq!(cancelled[0].params()["requestId"], id);
        assert_eq!(events.next().await.unwrap()["call"]["status"], "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_03_who_goes_away_cancels_the_call_at_a_stateless_server() {
    let stateless = Fake::script().tool("x").with(r#"{"era":"stateless"}"#);
    let fake = stateless.delay("tools/call", 30.0).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (head, connection) = Operator::of(&gateway)
        .await
        .ask("tools/call", X)
        .open(gateway.port)
        .await;
    assert_stream(&head);
    fake.await_received("tools/call", 1).await;

    drop(connection);

    let closed = || fake.received().into_iter().find_map(|received| received.closed);
    wait_until(Duration::from_secs(10), "a closed stream", closed).await;
}
