//! What can go wrong.

use super::*;

#[tokio::test]
async fn a_lost_gateway_is_an_error_and_is_looked_for_again() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.says(request(1, "a")).await;
    drop(gateway.asked().await);
    let lost = client.hears().await;
    assert_eq!((&lost["id"], &lost["error"]["code"]), (&json!(1), &json!(-32603)));
    assert_eq!(
        lost["error"]["data"],
        json!({ "reason": "outcome_unknown", "retry": "unsafe" })
    );

    client.says(request(2, "a")).await;
    gateway.asked().await.json(&result(2, json!({}))).await;
    assert_eq!(client.hears().await, result(2, json!({})));

    let address = gateway.0.local_addr().unwrap();
    drop(gateway);
    client.says(request(3, "a")).await;
    let lost = client.hears().await;
    assert_eq!(
        lost["error"]["data"],
        json!({ "reason": "server_down", "retry": "safe" })
    );

    let gateway = Played(TcpListener::bind(address).await.unwrap());
    client.says(request(4, "a")).await;
    gateway.asked().await.json(&result(4, json!({}))).await;
    assert_eq!(client.hears().await, result(4, json!({})));
}

#[tokio::test]
async fn an_error_of_the_edge_is_told_with_the_id_of_the_request() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.says(request(1, "a")).await;
    let body = r#"{"error":"invalid_token","message":"make a token"}"#;
    gateway
        .asked()
        .await
        .answers(401, "content-type: application/json\r\n", body)
        .await;

    let error = json!({ "code": -32603, "message": "make a token", "data": { "reason": "unauthorized", "retry": "no" } });
    assert_eq!(
        client.hears().await,
        json!({ "jsonrpc": "2.0", "id": 1, "error": error })
    );
}

#[tokio::test]
async fn b48_lines_that_are_no_messages_are_answered_and_harm_nothing() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":5,"method":5}"#, -32600),
    ] {
        client.says(line).await;
        assert_eq!(client.hears().await["error"]["code"], code, "{line}");
    }
    client.says(request(1, "a")).await;
    gateway.asked().await.json(&result(1, json!({}))).await;
    assert_eq!(client.hears().await["id"], 1);
}

#[tokio::test]
async fn an_id_is_used_once_at_a_time() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.says(request(1, "a")).await;
    let first = gateway.asked().await;
    client.says(request(1, "b")).await;
    assert_eq!(
        client.hears().await["error"]["message"],
        "a request with the id 1 is still under way"
    );

    first.json(&result(1, json!({}))).await;
    assert_eq!(client.hears().await, result(1, json!({})));
}

#[tokio::test]
async fn a_gateway_that_does_not_answer_does_not_keep_a_client_that_leaves() {
    let gateway = Played::start().await;
    let mut client = gateway.client();
    client.says(request(1, "a")).await;
    let _silent = gateway.asked().await;

    let last = timeout(Duration::from_secs(3), client.leaves()).await.unwrap();

    assert!(last.is_empty());
}

#[tokio::test]
async fn knocking_tells_who_answers() {
    let gateway = Played::start().await;
    let knock = async |status, body| {
        let link = gateway.link();
        let (knocked, ()) = tokio::join!(knock(&link), async {
            gateway
                .asked()
                .await
                .answers(status, "content-type: application/json\r\n", body)
                .await;
        });
        knocked.map_err(|refused| refused.to_string())
    };
    assert_eq!(knock(405, "{}").await, Ok(()));
    assert_eq!(
        knock(401, r#"{"message":"make a token"}"#).await,
        Err("make a token".to_owned())
    );
    assert_eq!(
        knock(404, "{}").await,
        Err("what answers there is no MCP endpoint (HTTP 404 Not Found)".to_owned())
    );

    let link = gateway.link();
    drop(gateway);
    assert!(matches!(super::knock(&link).await, Err(Refused::NotRunning(_))));
}
