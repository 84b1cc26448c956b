//! Schemas that mcpr has read before the server changed them.

use mcpr_tests::{Fake, Script};
use serde_json::{Value, json};

use crate::place::place;

/// A tool that wants its argument repeated in this header.
fn tool(header: &str) -> Value {
    let text = json!({ "type": "string", "x-mcp-header": header });
    json!({ "name": "t", "inputSchema": { "type": "object", "properties": { "text": text } } })
}

fn stateless() -> Script {
    Fake::script().set("era", json!("stateless"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_by_an_old_schema_is_made_again_by_the_new_one() {
    let script = stateless()
        .set("tools", json!([tool("New")]))
        .set("old_tools", json!([tool("Old")]));
    let place = place(script.http()).await;

    let answer = place.gateway.client().await.call("a_t", r#"{"text":"hé"}"#).await;

    assert_eq!(
        answer["result"]["content"][0]["text"], r#"{"text":"hé"}"#,
        "{answer}"
    );

    let calls = place.fake.received_of("tools/call");
    let headers = |name| {
        calls
            .iter()
            .map(|call| call.header(name).len())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (headers("mcp-param-old"), headers("mcp-param-new")),
        (vec![1, 0], vec![0, 1])
    );
    assert_eq!(place.fake.received_of("tools/list").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stateless_client_is_not_made_to_know_of_the_new_schema_for_that() {
    let plain = json!({ "name": "t", "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } } });
    let script = stateless()
        .set("tools", json!([tool("New")]))
        .set("old_tools", json!([plain]));
    let place = place(script.http()).await;

    let answer = place.gateway.stateless().call("a_t", r#"{"text":"x"}"#).await;

    assert_eq!(
        answer["result"]["content"][0]["text"], r#"{"text":"x"}"#,
        "{answer}"
    );
    assert_eq!(
        place.fake.received_of("tools/call")[1].header("mcp-param-new"),
        ["x"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_finds_the_header_wrong_again_fails_the_call() {
    let error = json!({ "code": -32020, "message": "header mismatch" });
    let place = place(stateless().tool("t").error("tools/call", error).http()).await;
    for (nth, client) in place.gateway.clients().await.iter().enumerate() {
        let answer = client.call("a_t", "{}").await.message();

        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["data"]["upstreamCode"], -32020);
        assert_eq!(
            place.fake.received_of("tools/call").len(),
            2 * (nth + 1),
            "once more, and no more"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_gone_with_the_new_list_is_unknown() {
    let script = stateless().set(
        "tools",
        json!([{ "name": "u", "inputSchema": { "type": "object" } }]),
    );
    let error = json!({ "code": -32020, "message": "header mismatch" });
    let script = script
        .set("old_tools", json!([tool("Old")]))
        .error("tools/call:t", error);
    let place = place(script.http()).await;

    let answer = place.gateway.client().await.call("a_t", r#"{"text":"x"}"#).await;

    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(place.fake.received_of("tools/call").len(), 1);
}
