//! Clients of the session era.

use super::*;

#[tokio::test]
async fn http_07_a_session_is_kept_for_the_client_and_ended_with_it() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;

    client.says(INITIALIZED).await;
    gateway.asked().await.answers(202, "", "").await;
    let listening = gateway.asked().await;
    assert!(listening.head.starts_with("get /mcp ") && listening.header("mcp-session-id") == Some("s1"));
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let _stream = listening.streams(&notice).await;
    assert_eq!(client.hears().await, notice);

    client.says(request(1, "tools/list")).await;
    let asked = gateway.asked().await;
    assert_eq!(asked.header("mcp-session-id"), Some("s1"));
    assert_eq!(asked.header("mcp-protocol-version"), Some("2025-06-18"));
    asked.json(&result(1, json!({ "tools": [] }))).await;
    assert_eq!(client.hears().await, result(1, json!({ "tools": [] })));

    let (last, goodbye) = tokio::join!(client.leaves(), async {
        let asked = gateway.asked().await;
        let head = asked.head.clone();
        asked.answers(204, "", "").await;
        head
    });
    assert!(last.is_empty() && goodbye.starts_with("delete /mcp ") && goodbye.contains("mcp-session-id: s1"));
}

#[tokio::test]
async fn a_cancelled_request_of_a_session_is_told_to_the_gateway_and_may_end_unanswered() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;
    client.says(request(1, "tools/call")).await;
    let call = gateway.asked().await;

    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    client.says(&cancelled).await;
    let told = gateway.asked().await;
    assert_eq!(serde_json::from_str::<Value>(&told.body).unwrap(), cancelled);
    told.answers(202, "", "").await;
    call.answers(200, "content-type: text/event-stream\r\n", "").await;

    assert!(client.leaves().await.is_empty());
}

#[tokio::test]
async fn a_cancel_that_overtook_its_request_is_told_again_until_that_has_ended() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session(&gateway).await;
    client.says(request(1, "tools/call")).await;
    let call = gateway.asked().await;

    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    client.says(&cancelled).await;
    for _ in 0..2 {
        let told = gateway.asked().await;
        assert_eq!(serde_json::from_str::<Value>(&told.body).unwrap(), cancelled);
        told.answers(202, "", "").await;
    }
    call.answers(200, "content-type: text/event-stream\r\n", "").await;

    assert!(client.leaves().await.is_empty());
}
