//! `refserver [--era both|session|stateless] [--port N [--until-eof] | --stdio]`: a server to measure others by.
//!
//! It passes every scenario of the official conformance suites, and shares no code with mcpr, so that it can
//! bear witness about it. Over HTTP it serves both eras at one URL, which it prints as its first line; with
//! `--until-eof` it ends when stdin ends.

mod client;
mod completion;
mod endpoint;
mod fault;
mod headers;
mod http;
mod hub;
mod listen;
mod media;
mod message;
mod prompts;
mod question;
mod resources;
mod seal;
mod server;
mod session;
mod session_http;
mod stateless;
mod stateless_http;
mod stdio;
mod stream;
mod tasks;
mod tools;

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use tokio::net::TcpListener;

use crate::endpoint::{Endpoint, Eras, PATH};
use crate::server::Server;

const USAGE: &str = "usage: refserver [--era both|session|stateless] [--port N [--until-eof] | --stdio]";

/// What the command line asks for.
struct Arguments {
    eras: Eras,
    wire: Wire,
}

/// How it is spoken to.
enum Wire {
    Http(u16),
    Stdio,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = arguments()?;
    let server = Arc::new(Server::default());
    match arguments.wire {
        Wire::Http(port) => listen(port, Endpoint::new(arguments.eras, server)).await,
        Wire::Stdio => {
            stdio::serve(arguments.eras, server).await;
            Ok(())
        }
    }
}

async fn listen(port: u16, endpoint: Endpoint) -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    announce(listener.local_addr()?)?;
    http::serve(listener, Arc::new(endpoint)).await
}

fn announce(address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "http://{address}{PATH}")?;
    stdout.flush()
}

fn end_with_stdin() {
    std::thread::spawn(|| {
        // However stdin ends, it ends this process.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut arguments = Arguments {
        eras: Eras::Both,
        wire: Wire::Http(0),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--era" => arguments.eras = eras(&words.next().context(USAGE)?)?,
            "--port" => arguments.wire = Wire::Http(words.next().context(USAGE)?.parse().context(USAGE)?),
            "--stdio" => arguments.wire = Wire::Stdio,
            "--until-eof" => end_with_stdin(),
            _ => bail!(USAGE),
        }
    }
    Ok(arguments)
}

fn eras(word: &str) -> anyhow::Result<Eras> {
    match word {
        "both" => Ok(Eras::Both),
        "session" => Ok(Eras::Session),
        "stateless" => Ok(Eras::Stateless),
        _ => bail!(USAGE),
    }
}
