//! What a test does with a gateway that runs, and waits for in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcpr_auth::Principal;
use mcpr_core::Operator;
use serde_json::{Value, json};

use super::{FILE, Gateway, configuration};
use crate::client::{Session, Stateless};

/// How long anything may take in a test, such as the start of a server.
const PATIENCE: Duration = Duration::from_secs(60);

impl Gateway {
    /// The folder with its state.
    pub fn home(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// Writes its configuration file anew; it counts after a reload.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn configure(&self, servers: &[(&str, Value)], own: &Value) {
        let servers: Vec<_> = servers
            .iter()
            .map(|(name, entry)| ((*name).to_owned(), entry.clone()))
            .collect();
        self.rewrite(&configuration(&servers, own));
    }

    /// Writes this text into its configuration file.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn rewrite(&self, text: &str) {
        std::fs::write(self.home.path().join(FILE), text).expect("the configuration can be written");
    }

    /// The URL of its endpoint.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Carries out an operation of the admin API.
    pub async fn operate(&self, path: &str, body: Value) -> Value {
        let operator = Operator::new(self.core.clone());
        let answer = operator
            .perform(&Principal::local(), path, body.to_string().as_bytes())
            .await;
        serde_json::from_slice(answer.body()).expect("operations answer in JSON")
    }

    /// What the gateway says of one of its servers.
    pub async fn server(&self, name: &str) -> Value {
        let listed = self.operate("servers/list", json!({})).await;
        let servers = listed["servers"].as_array().expect("a list of servers");
        servers
            .iter()
            .find(|server| server["name"] == name)
            .expect("the server is configured")
            .clone()
    }

    /// Waits until a server is in this state.
    pub async fn await_state(&self, name: &str, state: &str) -> Value {
        self.await_server(name, |server| server["state"] == state).await
    }

    /// Waits until a server fits.
    pub async fn await_server(&self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let look = async || self.server(name).await;
        until(&format!("server `{name}`"), fits, look).await
    }

    /// Waits until the gateway's status fits.
    pub async fn await_status(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let look = async || self.operate("status", json!({})).await;
        until("the status", fits, look).await
    }

    /// Waits until every server is ready or known not to be, and the lists say so.
    pub async fn settled(&self) {
        let moving = |state: &Value| matches!(state["state"].as_str(), Some("starting" | "stale"));
        let still = |states: &Value| {
            !states
                .as_object()
                .expect("states of servers")
                .values()
                .any(moving)
        };
        self.await_lists(still).await;
    }

    /// Waits until the lists say that a server is in this state, and gives what they say of it.
    pub async fn listed_as(&self, name: &str, state: &str) -> Value {
        self.await_lists(|states| states[name]["state"] == state).await[name].clone()
    }

    /// Waits until what the lists say of all servers fits, and gives that.
    async fn await_lists(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let client = self.client().await;
        let look = async || {
            // Items may hold numbers that no value can.
            let answer = client.request("tools/list", "{}").await;
            let states = answer.raw(&["result", "_meta", "dev.mcpr/servers"]);
            serde_json::from_str(&states).expect("states of servers")
        };
        until("what the lists say", fits, look).await
    }

    /// A client of the newest revision with a session.
    pub async fn client(&self) -> Session {
        self.client_of("2025-11-25").await
    }

    /// A client of that revision with a session.
    pub async fn client_of(&self, version: &str) -> Session {
        Session::open(self.port, &self.token, version).await
    }

    /// A client of that revision with a session, with these capabilities.
    pub async fn client_with(&self, version: &str, capabilities: &Value) -> Session {
        Session::open_with(self.port, &self.token, version, capabilities).await
    }

    /// A stateless client.
    pub fn stateless(&self) -> Stateless {
        Stateless {
            port: self.port,
            token: self.token.clone(),
        }
    }

    /// Another token.
    pub async fn another_token(&self, scopes: &[&str]) -> String {
        self.new_token(json!({ "name": "another", "scopes": scopes }))
            .await
    }

    /// The secret of a token that is made so.
    pub(super) async fn new_token(&self, token: Value) -> String {
        let made = self.operate("tokens/create", token).await;
        made["secret"].as_str().expect("a secret").to_owned()
    }

    /// Stops it and waits until nothing of it is left.
    pub async fn stop(self) -> Arc<tempfile::TempDir> {
        self.core.shutdown().await;
        self.home.clone()
    }
}

/// Looks again and again until what is seen fits, and gives that.
async fn until(what: &str, fits: impl Fn(&Value) -> bool, look: impl AsyncFn() -> Value) -> Value {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        let seen = look().await;
        if fits(&seen) {
            return seen;
        }
        assert!(tokio::time::Instant::now() < end, "{what} stays so: {seen}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
