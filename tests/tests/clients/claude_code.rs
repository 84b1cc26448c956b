//! Claude Code.

use std::time::{Duration, Instant};

use mcpr_tests::clis::Cli;
use mcpr_tests::pipe::Pipe;
use serde_json::{Value, json};

use crate::place::{Place, grow};

#[tokio::test(flavor = "multi_thread")]
async fn claude_mcp_list_finds_a_gateway_connected() {
    let place = Place::new(Cli::ClaudeCode).await;
    let said = place.user.list().await;
    assert!(said.contains("mcpr") && said.contains("✔ Connected"), "{said}");
    place.check_sent("list", &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_stays_connected_and_hears_of_a_new_tool() {
    let place = Place::new(Cli::ClaudeCode).await;
    let mut claude = place.user.open();
    ask(&mut claude, "initialize").await;
    let before = await_tools(&mut claude, 6).await;
    assert_eq!(before["serverInfo"]["name"], "mcpr");
    place.recorder.await_sent("subscriptions/listen", 1).await;
    place.check_sent("session", &[]);

    grow(&place.gateway).await;

    await_tools(&mut claude, 7).await;
    let again = place.recorder.take();
    assert!(again.iter().any(|sent| sent.method() == "tools/list"));
    let anew = ["server/discover", "subscriptions/listen"];
    assert!(
        again.iter().all(|sent| !anew.contains(&&*sent.method())),
        "it stayed connected"
    );
    claude.close().await;
}

/// What it answers to a request of those that control it.
async fn ask(claude: &mut Pipe, subtype: &str) -> Value {
    let request =
        json!({ "type": "control_request", "request_id": subtype, "request": { "subtype": subtype } });
    claude.send(&request.to_string()).await;
    let mut answer = claude
        .message(|message| message["response"]["request_id"] == subtype)
        .await;
    answer["response"]["response"].take()
}

/// Waits until it says that it is connected and knows so many tools; gives all it says.
async fn await_tools(claude: &mut Pipe, count: usize) -> Value {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let status = ask(claude, "mcp_status").await["mcpServers"][0].take();
        if status["status"] == "connected" && status["tools"].as_array().map(Vec::len) == Some(count) {
            return status;
        }
        assert!(Instant::now() < end, "it stays so: {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
