//! Runs a gateway inside another program: without a port, a file of its own or a signal handler.
//!
//! `cargo run -p mcpr-examples --example embed -- .mcp.json` lists the tools of all servers of the file.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use std::path::PathBuf;

use anyhow::Context;
use mcpr_admin::{Execute, ListServers, ListTools};
use mcpr_auth::Principal;
use mcpr_config::{Config, Process};
use mcpr_core::{Gateway, Operator};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let file: PathBuf = std::env::args_os()
        .nth(1)
        .context("name a configuration file")?
        .into();
    let gateway = Gateway::builder(Config::from_files(&[file], &Process)?)
        .start()
        .await?;
    gateway.settled().await;

    let (operator, me) = (Operator::new(gateway.clone()), Principal::local());
    for server in operator.execute(&me, ListServers {}).await?.servers {
        println!(
            "{} is {} {}",
            server.name,
            server.state,
            server.reason.unwrap_or_default()
        );
    }
    for tool in operator.execute(&me, ListTools::default()).await?.tools {
        println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }

    gateway.shutdown().await;
    Ok(())
}
