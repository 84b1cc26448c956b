//! A rule of the program itself for which of several backends gets a call: the same tool always goes to the same one,
//! whose caches are warm for it; every other tool goes where the configuration says.
//!
//! The server is this program too, started with `serve`, and its replicas answer with who they are.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use std::collections::BTreeSet;

use anyhow::Result;
use mcpr_core::{Balance, Candidate, Choice, Config, Gateway, LocalClient, Process};
use serde_json::json;

const TOOLS: &[mcpr_examples::Tool] = &[("index", "Searches a large index", who), ("ping", "Answers", who)];

fn who(_: &serde_json::Value) -> String {
    std::process::id().to_string()
}

/// Warm caches first. The candidates are in the order of the configuration and can all take the call.
fn warm(call: &Choice<'_>, candidates: &[Candidate<'_>]) -> usize {
    match call.item {
        Some("index") => 0,
        _ => call.usual.pick(call, candidates),
    }
}

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => mcpr_examples::serve(TOOLS),
        _ => balanced(),
    }
}

#[tokio::main]
async fn balanced() -> Result<()> {
    let config = json!({ "mcpServers": { "search": {
        "command": std::env::current_exe()?, "args": ["serve"], "mcpr": { "replicas": 3, "balance": "round_robin" },
    } } });
    let gateway = Gateway::builder(Config::from_text(&config.to_string(), &Process)?)
        .balance(warm)
        .start()
        .await?;
    gateway.settled().await;
    let client = gateway.client();

    for tool in ["search.index", "search.ping"] {
        println!(
            "six calls of {tool} went to {} of 3",
            backends(&client, tool).await?
        );
    }
    gateway.shutdown().await;
    Ok(())
}

/// How many backends answered six calls.
async fn backends(client: &LocalClient, tool: &str) -> Result<usize> {
    let mut answered = BTreeSet::new();
    for _ in 0..6 {
        let result = client.call(tool, &json!({})).await?;
        answered.insert(mcpr_examples::text(result.as_str()));
    }
    Ok(answered.len())
}
