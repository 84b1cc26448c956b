//! Bytes that are no message, and messages that nobody can take (`protocol.md` 2 and 3).

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;

/// A gateway whose process must live on whatever is sent, and that shows it with the next answer.
async fn idle() -> Gateway {
    gateway().ready().await
}

/// Sends each body in a session, and compares status, code and id of what is answered.
async fn all_refused(cases: &[(&str, i64, Value)]) {
    let gateway = idle().await;
    let client = gateway.client().await;
    for (body, code, id) in cases {
        let answer = client.post(body).send(gateway.port).await;
        assert_eq!(refusal(&answer), (400, *code, id.clone()), "{body}");
    }
    assert_eq!(client.request("ping", "{}").await.message()["result"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_json_is_a_parse_error() {
    let bodies = [
        "",
        " ",
        "{",
        "[",
        "[1",
        "nul",
        "{'a':1}",
        "{\"jsonrpc\":\"2.0\",}",
        "\u{feff}{}",
        "GET / HTTP/1.1",
        "\0",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"pi"#,
        r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
        "\"\\ud800\"",
        r#"{"a":"\x"}"#,
    ];
    all_refused(&bodies.map(|body| (body, -32700, Value::Null))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_not_utf_8_is_a_parse_error() {
    let gateway = idle().await;
    let client = gateway.client().await;
    let body = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}";
    let answer = client.post("").body(*body).send(gateway.port).await;
    assert_eq!(refusal(&answer), (400, -32700, Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_array_is_refused_whatever_it_holds() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let envelope = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let arrays = [
        "[]".into(),
        format!("[{ping}]"),
        format!("[{ping},{note}]"),
        format!("[{note}]"),
        format!(" [{envelope}]"),
        "[7]".into(),
        r#"["2.0",1,"ping"]"#.into(),
        r#"["2.0",1,"tools/list",{}]"#.into(),
    ];
    let cases: Vec<(&str, i64, Value)> = arrays
        .iter()
        .map(|array: &String| (array.as_str(), -32600, Value::Null))
        .collect();
    all_refused(&cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_array_is_refused_in_every_revision_but_one_and_without_a_session() {
    let gateway = idle().await;
    let ping = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let answer = gateway
            .client_of(version)
            .await
            .post(ping)
            .send(gateway.port)
            .await;
        assert_eq!(refusal(&answer), (400, -32600, Value::Null), "{version}");
    }
    let stateless = gateway
        .stateless()
        .post(ping, "ping", None)
        .send(gateway.port)
        .await;
    assert_eq!(refusal(&stateless), (400, -32600, Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_is_no_message_is_an_invalid_request_with_its_id_where_there_is_one() {
    let cases = [
        ("7", Value::Null),
        ("null", Value::Null),
        ("\"ping\"", Value::Null),
        ("{}", Value::Null),
        (r#"{"id":7,"method":"ping"}"#, json!(7)),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
        (r#"{"jsonrpc":2.0,"id":"7","method":"ping"}"#, json!("7")),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":null}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#,
            json!(7),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}"#,
            json!(7),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
            json!(7),
        ),
        (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Value::Null),
        (
            r#"{"jsonrpc":"2.0","method":"ping","method":"tools/list","id":7}"#,
            Value::Null,
        ),
        (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#, Value::Null),
    ];
    all_refused(&cases.map(|(body, id)| (body, -32600, id))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b107_an_id_that_is_none_is_refused_and_never_taken_for_a_notification() {
    let ids = ["null", "1.5", "1e3", "1.0", "true", "{}", "[]", "[1]"];
    let bodies = ids.map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    let cases: Vec<_> = bodies
        .iter()
        .map(|body| (body.as_str(), -32600, Value::Null))
        .collect();
    all_refused(&cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_ids_come_back_as_the_same_text() {
    let gateway = idle().await;
    let client = gateway.client().await;
    let ids = [
        "\"1\"",
        "1",
        "\"req-é\"",
        "\"req-\\u00e9\"",
        "0",
        "-1",
        "9007199254740993",
        "\"\"",
        "\"null\"",
        "123456789012345678901234567890",
        "\"a\\\"b\\\\\"",
    ];
    for id in ids {
        let answer = client
            .post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
            .send(gateway.port)
            .await;
        assert_eq!(
            answer.text(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_an_error_echoes_the_id_as_text_too() {
    let gateway = idle().await;
    let (client, stateless) = (gateway.client().await, gateway.stateless());
    for id in ["\"1\"", "9007199254740993", "\"\\u00e9\""] {
        let session = client
            .post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"none"}}"#))
            .send(gateway.port)
            .await;
        let modern = stateless
            .post(&stateless.text(id, "none", ""), "none", None)
            .send(gateway.port)
            .await;
        for answer in [session, modern] {
            assert!(
                answer.text().contains(&format!(r#""id":{id},"#)),
                "{}",
                answer.text()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_and_answers_are_accepted_without_a_word() {
    let gateway = idle().await;
    let client = gateway.client().await;
    let bodies = [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/none","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list","params":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
    ];
    for body in bodies {
        let answer = client.post(body).send(gateway.port).await;
        assert_eq!((answer.status(), answer.text()), (202, String::new()), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nesting_and_length_are_no_way_to_end_the_process() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.client().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for value in [&deep, &objects] {
        for (method, params) in [
            ("ping", format!(r#"{{"a":{value}}}"#)),
            (
                "tools/call",
                format!(r#"{{"name":"a_x","arguments":{{"a":{value}}}}}"#),
            ),
        ] {
            let answer = client.request(method, &params).await;
            assert_eq!((refusal(&answer).0, refusal(&answer).1), (400, -32600));
        }
    }
    let answer = client.post(&"[".repeat(1_000_000)).send(gateway.port).await;
    assert_eq!(refusal(&answer), (400, -32700, Value::Null));
    assert!(client.call("a_x", "{}").await["result"].is_object());
}
