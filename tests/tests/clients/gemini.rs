//! The Gemini CLI.

use mcpr_tests::clis::Cli;
use serde_json::json;

use crate::place::{Place, grow};

#[tokio::test(flavor = "multi_thread")]
async fn gemini_mcp_list_finds_a_gateway_connected() {
    let place = Place::new(Cli::Gemini).await;
    let said = place.user.list().await;
    assert!(
        said.lines()
            .any(|line| line.contains("mcpr") && line.contains("Connected")),
        "{said}"
    );
    place.check_sent("list", &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_stays_connected_and_hears_of_a_new_tool() {
    let place = Place::new(Cli::Gemini).await;
    let mut gemini = place.user.open();
    gemini
        .request(
            "initialize",
            json!({ "protocolVersion": 1, "clientCapabilities": {} }),
        )
        .await;
    gemini
        .request("authenticate", json!({ "methodId": "gemini-api-key" }))
        .await;
    let session = json!({ "cwd": place.user.home(), "mcpServers": [] });
    let opened = gemini.request("session/new", session).await;
    assert!(opened["result"]["sessionId"].is_string(), "{opened}");
    // It has connected twice: when it was started and for the session.
    place.recorder.await_sent("GET", 2).await;
    place.recorder.await_sent("resources/list", 2).await;
    place.check_sent("session", &[]);

    grow(&place.gateway).await;

    place.recorder.await_sent("tools/list", 1).await;
    let again = place.recorder.take();
    assert!(
        again.iter().all(|sent| sent.method() != "initialize"),
        "it stayed connected"
    );
}
