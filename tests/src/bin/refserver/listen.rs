//! Subscriptions of the stateless era.

use std::future::pending;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::client::{Client, Voice};
use crate::fault::Fault;
use crate::hub::{Listen, Notice};
use crate::message::{Request, notification};
use crate::server::Server;

/// One open subscription.
struct Listener {
    /// The id of the request that opened it.
    id: Value,
    accepted: Map<String, Value>,
    voice: Arc<dyn Voice>,
}

/// Tells what the client has subscribed to until the client leaves.
pub(crate) async fn listen(server: &Server, request: &Request, client: &Client) -> Result<Value, Fault> {
    let Some(Value::Object(wanted)) = request.params.get("notifications") else {
        return Err(Fault::invalid_params("`notifications` must be an object"));
    };
    let listener = Arc::new(Listener {
        id: request.id.clone(),
        accepted: accepted(wanted, client),
        voice: Arc::clone(&client.voice),
    });
    let subset = json!({ "notifications": listener.accepted });
    listener.tell("notifications/subscriptions/acknowledged", subset);
    server.hub.join(&listener);
    pending().await
}

/// The part of the wishes that can come true.
fn accepted(wanted: &Map<String, Value>, client: &Client) -> Map<String, Value> {
    let possible = |(key, value): &(&String, &Value)| match key.as_str() {
        "toolsListChanged" | "promptsListChanged" => **value == true,
        "resourceSubscriptions" => value.is_array(),
        "taskIds" => value.is_array() && client.knows_tasks(),
        _ => false,
    };
    let entries = wanted.iter().filter(possible);
    entries.map(|(key, value)| (key.clone(), value.clone())).collect()
}

impl Listener {
    fn tell(&self, method: &str, mut params: Value) {
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": self.id });
        self.voice.say(&notification(method, params));
    }

    fn lists(&self, key: &str, item: &Value) -> bool {
        let items = self.accepted.get(key).and_then(Value::as_array);
        items.is_some_and(|items| items.contains(item))
    }
}

impl Listen for Listener {
    fn hear(&self, notice: &Notice) {
        let wanted = match notice {
            Notice::Tools => self.accepted.contains_key("toolsListChanged"),
            Notice::Prompts => self.accepted.contains_key("promptsListChanged"),
            Notice::Updated(uri) => self.lists("resourceSubscriptions", &json!(uri)),
            Notice::Task(task) => self.lists("taskIds", &task["taskId"]),
        };
        if wanted {
            self.tell(notice.method(), notice.params());
        }
    }
}
