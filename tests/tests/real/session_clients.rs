//! Clients of the session era before a real server of the stateless one (`protocol.md` 20, rows 9 and 12).

#![expect(deprecated, reason = "logging is deprecated, and still has to work")]

use mcpr_tests::client::Stateless;
use mcpr_tests::drivers::{Answers, Client, Operation};
use mcpr_tests::{Brood, Eras, Reference, gateway, peers};
use rmcp::model::LoggingLevel;
use serde_json::json;

use crate::rmcp::{SESSION, STATELESS, Sdk};

const NOW: &str = "time_get_current_time";

#[tokio::test(flavor = "multi_thread")]
async fn row_09_session_clients_use_the_time_server_in_the_stateless_era() {
    let brood = Brood::new();
    let mut entry = brood.entry(&peers::ready().time());
    entry["mcpr"] = json!({ "protocol": "2026-07-28" });
    let gateway = gateway().server("time", entry).ready().await;
    assert_eq!(gateway.server("time").await["protocol"], "2026-07-28");
    let utc = json!({ "timezone": "UTC" });
    let operations = [
        Operation::list_tools(),
        Operation::call_tool(NOW, utc.clone()),
        Operation::ping(),
        Operation::set_level("debug"),
        Operation::call_tool(NOW, json!({ "timezone": "Nowhere/Land" })),
    ];
    let work = |_| (Answers::default(), operations.to_vec());
    for (client, told) in Client::run_each(&Client::SESSION, &gateway.url(), &gateway.token, work).await {
        assert_eq!(told.version.as_deref(), Some("2025-11-25"), "{client:?}");
        assert_eq!(told.server["name"], "mcpr", "{client:?}");
        assert_eq!(told.tools(0), [NOW, "time_convert_time"], "{client:?}");
        assert!(told.text(1).contains("UTC"), "{client:?}: {}", told.text(1));
        assert_eq!((told.ok(2), told.ok(3)), (&json!({}), &json!({})), "{client:?}");
        assert_eq!(told.ok(4)["isError"], true, "{client:?}: {}", told.ok(4));
    }
    let sdk = Sdk::connect(&gateway, &SESSION).await;
    assert_eq!(sdk.tools().await, [NOW, "time_convert_time"]);
    assert!(
        sdk.call(NOW, &utc).await["content"][0]["text"]
            .to_string()
            .contains("UTC")
    );
    sdk.ping().await;
    sdk.set_level(LoggingLevel::Debug).await;
    brood.stop(gateway).await;
}

const MIRRORED: &str = "test_header_mirroring";

#[tokio::test(flavor = "multi_thread")]
async fn row_12_arguments_of_session_clients_become_headers_with_the_name_that_the_server_knows() {
    let reference = Reference::start(Eras::Stateless);
    let url = json!({ "type": "http", "url": reference.url() });
    let gateway = gateway().server("ref", url).ready().await;
    let arguments = json!({ "region": "Zürich", "shard": 7, "dry": true, "query": "q" });

    // The server does check them.
    let port = reference
        .url()
        .rsplit([':', '/'])
        .nth(1)
        .and_then(|port| port.parse().ok());
    let (port, token) = (port.expect("a port"), String::new());
    let refused = Stateless { port, token }
        .call(MIRRORED, &arguments.to_string())
        .await;
    assert_eq!(refused["error"]["code"], -32020, "{refused}");

    let exposed = format!("ref_{MIRRORED}");
    let operations = [
        Operation::list_tools(),
        Operation::call_tool(&exposed, arguments.clone()),
    ];
    let work = |_| (Answers::default(), operations.to_vec());
    for (client, told) in Client::run_each(&Client::EACH, &gateway.url(), &gateway.token, work).await {
        assert_eq!(
            told.text(1),
            "The headers say what the arguments say.",
            "{client:?}"
        );
    }
    for version in [SESSION, STATELESS] {
        let sdk = Sdk::connect(&gateway, &version).await;
        sdk.tools().await;
        let told = sdk.call(&exposed, &arguments).await;
        assert_eq!(
            told["content"][0]["text"], "The headers say what the arguments say.",
            "rmcp {version}"
        );
    }
}
