//! The endpoint at a path of one's own in a server that the program has already: axum here, and the same for every server
//! that takes a service of tower or hyper.
//!
//! It asks itself, and ends. With `serve` it stays, and prints the entry for a client.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::routing::get;
use mcpr_core::admin::CreateToken;
use mcpr_core::{Config, Gateway, Outcome, Process, Tool};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<()> {
    let echo = Tool::new(
        "echo",
        "Says the same",
        json!({ "type": "object" }),
        async |given| Outcome::text(given.as_str()),
    );
    let gateway = Gateway::builder(Config::from_text("{}", &Process)?)
        .tool(echo)
        .start()
        .await?;
    gateway.settled().await;
    let token = gateway.operate(CreateToken::new("example")).await?.secret;

    let pages = Router::new()
        .route("/", get(async || "the program's own page"))
        .route_service("/agents/mcp", gateway.service());
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let ending = gateway.clone();
    let mut server = JoinSet::new();
    server.spawn(async move {
        // When the gateway ends, its streams do, and the server with them.
        axum::serve(listener, pages)
            .with_graceful_shutdown(async move { ending.stopping().await })
            .await
    });

    if std::env::args().nth(1).as_deref() == Some("serve") {
        println!(
            "http://{address}/agents/mcp  Authorization: Bearer {}",
            token.reveal()
        );
        server.join_next().await;
    }
    tokio::task::spawn_blocking(move || ask(address, token.reveal())).await??;
    end(&gateway, server).await
}

/// What comes of some requests.
fn ask(address: SocketAddr, token: &str) -> Result<()> {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "native_echo", "arguments": { "n": 1 },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "example", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    let host = address.to_string();
    let post = |host: &str, token: &str| {
        let headers = [
            ("Host", host),
            ("Authorization", &format!("Bearer {token}")),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "native_echo"),
        ];
        mcpr_examples::post(address, "/agents/mcp", &headers, &call)
    };

    let (_, answer) = post(&host, token)?;
    let answer: Value = serde_json::from_str(&answer)?;
    println!("a call: {}", mcpr_examples::text(&answer["result"].to_string()));
    println!("without a token: {}", post(&host, "none")?.0);
    println!("by a foreign name: {}", post("evil.example", token)?.0);
    Ok(())
}

async fn end(gateway: &Arc<Gateway>, mut server: JoinSet<std::io::Result<()>>) -> Result<()> {
    gateway.leave();
    gateway.finish(gateway.grace()).await;
    server.join_next().await;
    gateway.shutdown().await;
    Ok(())
}
