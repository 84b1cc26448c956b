//! A client on a pipe: one line is one message, both eras on one pipe (HTTP-07, `protocol.md` 4.2 and 5).

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::wire::Wire;

pub(crate) async fn serving() -> (Fake, Gateway) {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

/// A request with its envelope.
pub(crate) fn modern(gateway: &Gateway, id: &str, method: &str, params: &str) -> String {
    gateway.stateless().text(id, method, params)
}

#[tokio::test(flavor = "multi_thread")]
async fn http_07_a_session_and_stateless_requests_share_a_pipe() {
    let (_fake, gateway) = serving().await;
    let mut wire = Wire::new(&gateway);
    wire.send(&modern(&gateway, "1", "tools/list", "")).await;
    let before = wire.next().await;
    let welcome = wire
        .ask("1", "initialize", r#"{"protocolVersion":"2025-06-18"}"#)
        .await;
    wire.send(&modern(&gateway, "\"1\"", "tools/call", r#""name":"a_x""#))
        .await;
    let called = wire.next().await;
    let session = wire.ask("2", "tools/list", "{}").await;
    assert_eq!(before["result"]["resultType"], "complete");
    assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(
        (&called["id"], &called["result"]["resultType"]),
        (&json!("1"), &json!("complete"))
    );
    assert_eq!(session["result"]["tools"][0]["name"], "a_x");
    assert_eq!(session["result"].get("resultType"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_each_era_hold_on_a_pipe() {
    let (_fake, gateway) = serving().await;
    let mut wire = Wire::open(&gateway).await;
    let none = r#"{"jsonrpc":"2.0","id":1,"method":"none","params":{}}"#.to_owned();
    let version = |date: &str| modern(&gateway, "1", "tools/list", "").replace("2026-07-28", date);
    let cases = [
        (none, -32601),
        (modern(&gateway, "1", "none", ""), -32601),
        (modern(&gateway, "1", "ping", ""), -32601),
        (
            modern(&gateway, "1", "initialize", r#""protocolVersion":"2025-11-25""#),
            -32601,
        ),
        (version("2025-11-25"), -32022),
        (version("2099-01-01"), -32022),
        (
            modern(&gateway, "1", "tools/list", "")
                .replace(r#""io.modelcontextprotocol/clientCapabilities":{},"#, ""),
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#.to_owned(),
            -32601,
        ),
    ];
    for (line, code) in cases {
        wire.send(&line).await;
        let answer = wire.next().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(1), &json!(code)),
            "{line}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b108_before_initialize_only_it_and_the_other_era_are_taken() {
    let gateway = gateway().ready().await;
    let mut wire = Wire::new(&gateway);
    assert_eq!(
        wire.ask("\"p\"", "ping", "{}").await["result"],
        json!({}),
        "a ping is always answered"
    );
    for (method, code) in [
        ("server/discover", -32601),
        ("none", -32601),
        ("tools/list", -32600),
        ("tools/call", -32600),
    ] {
        let answer = wire.ask("\"p\"", method, "{}").await;
        assert_eq!(answer["error"]["code"], code, "{method}");
    }
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    let welcome = wire
        .ask("1", "initialize", r#"{"protocolVersion":"2024-11-05"}"#)
        .await;
    assert_eq!(welcome["result"]["protocolVersion"], "2024-11-05");
}

#[tokio::test(flavor = "multi_thread")]
async fn b107_lines_that_are_no_message_are_told_so_and_the_pipe_lives_on() {
    let gateway = gateway().ready().await;
    let mut wire = Wire::open(&gateway).await;
    let cases = [
        ("{", -32700, Value::Null),
        ("Content-Length: 12", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#,
            -32600,
            json!("x"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}"#,
            -32600,
            json!("x"),
        ),
    ];
    for (line, code, id) in cases {
        wire.send(line).await;
        let answer = wire.next().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{line}"
        );
    }
    for quiet in [
        "",
        "   ",
        "\r",
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"none"}"#,
    ] {
        wire.send(quiet).await;
    }
    wire.send("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"method\":\"ping\"}\r")
        .await;
    assert_eq!(
        wire.line().await.unwrap(),
        r#"{"jsonrpc":"2.0","id":"é","result":{}}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_ids_come_back_as_the_same_text_on_a_pipe() {
    let gateway = gateway().ready().await;
    let mut wire = Wire::open(&gateway).await;
    for id in ["\"1\"", "1", "\"req-\\u00e9\"", "-1", "9007199254740993", "\"\""] {
        wire.request(id, "ping", "{}").await;
        assert_eq!(
            wire.line().await.unwrap(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_line_ends_in_it_is_one_line() {
    let pretty = "{\n  \"content\": [],\r\n  \"structuredContent\": {\"n\": 1E400}\n}";
    let fake = Fake::script().tool("x").raw("tools/call", pretty).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut wire = Wire::open(&gateway).await;
    wire.request("1", "tools/call", r#"{"name":"a_x"}"#).await;
    let line = wire.line().await.unwrap();
    assert!(line.contains(r#""structuredContent": {"n": 1E400}"#), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_07_answers_come_as_they_are_ready_and_a_slow_one_holds_up_none() {
    let slow = Fake::script().tool("x").delay("tools/call", 0.3).stdio();
    let (_quick, gateway) = {
        let quick = Fake::script().tool("x").stdio();
        let gateway = gateway().fake("a", &slow).fake("b", &quick).ready().await;
        (quick, gateway)
    };
    let mut wire = Wire::open(&gateway).await;
    wire.request("1", "tools/call", r#"{"name":"a_x"}"#).await;
    wire.request("2", "tools/call", r#"{"name":"b_x"}"#).await;
    wire.request("3", "ping", "{}").await;
    let order = [wire.next().await, wire.next().await, wire.next().await]
        .map(|message| message["id"].as_u64().unwrap());
    assert_eq!(order[2], 1, "{order:?}");
}
