//! What a client on the Rust SDK hears besides answers, and what it says when it is asked.

#![expect(
    deprecated,
    reason = "roots, sampling and logging are deprecated, and still have to work"
)]

use ::rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, Root, SamplingMessage,
};
use ::rmcp::service::{NotificationContext, RequestContext};
use ::rmcp::{ClientHandler, ErrorData, RoleClient};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};

use super::client::List;

/// The ears of a client, and its user, if it has one.
pub(crate) struct Ears {
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
    changed: broadcast::Sender<List>,
    log: mpsc::UnboundedSender<Value>,
    asked: Mutex<Vec<&'static str>>,
    user: Option<String>,
}

/// What they hear, in order.
pub(crate) struct Heard {
    pub(crate) progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    pub(crate) log: mpsc::UnboundedReceiver<Value>,
}

impl Ears {
    /// The ears of a client with a user of this name, or without one.
    pub(crate) fn new(user: Option<&str>) -> (Self, Heard) {
        let (progress, heard_progress) = mpsc::unbounded_channel();
        let (log, heard_log) = mpsc::unbounded_channel();
        let ears = Self {
            progress,
            changed: broadcast::Sender::new(16),
            log,
            asked: Mutex::default(),
            user: user.map(str::to_owned),
        };
        let heard = Heard {
            progress: heard_progress,
            log: heard_log,
        };
        (ears, heard)
    }

    /// Lists that change from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<List> {
        self.changed.subscribe()
    }

    /// The methods of what was asked, in order.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        self.asked.lock().clone()
    }

    /// Writes a question down, and tells who answers.
    fn answerer(&self, method: &'static str) -> &str {
        self.asked.lock().push(method);
        self.user.as_deref().unwrap_or("nobody")
    }
}

/// What a user of this name puts into a field, if they know what.
fn filled_in(user: &str, field: &str) -> Option<Value> {
    match field {
        "name" => Some(json!(user)),
        "color" => Some(json!(format!("{user}'s blue"))),
        "ok" | "confirm" => Some(json!(true)),
        _ => None,
    }
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let able = json!({ "roots": {}, "sampling": {}, "elicitation": { "form": {}, "url": {} } });
        let capabilities = self.user.as_ref().map_or_else(|| json!({}), |_| able);
        let capabilities = serde_json::from_value(capabilities).expect("these are capabilities");
        ClientConfig::new(capabilities, Implementation::new("rmcp-client", "3.11"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let user = self.answerer("sampling/createMessage");
        let message = SamplingMessage::assistant_text(format!("{user}'s model"));
        Ok(CreateMessageResult::new(message, "test".into()))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let user = self.answerer("roots/list");
        Ok(ListRootsResult::new(vec![Root::new(format!(
            "file:///home/{user}"
        ))]))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let user = self.answerer("elicitation/create");
        let accepted = ElicitResult::new(ElicitationAction::Accept);
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else {
            return Ok(accepted);
        };
        let fields = requested_schema.properties.into_keys();
        let content = fields.filter_map(|field| Some((field.clone(), filled_in(user, &field)?)));
        Ok(accepted.with_content(Value::Object(content.collect())))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // A test that is over hears nothing more.
        let _ = self.progress.send(progress);
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // As with progress.
        let _ = self.log.send(json!(message));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // As with progress.
        let _ = self.changed.send(List::Tools);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        // The same.
        let _ = self.changed.send(List::Resources);
    }
}
