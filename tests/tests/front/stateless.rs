//! Requests that stand for themselves: the envelope and its checks (`protocol.md` 4.1, 7 and 9).

use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;

const VERSION: &str = "mcp-protocol-version";

/// The same request of each kind that the era has.
async fn of_each_method(gateway: &Gateway) -> Vec<(&'static str, Answer)> {
    let stateless = gateway.stateless();
    let mut answers = Vec::new();
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        answers.push((method, stateless.request(method, "", None).await));
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discovery_tells_what_there_is_to_know() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"instructions":"Use x."}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let answer = gateway.stateless().request("server/discover", "", None).await;
    assert_eq!(
        (answer.status(), answer.head.header("content-type")),
        (200, Some("application/json"))
    );
    assert_eq!(answer.head.header("mcp-session-id"), None);
    let result = &answer.message()["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"]["tools"], json!({ "listChanged": true }));
    assert!(
        result["instructions"].as_str().unwrap().contains("Use x."),
        "{result}"
    );
    assert!(
        result["ttlMs"].is_u64() && result["cacheScope"] == "private",
        "{result}"
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "mcpr"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_says_its_type_and_how_long_it_holds() {
    let gateway = gateway().ready().await;
    for (method, answer) in of_each_method(&gateway).await {
        let result = &answer.message()["result"];
        assert_eq!(
            (answer.status(), &result["resultType"]),
            (200, &json!("complete")),
            "{method}"
        );
        assert!(
            result["ttlMs"].is_u64() && result["cacheScope"] == "private",
            "{method} {result}"
        );
        assert_eq!(answer.head.header("mcp-session-id"), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_of_the_session_era_answers_is_complete_for_a_stateless_client() {
    let fake = Fake::script()
        .tool("x")
        .with(r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#)
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let stateless = gateway.stateless();
    let called = stateless.call("a_x", "{}").await;
    assert_eq!(
        (&called["id"], &called["result"]["resultType"]),
        (&json!(1), &json!("complete"))
    );
    let got = stateless
        .request("prompts/get", r#""name":"a_p""#, Some("a_p"))
        .await
        .message();
    assert_eq!(got["result"]["resultType"], "complete");
    let uri = "resource://a/file:///r";
    let read = stateless
        .request("resources/read", &format!(r#""uri":"{uri}""#), Some(uri))
        .await
        .message();
    assert_eq!(
        (&read["result"]["resultType"], &read["result"]["ttlMs"]),
        (&json!("complete"), &json!(0))
    );
    let reference = r#""ref":{"type":"ref/prompt","name":"a_p"},"argument":{"name":"n","value":"v"}"#;
    let completed = stateless
        .request("completion/complete", reference, None)
        .await
        .message();
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!(["vone", "vtwo"])
    );
    assert_eq!(completed["result"]["resultType"], "complete");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_post_exists_in_the_era_and_a_client_sends_no_responses() {
    let gateway = gateway().ready().await;
    let session = gateway.client().await;
    for verb in ["GET", "DELETE"] {
        let request = Request::new(verb, "/mcp")
            .token(&gateway.token)
            .header("accept", "text/event-stream");
        let request = request
            .header(VERSION, "2026-07-28")
            .header("mcp-session-id", &session.id);
        let answer = request.send(gateway.port).await;
        assert_eq!(
            (refusal(&answer).0, answer.head.header("allow")),
            (405, Some("POST")),
            "{verb}"
        );
    }
    let stateless = gateway.stateless();
    let response = stateless
        .post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "none", None)
        .send(gateway.port)
        .await;
    assert_eq!(refusal(&response), (400, -32600, Value::Null));
    let note = stateless.post(
        r#"{"jsonrpc":"2.0","method":"notifications/none"}"#,
        "notifications/none",
        None,
    );
    let answer = note.send(gateway.port).await;
    assert_eq!((answer.status(), answer.text()), (202, String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_method_itself_are_plain_answers() {
    let fake = Fake::script().tool("x").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let stateless = gateway.stateless();
    let cases = [
        ("tools/call", r#""name":"a_none""#, Some("a_none")),
        ("tools/call", r#""name":5"#, Some("5")),
        ("tools/call", r#""name":"a_x","arguments":[]"#, Some("a_x")),
        ("prompts/get", r#""name":"a_none""#, Some("a_none")),
        ("tools/list", r#""cursor":"x""#, None),
        ("completion/complete", "", None),
    ];
    for (method, params, name) in cases {
        let answer = stateless.request(method, params, name).await;
        assert_eq!(refusal(&answer), (200, -32602, json!(1)), "{method} {params}");
    }
}
