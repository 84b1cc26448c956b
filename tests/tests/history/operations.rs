//! What operators ask of the history.

use mcpr_auth::Principal;
use mcpr_core::Operator;
use mcpr_tests::{Gateway, gateway};
use serde_json::{Value, json};

use crate::stage::{history, server};

fn tools(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|call| call["tool"].as_str().unwrap()).collect()
}

/// A gateway that has answered some calls: `x`, `bad`, `broken`, `x`.
async fn busy() -> Gateway {
    let fake = server().stdio();
    let gateway = gateway()
        .fake("a", &fake)
        .fake("b", &fake)
        .own("history", json!({ "arguments": "full" }))
        .ready()
        .await;
    let client = gateway.client().await;
    for (tool, arguments) in [
        ("a_x", r#"{"branch":"Main"}"#),
        ("a_bad", "{}"),
        ("a_broken", "{}"),
        ("b_x", "{}"),
    ] {
        client.call(tool, arguments).await;
    }
    gateway
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_the_history_is_searched() {
    let gateway = busy().await;
    for (asked, expected) in [
        (json!({}), vec!["x", "broken", "bad", "x"]),
        (json!({ "server": "b" }), vec!["x"]),
        (json!({ "tool": "bad" }), vec!["bad"]),
        (json!({ "status": "error" }), vec!["broken"]),
        (json!({ "status": "tool_error", "server": "b" }), vec![]),
        (json!({ "text": "mAIN" }), vec!["x"]),
        (json!({ "text": "disk is" }), vec!["broken"]),
        (json!({ "slowerThanMs": 60_000 }), vec![]),
        (json!({ "since": "2999-01-01T00:00:00Z" }), vec![]),
        (
            json!({ "until": "2999-01-01T00:00:00+01:00", "limit": 1 }),
            vec!["x"],
        ),
        (json!({ "principal": "local" }), vec![]),
    ] {
        let calls = history(&gateway, asked.clone()).await;
        assert_eq!(tools(&calls), expected, "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_the_history_is_read_page_by_page() {
    let gateway = busy().await;

    let first = gateway.operate("history/list", json!({ "limit": 3 })).await;
    let second = json!({ "limit": 3, "before": first["next"] });
    let second = gateway.operate("history/list", second).await;

    assert_eq!(tools(first["calls"].as_array().unwrap()), ["x", "broken", "bad"]);
    assert_eq!(tools(second["calls"].as_array().unwrap()), ["x"]);
    assert_eq!(second["next"], Value::Null);
    let newest = &first["calls"][0]["id"];
    assert!(history(&gateway, json!({ "after": newest })).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_a_call_is_shown_with_its_arguments_by_its_id_or_its_beginning() {
    let gateway = busy().await;
    let oldest = history(&gateway, json!({})).await[3].clone();
    let id = oldest["id"].as_str().unwrap();
    assert_eq!(oldest["arguments"], Value::Null);

    let shown = gateway.operate("history/show", json!({ "id": id })).await;
    let none = gateway.operate("history/show", json!({ "id": "h_" })).await;

    assert_eq!(shown["arguments"], json!({ "branch": "Main" }));
    assert_eq!(none["error"]["code"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_an_operator_forgets_what_is_meant_and_no_more() {
    let gateway = busy().await;
    let purge = async |asked| gateway.operate("history/purge", asked).await["deleted"].clone();

    assert_eq!(purge(json!({ "before": "2020-01-01T00:00:00Z" })).await, 0);
    assert_eq!(purge(json!({ "server": "a", "status": "ok" })).await, 1);
    assert_eq!(tools(&history(&gateway, json!({})).await), ["x", "broken", "bad"]);
    assert_eq!(purge(json!({})).await, 3);
    assert!(history(&gateway, json!({})).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn log_06_what_cannot_be_meant_is_refused() {
    let gateway = gateway().start().await;
    for (path, asked) in [
        ("history/list", json!({ "since": "yesterday" })),
        ("history/list", json!({ "status": "fine" })),
        ("history/list", json!({ "sinec": "2027-01-15T08:00:00Z" })),
        ("history/purge", json!({ "before": "30d" })),
        ("history/purge", json!({ "olderThan": "30d" })),
    ] {
        let answer = gateway.operate(path, asked.clone()).await;
        assert_eq!(answer["error"]["code"], "invalid", "{asked}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_06_who_may_only_read_forgets_nothing() {
    let gateway = busy().await;
    let operator = Operator::new(gateway.core.clone());
    let reader = Principal::anonymous();

    let listed = operator.perform(&reader, "history/list", b"{}").await;
    let purged = operator.perform(&reader, "history/purge", b"{}").await;

    assert_eq!(
        (listed.status(), purged.status()),
        (200.try_into().unwrap(), 403.try_into().unwrap())
    );
    assert_eq!(history(&gateway, json!({})).await.len(), 4);
}
