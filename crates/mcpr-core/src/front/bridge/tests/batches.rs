//! Several messages on one line.

use super::*;

const REVISION: &str = "2025-03-26";

/// A batch of two requests and a notification.
fn batch() -> Value {
    json!([request(1, "tools/call"), request(2, "ping"), { "jsonrpc": "2.0", "method": "notifications/x" }])
}

#[tokio::test]
async fn a_batch_is_posted_as_it_came_and_answered_on_one_line() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session_of(&gateway, REVISION).await;

    client.says(batch()).await;
    let asked = gateway.asked().await;
    assert_eq!(
        (asked.message(), asked.header("mcp-session-id")),
        (batch(), Some("s1"))
    );
    let answers = json!([result(2, json!({})), result(1, json!({ "content": [] }))]);
    asked.json(&answers).await;
    assert_eq!(client.hears().await, answers);

    client.says(batch()).await;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
    let mut stream = gateway.asked().await.streams(&note).await;
    assert_eq!(client.hears().await, note);
    for answer in [result(1, json!({})), result(2, json!({}))] {
        stream
            .write_all(format!("data: {answer}\n\n").as_bytes())
            .await
            .unwrap();
    }
    drop(stream);
    assert_eq!(
        client.hears().await,
        json!([result(1, json!({})), result(2, json!({}))])
    );
}

#[tokio::test]
async fn a_batch_without_requests_is_delivered() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session_of(&gateway, REVISION).await;
    client
        .says(json!([{ "jsonrpc": "2.0", "id": 7, "result": {} }]))
        .await;
    gateway.asked().await.answers(202, "", "").await;
    client.says(request(1, "ping")).await;
    gateway.asked().await.json(&result(1, json!({}))).await;
    assert_eq!(client.hears().await["id"], 1);
}

#[tokio::test]
async fn each_request_of_a_batch_that_is_lost_has_its_error() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session_of(&gateway, REVISION).await;
    client.says(batch()).await;
    let stream = gateway.asked().await.streams(&result(2, json!({}))).await;
    drop(stream);
    let heard = client.hears().await;
    assert_eq!(heard[0], result(2, json!({})));
    assert_eq!(
        (&heard[1]["id"], &heard[1]["error"]["data"]["reason"]),
        (&json!(1), &json!("outcome_unknown"))
    );
    assert_eq!(heard.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_batch_that_may_not_be_never_reaches_the_gateway() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.opens_session_of(&gateway, REVISION).await;
    for batch in [
        json!([]),
        json!([request(1, "initialize")]),
        json!([request(1, "ping"), request(1, "ping")]),
    ] {
        client.says(&batch).await;
        assert_eq!(client.hears().await["error"]["code"], -32600, "{batch}");
    }
    let mut newer = gateway.client();
    newer.opens_session(&gateway).await;
    newer.says(batch()).await;
    assert_eq!(newer.hears().await["error"]["code"], -32600);
}
