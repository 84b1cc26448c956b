//! What a stateless request repeats in headers must be what its body says (`protocol.md` 7).

use mcpr_tests::client::Stateless;
use mcpr_tests::http::Answer;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::json;

use crate::refusal;

const TOOL: &str = r#"{"name":"x","inputSchema":{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "limit":{"type":"integer","x-mcp-header":"Limit"},
    "dry":{"type":"boolean","x-mcp-header":"Dry"},
    "in":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}}}}}"#;

/// A gateway before a server with a tool whose arguments are repeated in headers.
async fn serving() -> (Fake, Gateway) {
    let fake = Fake::script()
        .tool_entry(TOOL)
        .with(r#"{"era":"stateless"}"#)
        .http();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

/// Calls the tool with these arguments and headers.
async fn call(client: &Stateless, arguments: &str, headers: &[(&str, &str)]) -> Answer {
    let message = client.text(
        "1",
        "tools/call",
        &format!(r#""name":"a_x","arguments":{arguments}"#),
    );
    let request = client.post(&message, "tools/call", Some("a_x"));
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(&format!("mcp-param-{name}"), value)
    });
    request.send(client.port).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_header_that_is_missing_or_another_is_a_mismatch() {
    let (_fake, gateway) = serving().await;
    let stateless = gateway.stateless();
    let request = stateless.post(&stateless.text("1", "tools/list", ""), "tools/list", None);
    let sent = [
        request.clone().without("mcp-method"),
        request.clone().replace("mcp-method", "tools/call"),
        request.clone().replace("mcp-method", "TOOLS/LIST"),
        request.clone().header("mcp-method", "tools/list"),
    ];
    for request in sent {
        assert_eq!(
            refusal(&request.send(gateway.port).await),
            (400, -32020, json!(1))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_header_must_be_the_name_in_the_body() {
    let (fake, gateway) = serving().await;
    let stateless = gateway.stateless();
    let uri = r#""uri":"file:///r""#;
    for (method, params) in [
        ("tools/call", r#""name":"a_x""#),
        ("prompts/get", r#""name":"p""#),
        ("resources/read", uri),
    ] {
        for name in [
            None,
            Some("other"),
            Some("A_X"),
            Some(""),
            Some("=?base64?!!?="),
            Some("=?base64?YV94?=x"),
        ] {
            let answer = stateless.request(method, params, name).await;
            assert_eq!(refusal(&answer), (400, -32020, json!(1)), "{method} {name:?}");
        }
    }
    assert!(fake.received_of("tools/call").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_header_may_be_written_between_the_base64_markers() {
    let (_fake, gateway) = serving().await;
    let stateless = gateway.stateless();
    for name in ["a_x", " a_x ", "=?base64?YV94?="] {
        let answer = stateless
            .request("tools/call", r#""name":"a_x""#, Some(name))
            .await;
        assert!(answer.message()["result"].is_object(), "{name}");
    }
    // Neither padding nor another alphabet is optional, and the markers are lower case.
    for name in [
        "=?base64?YV94Cg?=",
        "=?base64?_-8=?=",
        "=?BASE64?YV94?=",
        "=?base64?/w==?=",
    ] {
        let answer = stateless
            .request("tools/call", r#""name":"a_x""#, Some(name))
            .await;
        assert_eq!(refusal(&answer), (400, -32020, json!(1)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_no_header_can_hold_is_compared_decoded() {
    let (_fake, gateway) = serving().await;
    let uri = "resource://a/file:///é ü";
    let encoded = "=?base64?cmVzb3VyY2U6Ly9hL2ZpbGU6Ly8vw6kgw7w=?=";
    let answer = gateway
        .stateless()
        .request("resources/read", &format!(r#""uri":"{uri}""#), Some(encoded))
        .await;
    assert_eq!(
        (refusal(&answer).0, refusal(&answer).1),
        (200, -32602),
        "the header is right, the resource unknown"
    );
    assert_eq!(answer.message()["error"]["data"]["uri"], uri);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_repeat_the_arguments_are_taken_and_the_server_gets_its_own() {
    let (fake, gateway) = serving().await;
    let client = gateway.stateless();
    let arguments = r#"{"region":"é","limit":42,"dry":true,"in":{"deep":"d"}}"#;
    let headers = [
        ("region", "=?base64?w6k=?="),
        ("limit", "42.0"),
        ("dry", "true"),
        ("deep", "d"),
        ("unknown", "x"),
    ];
    let answer = call(&client, arguments, &headers).await;
    assert_eq!(answer.message()["result"]["content"][0]["text"], arguments);
    let received = &fake.await_received("tools/call", 1).await[0];
    assert_eq!(received.header("mcp-param-region"), ["=?base64?w6k=?="]);
    assert_eq!(received.header("mcp-param-limit"), ["42"]);
    assert!(received.header("mcp-param-unknown").is_empty());
    assert_eq!(received.header("mcp-name"), ["x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_and_its_header_come_together_or_not_at_all() {
    let (fake, gateway) = serving().await;
    let client = gateway.stateless();
    let refused: [(&str, &[(&str, &str)]); 9] = [
        (r#"{"region":"eu"}"#, &[]),
        (r#"{"region":"eu"}"#, &[("region", "us")]),
        (r#"{"region":"eu"}"#, &[("region", "EU")]),
        (r#"{"region":"eu"}"#, &[("region", "eu"), ("region", "eu")]),
        ("{}", &[("region", "eu")]),
        (r#"{"region":null}"#, &[("region", "null")]),
        (r#"{"limit":42}"#, &[("limit", "43")]),
        (r#"{"dry":true}"#, &[("dry", "True")]),
        (r#"{"in":{"deep":"d"}}"#, &[]),
    ];
    for (arguments, headers) in refused {
        let answer = call(&client, arguments, headers).await;
        assert_eq!(
            refusal(&answer),
            (400, -32020, json!(1)),
            "{arguments} {headers:?}"
        );
    }
    assert!(fake.received_of("tools/call").is_empty());
    assert_eq!(call(&client, r#"{"region":null}"#, &[]).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_client_sends_no_such_headers_and_the_server_gets_them_all_the_same() {
    let (fake, gateway) = serving().await;
    let answer = gateway
        .client()
        .await
        .call("a_x", r#"{"region":"eu","limit":42}"#)
        .await;
    assert!(answer["result"].is_object(), "{answer}");
    let received = &fake.await_received("tools/call", 1).await[0];
    assert_eq!(received.header("mcp-param-region"), ["eu"]);
    assert_eq!(received.header("mcp-param-limit"), ["42"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_gets_none_and_its_stateless_clients_are_checked_all_the_same() {
    let fake = Fake::script().tool_entry(TOOL).http();
    let gateway = gateway().fake("a", &fake).ready().await;
    let client = gateway.stateless();
    let arguments = r#"{"region":"eu"}"#;

    let refused = call(&client, arguments, &[("region", "us")]).await;
    let taken = call(&client, arguments, &[("region", "eu")]).await;

    assert_eq!(refusal(&refused), (400, -32020, json!(1)));
    assert!(taken.message()["result"].is_object());
    let received = &fake.await_received("tools/call", 1).await[0];
    for header in ["mcp-method", "mcp-name", "mcp-param-region"] {
        assert!(received.header(header).is_empty(), "{header}");
    }
}
