//! What the edge refuses before anybody looks at the message (SEC-05, `protocol.md` 7).

use mcpr_tests::gateway;
use mcpr_tests::http::{Connection, Request};
use serde_json::{Value, json};

use crate::refusal;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn other_verbs_are_405_and_the_allowed_ones_are_named() {
    let gateway = gateway().ready().await;
    for verb in ["PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] {
        let answer = Request::new(verb, "/mcp")
            .token(&gateway.token)
            .send(gateway.port)
            .await;
        assert_eq!((refusal(&answer).0, refusal(&answer).1), (405, -32600), "{verb}");
        assert_eq!(answer.head.header("allow"), Some("POST, GET, DELETE"));
    }
    let (head, _) = Request::new("HEAD", "/mcp")
        .token(&gateway.token)
        .open(gateway.port)
        .await;
    assert_eq!(head.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_said_to_be_json_is_415() {
    let gateway = gateway().ready().await;
    let post = Request::post("/mcp", PING).token(&gateway.token);
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonl",
        "multipart/form-data",
        "",
    ];
    let mut refused: Vec<Request> = kinds
        .iter()
        .map(|kind| post.clone().replace("content-type", kind))
        .collect();
    refused.extend([
        post.clone().without("content-type"),
        post.clone().header("content-encoding", "gzip"),
    ]);
    for request in refused {
        let answer = request.send(gateway.port).await;
        assert_eq!(
            (refusal(&answer).0, refusal(&answer).1),
            (415, -32600),
            "{request:?}"
        );
    }
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(
            post.clone()
                .replace("content-type", kind)
                .send(gateway.port)
                .await
                .status(),
            400,
            "no session, but {kind}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_body_over_the_limit_is_413_announced_or_not() {
    let gateway = gateway()
        .own("limits", json!({ "requestBody": 1024 }))
        .ready()
        .await;
    let client = gateway.client().await;
    let fits = format!("{PING}{}", " ".repeat(1024 - PING.len()));
    assert_eq!(client.post(&fits).send(gateway.port).await.status(), 200);
    let announced = client.post(&format!("{fits} ")).send(gateway.port).await;
    assert_eq!(refusal(&announced), (413, -32600, Value::Null));
    assert!(
        announced.text().contains("mcpr.limits.requestBody"),
        "{}",
        announced.text()
    );
    let chunked = client.post("").header("transfer-encoding", "chunked");
    let mut connection = Connection::open(gateway.port).await;
    connection.send(&chunked.bytes()).await;
    connection
        .send(format!("800\r\n{}\r\n0\r\n\r\n", " ".repeat(0x800)).as_bytes())
        .await;
    assert_eq!(refusal(&connection.answer().await), (413, -32600, Value::Null));
    assert_eq!(client.request("ping", "{}").await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_body_of_megabytes_within_the_limit_is_taken() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(3 << 20));
    assert_eq!(
        client.request("ping", &large).await.message()["result"],
        json!({})
    );
    let huge = format!(r#"{{"a":"{}"}}"#, "x".repeat(5 << 20));
    assert_eq!(
        refusal(&client.request("ping", &huge).await),
        (413, -32600, Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_connection_too_many_is_told_so() {
    let gateway = gateway().own("limits", json!({ "connections": 2 })).start().await;
    let request = Request::post("/mcp", PING).token(&gateway.token);
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(gateway.port).await;
        connection.send(&request.bytes()).await;
        assert_eq!(
            connection.answer().await.status(),
            400,
            "let in, but without a session"
        );
        kept.push(connection);
    }
    let answer = request.send(gateway.port).await;
    assert_eq!(
        (refusal(&answer).0, answer.head.header("retry-after")),
        (503, Some("1"))
    );
    assert!(
        answer.text().contains("mcpr.limits.connections"),
        "{}",
        answer.text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_connections_without_a_token_keep_nobody_out() {
    let gateway = gateway().own("limits", json!({ "connections": 3 })).ready().await;
    let client = gateway.client().await;
    let mut strangers = Vec::new();
    for _ in 0..10 {
        let mut stranger = Connection::open(gateway.port).await;
        stranger.send(b"POST /mcp HTTP/1.1\r\nhost: local").await;
        strangers.push(stranger);
        assert_eq!(client.request("ping", "{}").await.status(), 200);
    }
    assert!(strangers[0].try_head().await.is_none(), "the first had to go");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_ends_its_connection_and_nothing_else() {
    let gateway = gateway().ready().await;
    let heads = [
        "\0\u{1}\u{2}\r\n\r\n".to_owned(),
        "GET /mcp\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}".to_owned() + &"\0".repeat(64) + "\r\n\r\n",
        format!(
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
            "y".repeat(100_000)
        ),
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello"
            .to_owned(),
    ];
    for head in heads {
        let mut connection = Connection::open(gateway.port).await;
        connection.send(head.as_bytes()).await;
        let status = connection.head().await.status;
        assert!(matches!(status, 400 | 431), "{status}");
    }
    assert_eq!(
        Request::new("GET", "/healthz").send(gateway.port).await.status(),
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_session_is_opened_by_no_more_client_info_than_it_may_keep() {
    let gateway = gateway().ready().await;
    for (length, refused) in [(60_000, false), (70_000, true)] {
        let info = json!({ "name": "n".repeat(length), "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answer = Request::post("/mcp", open.to_string())
            .token(&gateway.token)
            .send(gateway.port)
            .await;
        let error = &answer.message()["error"];
        assert_eq!(
            (answer.head.status, error["code"] == -32602),
            (200, refused),
            "{error}"
        );
        assert_eq!(answer.head.header("mcp-session-id").is_none(), refused);
    }
}
