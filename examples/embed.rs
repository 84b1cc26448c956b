//! Runs a gateway inside another program: without a port, a file of its own or a signal handler.
//!
//! `cargo run -p mcpr-examples --example embed -- .mcp.json` lists the tools of all servers of the file.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use anyhow::Context;
use mcpr_core::{Config, Gateway, Process};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let file = std::env::args_os().nth(1).context("name a configuration file")?;
    let config = Config::from_files(&[file.into()], &Process)?;
    let gateway = Gateway::builder(config).start().await?;
    gateway.settled().await;
    for tool in gateway.client().tools().await? {
        println!("{}", tool.as_str());
    }
    gateway.shutdown().await;
    Ok(())
}
