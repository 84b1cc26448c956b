//! Clients that listen to their tasks.

use mcpr_tests::http::Connection;
use mcpr_tests::talk::Able;
use serde_json::{Value, json};

pub(crate) const LISTEN: &str = "subscriptions/listen";
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A listen, and what was accepted of it.
pub(crate) struct Ear {
    pub(crate) accepted: Value,
    pub(crate) connection: Connection,
}

impl Ear {
    /// A client that listens to these tasks.
    pub(crate) async fn of(client: &Able, ids: &[&str]) -> Self {
        Self::with(client, json!({ "taskIds": ids })).await
    }

    /// The same with a whole filter.
    pub(crate) async fn with(client: &Able, filter: Value) -> Self {
        let params = format!(r#""notifications":{filter}"#);
        let (head, mut connection) = client.post(LISTEN, &params).open(client.client.port).await;
        assert_eq!(head.status, 200);
        let first = connection.event().await.unwrap().message();
        assert_eq!(
            first["method"], "notifications/subscriptions/acknowledged",
            "{first}"
        );
        Self {
            accepted: first["params"]["notifications"].clone(),
            connection,
        }
    }

    /// The task that it hears of next.
    pub(crate) async fn hears_of(&mut self) -> Value {
        let note = self
            .connection
            .message(|message| !message.is_null())
            .await
            .unwrap();
        assert_eq!(note["method"], "notifications/tasks", "{note}");
        assert_eq!(
            note["params"]["_meta"],
            json!({ SUBSCRIPTION: 1 }),
            "the listen's own id"
        );
        note["params"].clone()
    }
}
