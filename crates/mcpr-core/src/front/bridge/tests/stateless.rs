//! Clients of the stateless era, and what holds for both.

use super::*;

#[tokio::test]
async fn http_07_a_stateless_request_says_in_headers_what_its_era_wants_there() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    let schema = json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });

    client.says(stateless(1, "tools/list", json!({}))).await;
    let asked = gateway.asked().await;
    assert_eq!(asked.header("mcp-method"), Some("tools/list"));
    assert_eq!(
        (asked.header("mcp-name"), asked.header("mcp-session-id")),
        (None, None)
    );
    asked
        .json(&result(
            1,
            json!({ "tools": [{ "name": "find", "inputSchema": schema }] }),
        ))
        .await;
    client.hears().await;

    client
        .says(stateless(
            2,
            "tools/call",
            json!({ "name": "find", "arguments": { "region": "eu" } }),
        ))
        .await;
    let asked = gateway.asked().await;
    let told = [
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
    ]
    .map(|name| asked.header(name));
    assert_eq!(told, ["2026-07-28", "tools/call", "find", "eu"].map(Some));
}

#[tokio::test]
async fn a_call_without_a_list_before_has_its_headers_too() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    let schema =
        json!({ "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } });

    client
        .says(stateless(
            1,
            "tools/call",
            json!({ "name": "find", "arguments": { "n": 7 } }),
        ))
        .await;
    let asked = gateway.asked().await;
    assert_eq!(asked.header("mcp-method"), Some("tools/list"));
    asked
        .json(&result(
            0,
            json!({ "tools": [{ "name": "find", "inputSchema": schema }] }),
        ))
        .await;

    assert_eq!(gateway.asked().await.header("mcp-param-n"), Some("7"));
}

#[tokio::test]
async fn what_is_carried_is_the_text_as_it_came() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    let text = r#"{ "method":"x/y", "params":{"n":1E400,"m":123456789012345678901234567890}, "id":7,"jsonrpc":"2.0" }"#;
    let answer = r#"{"id" : 7, "result":{"n":1E400}, "jsonrpc":"2.0"}"#;

    client.says(text).await;
    let asked = gateway.asked().await;
    assert_eq!(asked.body, text);
    asked
        .answers(200, "content-type: application/json\r\n", answer)
        .await;

    assert_eq!(client.output.next_line().await.unwrap().unwrap(), answer);
}

#[tokio::test]
async fn agg_14_answers_come_in_the_order_in_which_they_are_ready() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.says(request(1, "a")).await;
    let first = gateway.asked().await;
    client.says(request(2, "b")).await;
    gateway.asked().await.json(&result(2, json!({}))).await;
    assert_eq!(client.hears().await["id"], 2);

    first.json(&result(1, json!({}))).await;
    assert_eq!(client.hears().await["id"], 1);
}

#[tokio::test]
async fn a_cancelled_stateless_request_is_closed_and_not_answered() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client
        .says(stateless(1, "prompts/get", json!({ "name": "slow" })))
        .await;
    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
    let mut stream = gateway.asked().await.streams(&progress).await;
    assert_eq!(client.hears().await, progress);

    client
        .says(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }))
        .await;

    assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
    assert!(client.leaves().await.is_empty());
}

#[tokio::test]
async fn who_writes_requests_and_leaves_still_gets_the_answers() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.says(request(1, "a")).await;
    let asked = gateway.asked().await;

    let answer = result(1, json!({}));
    let (last, ()) = tokio::join!(client.leaves(), asked.json(&answer));

    assert_eq!(last, [answer.to_string()]);
}
