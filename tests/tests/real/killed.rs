//! A real server that is killed while every real client has a call open at it (`protocol.md` 20, row 10).

use std::process::Command;

use mcpr_tests::drivers::{Answers, Client, Operation};
use mcpr_tests::peers::{self, Words};
use mcpr_tests::{Brood, Gateway, gateway};
use serde_json::json;
use tempfile::TempDir;

use crate::rmcp::{List, SESSION, STATELESS, Sdk};

const LONG: &str = "everything_trigger_long_running_operation";
const ECHO: &str = "everything_echo";

/// How many clients have a call open: one for each SDK and era.
const CLIENTS: u64 = 7;

/// A server that does not come back at the first attempt, so that clients have to be told.
fn hard_to_start_again(words: &Words, folder: &TempDir) -> Words {
    let [started, failed] = ["started", "failed"].map(|mark| folder.path().join(mark).display().to_string());
    let fail = format!("if [ -e {started} ] && [ ! -e {failed} ]; then touch {failed}; exit 1; fi");
    let script = format!(r#"{fail}; touch {started}; exec "$@""#);
    let shell = ["/bin/sh", "-c", &script, "sh"].map(str::to_owned);
    shell.into_iter().chain(words.iter().cloned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn row_10_a_killed_server_costs_each_client_one_call_and_all_hear_of_it() {
    let (brood, folder) = (Brood::new(), TempDir::new().expect("a temporary folder"));
    let words = hard_to_start_again(&peers::ready().everything(), &folder);
    let mut entry = brood.entry(&words);
    entry["mcpr"] = json!({ "restart": { "backoffMin": "2s" } });
    let gateway = gateway().server("everything", entry).ready().await;
    let operations = [
        Operation::listen_to_tools(),
        Operation::call_tool(LONG, json!({ "duration": 300, "steps": 3 })),
        Operation::await_tool(ECHO, false),
        Operation::await_tool(ECHO, true),
        Operation::call_tool(ECHO, json!({ "message": "again" })),
    ];
    let work = |_| (Answers::default(), operations.to_vec());
    let (url, token) = (gateway.url(), &gateway.token);
    let (all, (), (), ()) = tokio::join!(
        Client::run_each(&Client::EACH, &url, token, work),
        rmcp(&gateway, true),
        rmcp(&gateway, false),
        kill_at_work(&gateway),
    );
    for (client, told) in all {
        let error = told.failure(1);
        assert!(error.contains("everything"), "{client:?}: {error}");
        assert_eq!(told.text(4), "Echo: again", "{client:?}");
    }
    assert_eq!(gateway.server("everything").await["starts"], 3);
    brood.stop(gateway).await;
}

/// Kills the server once all clients have a call open.
async fn kill_at_work(gateway: &Gateway) {
    let busy = |server: &serde_json::Value| server["inFlight"] == CLIENTS;
    let server = gateway.await_server("everything", busy).await;
    let killed = Command::new("kill")
        .args(["-9", &server["pid"].to_string()])
        .status();
    assert!(killed.is_ok_and(|status| status.success()));
}

async fn rmcp(gateway: &Gateway, stateless: bool) {
    let version = if stateless { STATELESS } else { SESSION };
    let sdk = Sdk::connect(gateway, &version).await;
    let mut notices = sdk.notices(List::Tools).await;
    let lost = sdk.try_call(LONG, &json!({ "duration": 300, "steps": 3 })).await;
    assert!(format!("{lost:?}").contains("everything"), "{lost:?}");
    for listed in [false, true] {
        while sdk.tools().await.iter().any(|tool| tool == ECHO) != listed {
            notices.next().await;
        }
    }
    let told = sdk.call(ECHO, &json!({ "message": "again" })).await;
    assert_eq!(told["content"][0]["text"], "Echo: again");
}
