//! `fakemcp SPEC.json [--http PORT | --sse PORT] [--until-eof]`: a scriptable, misbehaving MCP server.
//!
//! It shares no code with mcpr, so that it can bear witness about it. Without a port it speaks stdio. With
//! one (0 for any) its first line on stdout is `{"port":N}`; with `--until-eof` it also ends when stdin ends.

mod converse;
mod envelope;
mod exchange;
mod fault;
mod framing;
mod http;
mod interview;
mod log;
mod message;
mod methods;
mod notices;
mod old_tasks;
mod outlet;
mod server;
mod spec;
mod sse;
mod stdio;
mod streamable;
mod tasks;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::server::Server;
use crate::spec::Spec;

/// What the command line asks for.
struct Arguments {
    spec: PathBuf,
    wire: Wire,
    until_eof: bool,
}

/// How it is spoken to.
enum Wire {
    Stdio,
    Streamable(u16),
    Sse(u16),
}

fn main() -> anyhow::Result<()> {
    let arguments = arguments()?;
    let server = Arc::new(Server::new(Spec::read(Path::new(&arguments.spec))?)?);
    if arguments.until_eof {
        end_with_stdin();
    }
    // One thread: whoever blocks this server blocks all of it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(server, arguments.wire))?;
    // The thread that reads stdin may still wait; nothing waits for it.
    std::process::exit(0)
}

async fn run(server: Arc<Server>, wire: Wire) -> anyhow::Result<()> {
    let _deaf = deaf_to_term(&server.spec)?;
    match wire {
        Wire::Stdio => stdio::serve(server).await,
        Wire::Streamable(port) => streamable::serve(server, port).await?,
        Wire::Sse(port) => sse::serve(server, port).await?,
    }
    Ok(())
}

/// While the value lives, SIGTERM does nothing.
fn deaf_to_term(spec: &Spec) -> std::io::Result<Option<Signal>> {
    spec.stubborn.then(|| signal(SignalKind::terminate())).transpose()
}

fn end_with_stdin() {
    std::thread::spawn(|| {
        // However stdin ends, it ends this process.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(0);
    });
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut words = std::env::args().skip(1);
    let spec = words
        .next()
        .context("usage: fakemcp SPEC.json [--http PORT | --sse PORT] [--until-eof]")?;
    let mut arguments = Arguments {
        spec: spec.into(),
        wire: Wire::Stdio,
        until_eof: false,
    };
    while let Some(word) = words.next() {
        let mut port = || {
            words
                .next()
                .with_context(|| format!("{word} needs a port"))?
                .parse()
                .context("a port")
        };
        match word.as_str() {
            "--http" => arguments.wire = Wire::Streamable(port()?),
            "--sse" => arguments.wire = Wire::Sse(port()?),
            "--until-eof" => arguments.until_eof = true,
            other => bail!("fakemcp does not know {other}"),
        }
    }
    Ok(arguments)
}
