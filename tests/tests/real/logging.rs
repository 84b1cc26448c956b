//! What real clients hear of a server's log, in the way of their era.

#![expect(deprecated, reason = "logging is deprecated, and still has to work")]

use mcpr_tests::drivers::{Answers, Client, Operation};
use mcpr_tests::{Eras, Reference, gateway};
use rmcp::model::LoggingLevel;
use serde_json::{Value, json};

use crate::rmcp::{SESSION, STATELESS, Sdk};

const TOOL: &str = "test_tool_with_logging";

/// What the server logs in one call.
const LOGGED: [&str; 3] = [
    "Tool execution started",
    "Tool processing data",
    "Tool execution completed",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_s_log_reaches_each_client_that_asked_for_the_level() {
    for eras in [Eras::Session, Eras::Stateless] {
        let reference = Reference::start(eras);
        let gateway = gateway().server("reference", reference.entry()).ready().await;
        let at = |level| Operation::call_with_log(TOOL, json!({}), level);
        let work = |_| (Answers::default(), vec![at("info"), at("error"), at("debug")]);
        for (client, told) in Client::run_each(&Client::EACH, &gateway.url(), &gateway.token, work).await {
            let heard = [0, 1, 2].map(|call| texts(told.ok(call)["log"].as_array().expect("a log")));
            assert_eq!(
                heard,
                [LOGGED.to_vec(), vec![], LOGGED.to_vec()],
                "{client:?} at {eras:?}"
            );
        }
        for version in [SESSION, STATELESS] {
            let mut sdk = Sdk::connect(&gateway, &version).await;
            sdk.call_with_log(TOOL, LoggingLevel::Error).await;
            sdk.call_with_log(TOOL, LoggingLevel::Info).await;
            let log = [sdk.next_log().await, sdk.next_log().await, sdk.next_log().await];
            // Whatever came of the first call would be one too many here.
            assert_eq!(
                sorted(texts(&log)),
                sorted(LOGGED.to_vec()),
                "rmcp {version} at {eras:?}"
            );
        }
        gateway.stop().await;
    }
}

fn texts(log: &[Value]) -> Vec<&str> {
    log.iter()
        .map(|message| message["data"].as_str().unwrap_or_default())
        .collect()
}

fn sorted(mut texts: Vec<&str>) -> Vec<&str> {
    texts.sort_unstable();
    texts
}
