//! The envelope of a stateless request and the order of its checks (`protocol.md` 4.1).

use mcpr_tests::http::Request;
use mcpr_tests::{Gateway, gateway};
use serde_json::{Value, json};

use crate::refusal;

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";

/// A `tools/list` with this `_meta`.
fn listing(gateway: &Gateway, meta: Value) -> Request {
    let message = json!({ "jsonrpc": "2.0", "id": "s", "method": "tools/list", "params": { "_meta": meta } });
    gateway.stateless().post(&message.to_string(), "tools/list", None)
}

/// A complete envelope with some members replaced; `null` takes one out.
fn envelope(changes: Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in changes.as_object().unwrap() {
        meta[format!("io.modelcontextprotocol/{key}")] = value.clone();
    }
    meta.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    meta
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_is_not_whole_is_400_and_invalid_params() {
    let gateway = gateway().ready().await;
    let broken = [
        json!({ "protocolVersion": 5 }),
        json!({ "protocolVersion": {} }),
        json!({ "clientCapabilities": null }),
        json!({ "clientCapabilities": [] }),
        json!({ "clientCapabilities": "x" }),
        json!({ "clientInfo": {} }),
        json!({ "clientInfo": { "name": "x" } }),
        json!({ "clientInfo": { "name": 5, "version": "1" } }),
        json!({ "clientInfo": "x" }),
        json!({ "logLevel": "loud" }),
        json!({ "logLevel": 3 }),
    ];
    for changes in broken {
        let answer = listing(&gateway, envelope(changes.clone()))
            .send(gateway.port)
            .await;
        assert_eq!(refusal(&answer), (400, -32602, json!("s")), "{changes}");
    }
    let good = listing(&gateway, envelope(json!({ "logLevel": "info" })))
        .send(gateway.port)
        .await;
    assert_eq!(good.status(), 200, "without clientInfo it is whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_header_that_is_missing_or_another_is_a_mismatch() {
    let gateway = gateway().ready().await;
    let request = listing(&gateway, envelope(json!({})));
    let sent = [
        request.clone().without(VERSION),
        request.clone().replace(VERSION, "2025-11-25"),
        request.clone().replace(VERSION, "2099-01-01"),
        request.clone().header(VERSION, "2026-07-28"),
    ];
    for request in sent {
        assert_eq!(
            refusal(&request.send(gateway.port).await),
            (400, -32020, json!("s"))
        );
    }
    let padded = request.replace(VERSION, " 2026-07-28\t").send(gateway.port).await;
    assert_eq!(
        padded.status(),
        200,
        "white space around a value is no part of it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_has_no_envelope_is_unsupported_and_the_ones_that_have_are_told() {
    let gateway = gateway().ready().await;
    for version in ["2025-11-25", "2024-11-05", "2099-01-01", "x"] {
        let request = listing(&gateway, envelope(json!({ "protocolVersion": version })));
        let answer = request.replace(VERSION, version).send(gateway.port).await;
        assert_eq!(refusal(&answer), (400, -32022, json!("s")), "{version}");
        let data = json!({ "supported": ["2026-07-28"], "requested": version });
        assert_eq!(answer.message()["error"]["data"], data);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_the_era_does_not_have_is_404_even_if_its_headers_are_wrong() {
    let gateway = gateway().ready().await;
    let stateless = gateway.stateless();
    let methods = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "none",
        "tasks/result",
        "tasks/list",
        "roots/list",
        "Tools/List",
    ];
    for method in methods {
        let message = stateless.text("\"m\"", method, "");
        let right = stateless.post(&message, method, None);
        for request in [right.clone(), right.without(METHOD)] {
            assert_eq!(
                refusal(&request.send(gateway.port).await),
                (404, -32601, json!("m")),
                "{method}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_header_of_the_era_without_an_envelope_names_the_missing_key() {
    let gateway = gateway().ready().await;
    for params in [
        json!({}),
        json!({ "_meta": {} }),
        json!({ "_meta": [] }),
        json!({ "_meta": null }),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": "n", "method": "tools/list", "params": params });
        let answer = gateway
            .stateless()
            .post(&message.to_string(), "tools/list", None)
            .send(gateway.port)
            .await;
        assert_eq!(refusal(&answer), (400, -32602, json!("n")), "{params}");
        assert!(
            answer.text().contains("io.modelcontextprotocol/protocolVersion"),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_counts_more_than_a_session_and_no_session_is_looked_for() {
    let gateway = gateway().ready().await;
    let client = gateway.client().await;
    for id in ["nope", &client.id] {
        let request = listing(&gateway, envelope(json!({})))
            .header("mcp-session-id", id)
            .header("last-event-id", "7");
        let answer = request.send(gateway.port).await;
        assert_eq!(
            (answer.status(), &answer.message()["result"]["resultType"]),
            (200, &json!("complete")),
            "{id}"
        );
        assert_eq!(answer.head.header("mcp-session-id"), None);
    }
}
