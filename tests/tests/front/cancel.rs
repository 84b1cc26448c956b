//! Cancelling, and losing the connection, which is a cancel in one era and none in the other (B35).

use std::collections::HashSet;
use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::http::Connection;
use mcpr_tests::{Fake, Gateway, Received, gateway, wait_until};
use serde_json::{Value, json};

use crate::pairs;
use crate::wire::Wire;

const SILENT: &str = r#"{"silent":["tools/call:slow"]}"#;

/// Servers of every kind with a tool that never answers and one that does.
async fn servers() -> Vec<(Fake, Gateway)> {
    pairs::servers(|script| script.tool("slow").tool("x").with(SILENT)).await
}

/// Sends a call of the silent tool in a session, and gives its connection.
async fn call(client: &Session, id: &str) -> Connection {
    let message =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a_slow"}}}}"#);
    let mut connection = Connection::open(client.port).await;
    connection.send(&client.post(&message).bytes()).await;
    connection
}

/// Waits until the server has heard, in the way of its kind, that this call is given up.
async fn await_cancelled(fake: &Fake, call: &Received) {
    let id = call.message()["id"].clone();
    let told = |received: &Received| {
        let cancelled = received.method.as_deref() == Some("notifications/cancelled")
            && received.params()["requestId"] == id;
        cancelled || received.closed.as_ref() == Some(&id.to_string())
    };
    let what = format!("a cancel of {id}");
    wait_until(Duration::from_secs(5), &what, || {
        fake.received().iter().any(told).then_some(())
    })
    .await;
}

/// How many calls a server was told to give up, in the way of its kind.
fn cancels(fake: &Fake) -> usize {
    let told = |received: Received| {
        let cancelled = received.method.as_deref() == Some("notifications/cancelled");
        received
            .closed
            .or_else(|| cancelled.then(|| received_id(&received.text)))
    };
    fake.received()
        .into_iter()
        .filter_map(told)
        .collect::<HashSet<String>>()
        .len()
}

