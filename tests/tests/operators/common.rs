//! An operator at the network's door.

use mcpr_tests::Gateway;
use mcpr_tests::http::{Connection, Head, Request};
use serde_json::Value;

/// An operator with an admin token.
pub(crate) struct Operator {
    pub(crate) port: u16,
    token: String,
}

/// What comes through one stream.
pub(crate) struct Stream(pub(crate) Connection);

impl Operator {
    pub(crate) async fn of(gateway: &Gateway) -> Self {
        Self {
            port: gateway.port,
            token: gateway.another_token(&["admin"]).await,
        }
    }

    /// A request for a stream.
    pub(crate) fn ask(&self, path: &str, body: &str) -> Request {
        Request::post(&format!("/admin/v1/{path}"), body)
            .replace("accept", "text/event-stream")
            .token(&self.token)
    }

    /// Sends it and gives what comes.
    pub(crate) async fn stream(&self, path: &str, body: &str) -> Stream {
        let (head, connection) = self.ask(path, body).open(self.port).await;
        assert_stream(&head);
        Stream(connection)
    }
}

impl Stream {
    /// What comes next; nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        Some(self.0.event().await?.message())
    }

    /// All that is still to come.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(next) = self.next().await {
            all.push(next);
        }
        all
    }

    /// The first that fits, and those before it.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut all = Vec::new();
        while !all.last().is_some_and(&fits) {
            all.push(self.next().await.expect("it comes before the end"));
        }
        all
    }
}

pub(crate) fn assert_stream(head: &Head) {
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
}
