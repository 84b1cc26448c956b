//! Sessions: opening, versions, ending, limits (`protocol.md` 6 and 9).

use mcpr_tests::client::Session;
use mcpr_tests::http::{Answer, Request};
use mcpr_tests::{Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;

const VERSION: &str = "mcp-protocol-version";
pub(crate) const SESSION: &str = "mcp-session-id";

/// An `initialize` with these parameters.
async fn initialize(gateway: &Gateway, params: Value) -> Answer {
    let message = json!({ "jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params });
    Request::post("/mcp", message.to_string())
        .token(&gateway.token)
        .send(gateway.port)
        .await
}

/// One request of each verb in a session, and a notification and an answer.
fn everything(session: &Session) -> [Request; 5] {
    [
        session.post(r#"{"jsonrpc":"2.0","id":"r","method":"ping"}"#),
        session.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        session.post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        session.in_session(Request::get("/mcp")),
        session.in_session(Request::new("DELETE", "/mcp")),
    ]
}

/// How many sessions the gateway counts.
pub(crate) async fn sessions(gateway: &Gateway) -> u64 {
    gateway.operate("status", json!({})).await["sessions"]
        .as_u64()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn b33_a_known_version_is_echoed_and_any_other_answered_with_the_newest_of_the_era() {
    let gateway = gateway().ready().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(
            gateway.client_of(version).await.welcome["protocolVersion"],
            version
        );
    }
    for version in ["2099-01-01", "2026-07-28", "1.0", ""] {
        assert_eq!(
            gateway.client_of(version).await.welcome["protocolVersion"],
            "2025-11-25",
            "{version}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_initialize_says_who_answers_and_opens_an_unguessable_session() {
    let gateway = gateway().ready().await;
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let (first, second) = (
        initialize(&gateway, params.clone()).await,
        initialize(&gateway, params).await,
    );
    assert_eq!((first.status(), first.message()["id"].as_str()), (200, Some("i")));
    assert_eq!(first.head.header("content-type"), Some("application/json"));
    assert_eq!(first.message()["result"]["serverInfo"]["name"], "mcpr");
    let ids = [&first, &second].map(|answer| answer.head.header(SESSION).unwrap().to_owned());
    assert!(
        ids[0] != ids[1]
            && ids
                .iter()
                .all(|id| id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic()))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_initialize_that_is_not_one_opens_no_session() {
    let gateway = gateway().ready().await;
    let before = sessions(&gateway).await;
    for params in [
        json!({}),
        json!({ "protocolVersion": 5 }),
        json!({ "protocolVersion": null }),
        Value::Null,
    ] {
        let answer = initialize(&gateway, params.clone()).await;
        assert_eq!(refusal(&answer), (200, -32602, json!("i")), "{params}");
        assert_eq!(answer.head.header(SESSION), None);
    }
    assert_eq!(sessions(&gateway).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn b33_the_version_header_of_initialize_is_not_judged_unless_it_names_the_other_era() {
    let gateway = gateway().ready().await;
    let message =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    let with = |version| {
        Request::post("/mcp", message)
            .token(&gateway.token)
            .header(VERSION, version)
            .header(SESSION, "old")
    };
    for version in ["2099-01-01", "none", "2024-11-05"] {
        assert_eq!(with(version).send(gateway.port).await.status(), 200, "{version}");
    }
    assert_eq!(
        refusal(&with("2026-07-28").send(gateway.port).await),
        (400, -32020, json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b33_a_later_request_with_a_version_nobody_knows_is_refused_whatever_its_verb() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    for version in ["2099-01-01", "", "2025-11-25 ,2025-06-18", "é"] {
        for request in everything(&client) {
            let answer = request.replace(VERSION, version).send(gateway.port).await;
            let (status, code, _) = refusal(&answer);
            assert_eq!((status, code), (400, -32600), "{version}");
        }
    }
    assert_eq!(
        client.request("ping", "{}").await.status(),
        200,
        "the session lives on"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_header_may_be_absent_or_another_than_the_session_s() {
    let gateway = gateway().ready().await;
    let client = gateway.client_of("2025-06-18").await;
    let ping = client.post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(
        ping.clone().without(VERSION).send(gateway.port).await.status(),
        200
    );
    assert_eq!(
        ping.replace(VERSION, "2025-03-26")
            .send(gateway.port)
            .await
            .status(),
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_an_unknown_session_is_404_for_every_verb_and_initialize_works_after_it() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    for id in ["nope", "", &"f".repeat(32), "é", &client.id.to_uppercase()] {
        for (index, request) in everything(&client).into_iter().enumerate() {
            let answer = request.replace(SESSION, id).send(gateway.port).await;
            let echoed = if index == 0 { json!("r") } else { Value::Null };
            assert_eq!(refusal(&answer), (404, -32600, echoed), "{id} {index}");
            assert_eq!(answer.head.header(SESSION), None);
        }
    }
    gateway.client().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_a_session_of_an_earlier_life_of_the_gateway_is_404() {
    let first = gateway().ready().await;
    let old = first.client().await;
    let second = gateway().at_home_of(&first).ready().await;
    first.stop().await;
    let answer = old
        .post(r#"{"jsonrpc":"2.0","id":"r","method":"tools/list"}"#)
        .send(second.port)
        .await;
    assert_eq!(refusal(&answer), (404, -32600, json!("r")));
    let again = Session::open(second.port, &old.token, "2025-11-25").await;
    assert_eq!(
        again.request("ping", "{}").await.status(),
        200,
        "the token is good for both"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_without_a_session_only_initialize_is_taken() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    let statuses = [400, 400, 400, 405, 400];
    for (request, expected) in everything(&client).into_iter().zip(statuses) {
        let answer = request.without(SESSION).send(gateway.port).await;
        let (status, code, _) = refusal(&answer);
        assert_eq!((status, code), (expected, -32600));
    }
    let list = client
        .post(r#"{"jsonrpc":"2.0","id":"r","method":"tools/list"}"#)
        .without(SESSION);
    assert_eq!(
        refusal(&list.without(VERSION).send(gateway.port).await),
        (400, -32600, json!("r"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn b108_a_probe_without_an_envelope_is_told_at_once_that_there_is_no_such_method() {
    let gateway = gateway().ready().await;
    for method in ["server/discover", "subscriptions/listen", "some/method"] {
        let message = json!({ "jsonrpc": "2.0", "id": "p", "method": method }).to_string();
        let answer = Request::post("/mcp", message)
            .token(&gateway.token)
            .send(gateway.port)
            .await;
        assert_eq!(refusal(&answer), (400, -32601, json!("p")), "{method}");
    }
    assert_eq!(
        gateway.client().await.request("ping", "{}").await.status(),
        200,
        "then the handshake works"
    );
}
