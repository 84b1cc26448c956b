//! Who is let in is the program's own affair: its users have passwords of its own, and each sees what the program grants.
//!
//! Requests are made right at the service that a server would have, so that the example needs no port.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use anyhow::Result;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::Service;
use hyper::{Request, StatusCode};
use mcpr_core::auth::{Denied, Grant, Principal, Timestamp, TokenId, TokenStore};
use mcpr_core::{Config, Gateway, Outcome, Process, Tool};
use serde_json::json;
use tokio::sync::watch;

/// Users by their passwords; a real program keeps hashes.
#[derive(Default)]
struct Users {
    known: RwLock<HashMap<String, Principal>>,
    changes: watch::Sender<u64>,
}

impl Users {
    fn add(&self, name: &str, password: &str) {
        let grant = Grant::new(TokenId::external(name), name);
        let mut known = self.known.write().expect("nobody panics with the lock");
        known.insert(password.to_owned(), grant.into());
        drop(known);
        self.changes.send_modify(|generation| *generation += 1);
    }

    fn remove(&self, name: &str) {
        let id = TokenId::external(name);
        let mut known = self.known.write().expect("nobody panics with the lock");
        known.retain(|_, principal| principal.key() != id.as_str());
        drop(known);
        // Sessions and streams of whoever is gone end now.
        self.changes.send_modify(|generation| *generation += 1);
    }
}

impl TokenStore for Users {
    fn verify(&self, presented: &str, _: Timestamp) -> Result<Principal, Denied> {
        let known = self.known.read().expect("nobody panics with the lock");
        let found = known.get(presented).cloned();
        found.ok_or_else(|| Denied::Refused("this password is nobody's".into()))
    }

    fn recheck(&self, principal: &Principal, _: Timestamp) -> Result<(), Denied> {
        let known = self.known.read().expect("nobody panics with the lock");
        let is_known = known.values().any(|user| user == principal);
        is_known
            .then_some(())
            .ok_or_else(|| Denied::Refused("the account is closed".into()))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let users = Arc::<Users>::default();
    users.add("ann", "correct horse");
    let hello = Tool::new("hello", "Greets", json!({ "type": "object" }), async |_| {
        Outcome::text("hello")
    });
    let gateway = Gateway::builder(Config::from_text("{}", &Process)?)
        .tool(hello)
        .tokens(users.clone())
        .start()
        .await?;
    gateway.settled().await;

    println!("ann: {}", come(&gateway, "correct horse").await);
    println!("bob: {}", come(&gateway, "password1").await);
    users.remove("ann");
    println!(
        "ann, once she has left: {}",
        come(&gateway, "correct horse").await
    );
    gateway.shutdown().await;
    Ok(())
}

/// Opens a session with this password.
async fn come(gateway: &Arc<Gateway>, password: &str) -> StatusCode {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "example", "version": "1" },
    } });
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {password}"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(Full::<Bytes>::from(hello.to_string()))
        .expect("a request");
    let Ok(response) = gateway.service().call(request).await;
    response.status()
}
