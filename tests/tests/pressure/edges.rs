//! What the edge takes of one client: connections, requests in a time, headers, depth (SEC-05).

use std::time::Duration;

use mcpr_tests::client::Session;
use mcpr_tests::http::{Connection, Request};
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::wire::Wire;
use crate::{assert_busy, data, per_principal};

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

/// A connection on which a client was answered once.
async fn kept(client: &Session) -> Connection {
    let mut connection = Connection::open(client.port).await;
    connection.send(&client.post(PING).bytes()).await;
    assert_eq!(connection.answer().await.status(), 200);
    connection
}

/// Opens a session with another token on a gateway.
async fn another(gateway: &Gateway) -> Session {
    let token = gateway.another_token(&["read", "call"]).await;
    Session::open(gateway.port, &token, "2025-11-25").await
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_one_connection_too_many_of_a_principal_is_told_so_and_others_connect() {
    let limits = per_principal("connections", 2);
    let gateway = gateway().own("limits", limits).start().await;
    let (client, other) = (gateway.client().await, another(&gateway).await);
    let mut first = kept(&client).await;
    let _second = kept(&client).await;

    let refused = client.post(PING).send(gateway.port).await;

    assert_eq!(
        (refused.status(), refused.head.header("retry-after")),
        (429, Some("1"))
    );
    assert_eq!(refused.head.header("connection"), Some("close"));
    assert_busy(&refused.message(), "`limits.perPrincipal.connections`");
    kept(&other).await;
    first.send(&client.post(PING).bytes()).await;
    assert_eq!(first.answer().await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_connection_counts_for_whoever_came_on_it_last() {
    let limits = per_principal("connections", 1);
    let gateway = gateway().own("limits", limits).start().await;
    let (client, other) = (gateway.client().await, another(&gateway).await);
    let mut shared = kept(&client).await;
    assert_eq!(client.post(PING).send(gateway.port).await.status(), 429);

    shared.send(&other.post(PING).bytes()).await;
    assert_eq!(shared.answer().await.status(), 200);

    kept(&client).await;
    assert_eq!(other.post(PING).send(gateway.port).await.status(), 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_connection_whose_token_is_no_longer_good_counts_for_nobody() {
    let limits = per_principal("connections", 1);
    let gateway = gateway().own("limits", limits).start().await;
    let made = gateway
        .operate("tokens/create", json!({ "name": "laptop" }))
        .await;
    let post = |made: &Value| Request::post("/mcp", PING).token(made["secret"].as_str().unwrap());
    let mut stolen = post(&made).start(gateway.port).await;
    assert_eq!(stolen.answer().await.status(), 400, "it is let in");
    let rotate = json!({ "which": "laptop", "graceSeconds": 0 });
    let renewed = gateway.operate("tokens/rotate", rotate).await;
    stolen.send(&post(&made).bytes()).await;
    assert_eq!(stolen.answer().await.status(), 401);

    assert_eq!(post(&renewed).send(gateway.port).await.status(), 400);
}

/// Sends pings until one is refused for their rate, and gives how many were taken before.
async fn until_limited(client: &Session) -> (usize, Value) {
    for taken in 0..100 {
        let answer = client.post(PING).send(client.port).await;
        if answer.status() == 429 {
            assert_eq!(answer.head.header("content-type"), Some("application/json"));
            let after: u64 = answer.head.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=3600).contains(&after), "{after}");
            return (taken, answer.message());
        }
        assert_eq!(answer.status(), 200);
    }
    panic!("a hundred were taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_err_rate_limited_after_so_many_requests_with_the_time_to_wait() {
    let limits = json!({ "perPrincipal": { "rate": "5/h" } });
    let gateway = gateway().own("limits", limits).start().await;
    let (client, other) = (gateway.client().await, another(&gateway).await);

    // Opening the session were two requests.
    let (taken, refused) = until_limited(&client).await;

    assert_eq!(taken, 3);
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(7), &json!(-32603))
    );
    let data = data(&refused);
    assert_eq!(
        (&data["reason"], &data["retry"]),
        (&json!("rate_limited"), &json!("safe"))
    );
    assert!(data["retryAfterMs"].as_u64().unwrap() > 600_000, "{data}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("5/h") && message.contains("`limits.perPrincipal.rate`"),
        "{message}"
    );
    assert_eq!(until_limited(&other).await.0, 3, "another token has its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_03_what_is_refused_for_its_rate_has_a_number_and_is_counted() {
    let gateway = gateway()
        .own("limits", json!({ "perPrincipal": { "rate": "5/h" } }))
        .start()
        .await;
    let client = gateway.client().await;
    let (_, first) = until_limited(&client).await;
    let (_, second) = until_limited(&client).await;

    let numbers = [first, second].map(|refused| refused["error"]["data"]["requestId"].as_u64().unwrap());
    assert!(numbers[0] > 0 && numbers[1] > numbers[0], "{numbers:?}");
    let admin = gateway.another_token(&["admin"]).await;
    let metrics = Request::get("/metrics").token(&admin).send(gateway.port).await;
    let counted = r#"mcpr_refused_total{reason="rate_limited"} 2"#;
    assert!(metrics.text().contains(counted), "{}", metrics.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_rate_holds_for_streams_and_batches_and_lets_cancels_pass() {
    let limits = json!({ "perPrincipal": { "rate": "6/h" } });
    let gateway = gateway().own("limits", limits).start().await;
    let client = gateway.client_of("2025-03-26").await;
    let batch = format!("[{PING},{}]", PING.replace('7', "8"));
    assert_eq!(client.post(&batch).send(gateway.port).await.status(), 200);
    client.stream().await;
    assert_eq!(until_limited(&client).await.0, 1);

    let stream = client.in_session(Request::get("/mcp")).send(gateway.port).await;
    assert_eq!(stream.status(), 429);
    assert_eq!(client.post(&batch).send(gateway.port).await.status(), 429);
    let cancel = client
        .notify("notifications/cancelled", r#"{"requestId":1}"#)
        .await;
    assert_eq!(cancel.status(), 202);
    let other = client.notify("notifications/roots/list_changed", "{}").await;
    assert_eq!(other.status(), 429);
    let delete = client.in_session(Request::new("DELETE", "/mcp"));
    assert_eq!(delete.send(gateway.port).await.status(), 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_all_of_an_array_counts_one_by_one_but_cancels_and_answers() {
    let limits = json!({ "perPrincipal": { "rate": "6/h" } });
    let gateway = gateway().own("limits", limits).start().await;
    // Two messages begin a session.
    let client = gateway.client_of("2025-03-26").await;
    let note = |method: &str| format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}"}}"#);
    let free = format!(
        r#"[{},{{"jsonrpc":"2.0","id":1,"result":{{}}}}]"#,
        note("cancelled")
    );
    let three = format!("[{0},{0},1]", note("roots/list_changed"));

    for array in [&free, &free, &three] {
        assert!(client.post(array).send(gateway.port).await.status() < 300);
    }

    assert_eq!(until_limited(&client).await.0, 1);
    assert_eq!(client.post(&free).send(gateway.port).await.status(), 202);
    assert_eq!(client.post(&three).send(gateway.port).await.status(), 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_who_waits_as_long_as_it_is_told_is_served() {
    let limits = json!({ "perPrincipal": { "rate": "4/s" } });
    let gateway = gateway().own("limits", limits).start().await;
    let client = gateway.client().await;
    let (_, refused) = until_limited(&client).await;

    let wait = data(&refused)["retryAfterMs"].as_u64().unwrap();
    tokio::time::sleep(Duration::from_millis(wait + 1)).await;

    assert_eq!(client.post(PING).send(gateway.port).await.status(), 200);
}

/// An object in an object, so deep.
fn nested(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_message_is_nested_no_deeper_than_128_levels() {
    let fake = Fake::script().tool("t").stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let (client, mut wire) = (gateway.client().await, Wire::open(&gateway).await);
    let call = |depth| format!(r#"{{"name":"a_t","arguments":{}}}"#, nested(depth));

    // The message, its params and its arguments are three of them.
    let (fits, deep) = (call(126), call(127));

    assert!(client.request("tools/call", &fits).await.message()["result"].is_object());
    assert!(wire.ask("1", "tools/call", &fits).await["result"].is_object());
    let refused = client.request("tools/call", &deep).await;
    assert_eq!(refused.status(), 400);
    for refused in [refused.message(), wire.ask("2", "tools/call", &deep).await] {
        assert_eq!(refused["error"]["code"], -32600);
        assert!(refused["id"].is_number(), "{refused}");
        assert!(
            refused["error"]["message"].as_str().unwrap().contains("128"),
            "{refused}"
        );
    }
    let abyss = client.request("ping", &nested(500_000)).await;
    assert_eq!(abyss.status(), 400);
    assert_eq!(fake.received_of("tools/call").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn b93_a_token_of_eight_kilobytes_is_read_and_judged_like_any_other() {
    let gateway = gateway().start().await;
    let long = "x".repeat(8 * 1024);

    let refused = Request::post("/mcp", PING).token(&long).send(gateway.port).await;

    assert_eq!(refused.status(), 401);
    assert_eq!(refused.message()["reason"], "not_a_token");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_arrays_that_are_refused_count_as_well() {
    let limits = json!({ "perPrincipal": { "rate": "5/h" } });
    let gateway = gateway().own("limits", limits).start().await;
    let client = gateway.client().await;
    let array = format!("[{PING}]");

    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(client.post(&array).send(gateway.port).await.status());
    }

    assert_eq!(statuses, [400, 400, 400, 429]);
}
