//! Requests that are messages, but ask for what there is not (`protocol.md` 3), and those that ask well.

use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;

async fn serving() -> (Fake, Gateway) {
    let script = Fake::script()
        .tool("x")
        .with(r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#);
    let fake = script.stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_method_of_a_session_is_a_plain_answer() {
    let (_fake, gateway) = serving().await;
    let client = gateway.client().await;
    let methods = [
        "none",
        "",
        "tools",
        "TOOLS/LIST",
        "server/discover",
        "subscriptions/listen",
        "tasks/list",
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "notifications/initialized",
    ];
    for method in methods {
        let answer = client.request(method, "{}").await;
        let (status, code, _) = refusal(&answer);
        assert_eq!((status, code), (200, -32601), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_parameters_are_a_plain_answer_and_never_reach_a_server() {
    let (fake, gateway) = serving().await;
    let client = gateway.client().await;
    let cases = [
        ("tools/call", "{}"),
        ("tools/call", r#"{"name":5}"#),
        ("tools/call", r#"{"name":"a_none"}"#),
        ("tools/call", r#"{"name":"a_x","name":"a_y"}"#),
        ("tools/call", r#"{"name":"a_x","arguments":[]}"#),
        ("tools/call", r#"{"name":"a_x","arguments":"x"}"#),
        ("tools/call", r#"{"name":"a_x","arguments":5}"#),
        ("tools/call", r#"{"name":"a_x","_meta":[]}"#),
        (
            "tools/call",
            r#"{"name":"a_x","_meta":{"dev.mcpr/prefer":1,"dev.mcpr/prefer":2}}"#,
        ),
        ("tools/list", r#"{"cursor":"from-3"}"#),
        ("tools/list", r#"{"cursor":""}"#),
        ("prompts/list", r#"{"cursor":5}"#),
        ("prompts/get", r#"{"name":"a_none"}"#),
        ("prompts/get", "{}"),
        ("resources/read", "{}"),
        ("completion/complete", "{}"),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/none","name":"a_p"},"argument":{"name":"n","value":""}}"#,
        ),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"n","value":""}}"#,
        ),
        ("logging/setLevel", "{}"),
        ("logging/setLevel", r#"{"level":"loud"}"#),
        ("logging/setLevel", r#"{"level":3}"#),
    ];
    for (method, params) in cases {
        let (status, code, _) = refusal(&client.request(method, params).await);
        assert_eq!((status, code), (200, -32602), "{method} {params}");
    }
    client.call("a_x", "{}").await;
    assert_eq!(fake.await_received("tools/call", 1).await.len(), 1);
    assert!(fake.received_of("prompts/get").is_empty() && fake.received_of("completion/complete").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_resource_has_the_code_of_its_era_and_its_uri() {
    let (_fake, gateway) = serving().await;
    let uri = "resource://a/file:///none";
    let session = gateway
        .client()
        .await
        .request("resources/read", &json!({ "uri": uri }).to_string())
        .await;
    assert_eq!(refusal(&session).1, -32002);
    assert_eq!(session.message()["error"]["data"], json!({ "uri": uri }));
    let stateless = gateway
        .stateless()
        .request("resources/read", &format!(r#""uri":"{uri}""#), Some(uri))
        .await;
    assert_eq!(refusal(&stateless), (200, -32602, json!(1)));
    assert_eq!(stateless.message()["error"]["data"], json!({ "uri": uri }));
}

#[tokio::test(flavor = "multi_thread")]
async fn b40_arguments_may_be_absent_or_null_and_the_server_sees_no_null() {
    let (fake, gateway) = serving().await;
    let client = gateway.client().await;
    for params in [
        r#"{"name":"a_x"}"#,
        r#"{"name":"a_x","arguments":null}"#,
        r#"{"name":"a_x","arguments":{}}"#,
    ] {
        let answer = client.request("tools/call", params).await.message();
        assert_eq!(answer["result"]["content"][0]["text"], "{}", "{params}");
    }
    for call in fake.await_received("tools/call", 3).await {
        let arguments = call.params().get("arguments").cloned();
        assert!(
            arguments.is_none_or(|arguments| arguments == json!({})),
            "{}",
            call.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_null_meta_is_none_and_the_server_sees_no_null() {
    let (fake, gateway) = serving().await;
    let client = gateway.client().await;
    let answer = client
        .request("tools/call", r#"{"name":"a_x","_meta":null}"#)
        .await
        .message();
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(
        fake.await_received("tools/call", 1).await[0]
            .params()
            .get("_meta"),
        None
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ping_is_answered_and_every_log_level_is_taken() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    for level in [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ] {
        let answer = client
            .request("logging/setLevel", &format!(r#"{{"level":"{level}"}}"#))
            .await;
        assert_eq!(
            (answer.status(), &answer.message()["result"]),
            (200, &json!({})),
            "{level}"
        );
    }
    for params in ["{}", "null", r#"{"_meta":{"progressToken":1}}"#] {
        assert_eq!(
            client.request("ping", params).await.message()["result"],
            json!({}),
            "{params}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b43_what_is_advertised_answers_without_a_server_and_what_is_not_does_not_exist() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    let changing = json!({ "listChanged": true });
    let resources = json!({ "listChanged": true, "subscribe": true });
    let capabilities = json!({ "tools": changing, "prompts": changing, "resources": resources, "completions": {}, "logging": {} });
    assert_eq!(client.welcome["capabilities"], capabilities);
    for (method, member) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        assert_eq!(client.list(method, member).await, [Value::Null; 0], "{method}");
    }
    let level = client.request("logging/setLevel", r#"{"level":"info"}"#).await;
    assert_eq!(level.message()["result"], json!({}));
    let subscribe = client
        .request("resources/subscribe", r#"{"uri":"file:///x"}"#)
        .await;
    let told = subscribe.message();
    assert_eq!(
        (refusal(&subscribe).1, &told["error"]["data"]["uri"]),
        (-32002, &json!("file:///x"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b43_a_server_with_tools_alone_has_empty_lists_of_the_rest_and_completes_nothing() {
    let tools = Fake::script().tool("x").stdio();
    let other = Fake::script()
        .with(r#"{"prompts":[{"name":"p"}],"capabilities":{"prompts":{}}}"#)
        .stdio();
    let gateway = gateway().fake("a", &tools).fake("b", &other).ready().await;
    let client = gateway.client().await;
    assert_eq!(client.list("resources/list", "resources").await, [Value::Null; 0]);
    let ask = r#"{"ref":{"type":"ref/prompt","name":"b_p"},"argument":{"name":"n","value":"v"}}"#;
    let answer = client.request("completion/complete", ask).await.message();
    assert_eq!(
        answer["result"]["completion"],
        json!({ "values": [], "total": 0, "hasMore": false })
    );
    assert!(other.received_of("completion/complete").is_empty());
}