/// The request that a cancel is about.
fn received_id(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap()["params"]["requestId"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_session_client_cancels_by_its_id_and_the_server_hears_it_with_its_own() {
    for (fake, gateway) in servers().await {
        let client = gateway.client().await;
        let mut kept = call(&client, "\"other\"").await;
        let mut given_up = call(&client, "101").await;
        let calls = fake.await_received("tools/call", 2).await;
        client
            .notify(
                "notifications/cancelled",
                r#"{"requestId":101,"reason":"changed my mind"}"#,
            )
            .await;
        assert_eq!(
            given_up.answer().await.text(),
            "",
            "a cancelled request has no answer"
        );
        let answer = client.call("a_x", "{}").await;
        assert!(
            answer["result"].is_object(),
            "other calls are not touched: {answer}"
        );
        wait_until(Duration::from_secs(5), "one cancel", || {
            (cancels(&fake) == 1).then_some(())
        })
        .await;
        client
            .notify("notifications/cancelled", r#"{"requestId":"other"}"#)
            .await;
        kept.answer().await;
        for call in &calls {
            await_cancelled(&fake, call).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_stateless_client_cancels_by_closing_the_stream() {
    for (fake, gateway) in servers().await {
        let stateless = gateway.stateless();
        let message = stateless.text("1", "tools/call", r#""name":"a_slow""#);
        let mut connection = Connection::open(gateway.port).await;
        connection
            .send(&stateless.post(&message, "tools/call", Some("a_slow")).bytes())
            .await;
        let call = fake.await_received("tools/call", 1).await.remove(0);
        drop(connection);
        await_cancelled(&fake, &call).await;
        assert!(stateless.call("a_x", "{}").await["result"].is_object());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_stateless_client_cancels_so_in_the_middle_of_a_stream_too() {
    let progress = r#"{"progress":{"count":1000,"interval":0.02}}"#;
    for (fake, gateway) in pairs::servers(|script| script.tool("x").with(progress)).await {
        let stateless = gateway.stateless();
        let text = stateless.text("1", "tools/call", r#""name":"a_x""#);
        let text = text.replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#);
        let (_, mut connection) = stateless
            .post(&text, "tools/call", Some("a_x"))
            .open(gateway.port)
            .await;
        connection.event().await.unwrap();
        connection.reset();
        let call = fake.await_received("tools/call", 1).await.remove(0);
        await_cancelled(&fake, &call).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_lost_connection_of_a_session_is_no_cancel_and_the_server_finishes() {
    for (fake, gateway) in pairs::servers(|script| script.tool("x").delay("tools/call", 0.3)).await {
        let client = gateway.client().await;
        let message = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a_x"}}"#;
        for (count, end) in [(1, drop as fn(Connection)), (2, Connection::reset)] {
            let mut connection = Connection::open(gateway.port).await;
            connection.send(&client.post(message).bytes()).await;
            fake.await_received("tools/call", count).await;
            end(connection);
            gateway.await_server("a", |server| server["inFlight"] == 0).await;
        }
        assert!(
            client.call("a_x", "{}").await["result"].is_object(),
            "and the session is as before"
        );
        assert_eq!((fake.received_of("tools/call").len(), cancels(&fake)), (3, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_call_whose_connection_was_lost_can_still_be_cancelled() {
    for (fake, gateway) in servers().await {
        let client = gateway.client().await;
        let connection = call(&client, "7").await;
        let sent = fake.await_received("tools/call", 1).await.remove(0);
        drop(connection);
        client.request("ping", "{}").await;
        client
            .notify("notifications/cancelled", r#"{"requestId":7}"#)
            .await;
        await_cancelled(&fake, &sent).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_client_on_a_pipe_cancels_by_its_id_in_both_eras() {
    for (fake, gateway) in servers().await {
        let mut wire = Wire::open(&gateway).await;
        wire.request("101", "tools/call", r#"{"name":"a_slow"}"#).await;
        wire.send(
            &gateway
                .stateless()
                .text("\"s\"", "tools/call", r#""name":"a_slow""#),
        )
        .await;
        let calls = fake.await_received("tools/call", 2).await;
        for id in ["101", "\"s\""] {
            wire.send(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            ))
            .await;
        }
        for call in &calls {
            await_cancelled(&fake, call).await;
        }
        assert_eq!(
            wire.ask("2", "ping", "{}").await["id"],
            2,
            "nothing is answered to a cancelled request"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_cancel_right_behind_its_request_finds_it() {
    let fake = Fake::script().tool("slow").with(SILENT).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut wire = Wire::open(&gateway).await;
    for id in 1..=50 {
        let call =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a_slow"}}}}"#);
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        wire.send(&format!("{call}\n{cancel}")).await;
    }
    assert_eq!(
        wire.ask("99", "ping", "{}").await["result"],
        json!({}),
        "all lines are read"
    );
    gateway.await_server("a", |server| server["inFlight"] == 0).await;
    let all_told = || (fake.received_of("tools/call").len() == cancels(&fake)).then_some(());
    wait_until(
        Duration::from_secs(5),
        "every call that was sent is cancelled",
        all_told,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b35_a_listen_on_a_pipe_ends_with_a_cancel_right_behind_it() {
    let fake = Fake::script().with(r#"{"env_tool":true}"#).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut wire = Wire::new(&gateway);
    let listen = gateway.stateless().text(
        "1",
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true}"#,
    );
    wire.send(&format!(
        "{listen}\n{}",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
    ))
    .await;
    let acknowledged = wire.next().await;
    let mut other = Wire::open(&gateway).await;
    gateway.stateless().call("a_add", "{}").await;
    other
        .message(|message| message["method"] == "notifications/tools/list_changed")
        .await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    wire.send(&gateway.stateless().text("2", "tools/list", "")).await;
    assert_eq!(
        wire.next().await["id"],
        2,
        "no notice comes to a listen that was cancelled"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cancels_of_what_is_over_or_never_was_do_nothing() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    client.call("a_x", "{}").await;
    for id in ["1", "2", "\"none\"", "null", "{}", "1.5"] {
        let answer = client
            .notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#))
            .await;
        assert_eq!(answer.status(), 202, "{id}");
    }
    assert!(client.call("a_x", "{}").await["result"].is_object());
    assert_eq!(cancels(&fake), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_05_at_the_limit_the_caller_is_told_and_the_server_hears_a_cancel() {
    for (fake, _) in servers().await {
        let gateway = gateway()
            .fake("a", &fake)
            .own("timeouts", json!({ "call": "500ms" }))
            .ready()
            .await;
        let (client, before) = (gateway.client().await, fake.received_of("tools/call").len());
        let answer = client.request("tools/call", r#"{"name":"a_slow"}"#).await;
        let error = &answer.message()["error"];
        assert_eq!((answer.status(), &error["code"]), (200, &json!(-32603)));
        assert_eq!(
            (
                &error["data"]["reason"],
                &error["data"]["retry"],
                &error["data"]["server"]
            ),
            (&json!("timeout"), &json!("unsafe"), &json!("a"))
        );
        let sent = fake.received_of("tools/call").remove(before);
        await_cancelled(&fake, &sent).await;
    }
}
