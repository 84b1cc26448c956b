//! Stories about a client and a scripted server.

mod answers;
mod connections;
mod listening;
mod redirects;
mod resuming;
mod sessions;
mod stateless;

use std::sync::Arc;

use mcpr_protocol::{Message, Method, Notification, RawJson, Rope, Version, notification};
use tokio::sync::mpsc;

use super::stub::{Reply, Seen, Stub};
use super::{Limits, Streamable, Target};
use crate::{Event, Exchange, Failed, Outgoing, Transport};

/// A client of a server.
fn client(stub: &Stub) -> (Arc<Streamable>, mpsc::Receiver<Event>) {
    client_of(&stub.url("/mcp"), &[])
}

fn client_of(url: &str, headers: &[(&str, &str)]) -> (Arc<Streamable>, mpsc::Receiver<Event>) {
    let target = Target::new(url, headers.iter().copied()).unwrap();
    Streamable::new(&target, Limits::default())
}

/// A client that has been through the handshake.
async fn introduced(stub: &Stub) -> (Arc<Streamable>, mpsc::Receiver<Event>) {
    let (client, events) = client(stub);
    introduce(&client).await.unwrap();
    (client, events)
}

async fn introduce(client: &Streamable) -> Result<(), Failed> {
    ask(client, Method::Initialize).await?;
    client.negotiated(Version::V2025_11_25);
    client
        .send(Message::Notification(Notification::new(
            notification::INITIALIZED,
            None,
        )))
        .await
}

async fn open(client: &dyn Transport, method: Method) -> Result<Exchange, Failed> {
    open_with(client, method, "{}").await
}

async fn open_with(client: &dyn Transport, method: Method, params: &'static str) -> Result<Exchange, Failed> {
    let id = client.next_id();
    let params = Rope::from(RawJson::from_static(params));
    client
        .open(Outgoing {
            id,
            method,
            params,
            name: None,
            headers: Vec::new(),
            party: crate::Party::GATEWAY,
        })
        .await
}

/// Sends a request and gives the text of its outcome.
async fn ask(client: &dyn Transport, method: Method) -> Result<String, Failed> {
    outcome(&mut open(client, method).await?).await
}

/// The text of the result or the error; notifications before it are passed over.
async fn outcome(exchange: &mut Exchange) -> Result<String, Failed> {
    loop {
        if let Message::Response(response) = exchange.next().await? {
            return Ok(response.outcome.unwrap_or_else(|error| error).as_str().to_owned());
        }
    }
}

/// Answers a call the way a session-era server with the session `s1` does.
fn in_session(seen: &Seen) -> Reply {
    match seen.mcp().as_str() {
        "initialize" => Reply::result(seen, "{}").with("mcp-session-id", "s1"),
        method if method.starts_with("notifications/") => Reply::status(202),
        "" => Reply::status(405),
        method => Reply::result(seen, &format!("\"{method}\"")),
    }
}
