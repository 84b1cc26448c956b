//! The stateless era, over any transport.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::client::{Ahead, Asking, Client, Era, Level, Voice};
use crate::fault::{Fault, TASKS};
use crate::listen;
use crate::message::Request;
use crate::server::{COMMON, Server, capabilities, dressed};

/// The revisions of this era.
pub(crate) const REVISIONS: [&str; 1] = ["2026-07-28"];

/// The methods that only this era has.
const OWN: [&str; 5] = [
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// What every request says of its client.
pub(crate) struct Envelope {
    pub(crate) revision: String,
    capabilities: Value,
    level: Option<Level>,
}

/// The key of the envelope that tells the revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// Whether the request says that it belongs to this era.
pub(crate) fn claimed(request: &Request) -> bool {
    request.meta(REVISION).is_some()
}

/// Whether this era has the method.
pub(crate) fn known(method: &str) -> bool {
    COMMON.contains(&method) || OWN.contains(&method)
}

impl Envelope {
    pub(crate) fn read(request: &Request) -> Result<Self, Fault> {
        let missing = |key: &str| Fault::invalid_params(&format!("`_meta` lacks a proper {key}")).early();
        let key = "io.modelcontextprotocol/clientCapabilities";
        let revision = request.meta(REVISION).and_then(Value::as_str);
        let capabilities = request.meta(key).filter(|value| value.is_object());
        let level = request.meta("io.modelcontextprotocol/logLevel");
        Ok(Self {
            revision: revision.ok_or_else(|| missing(REVISION))?.to_owned(),
            capabilities: capabilities.ok_or_else(|| missing(key))?.clone(),
            level: level.map(Level::parse).transpose()?,
        })
    }

    /// Refuses a revision that is not spoken here, or not in this way.
    pub(crate) fn check_revision(&self) -> Result<(), Fault> {
        if REVISIONS.contains(&self.revision.as_str()) {
            return Ok(());
        }
        Err(Fault::unsupported_version(&json!(self.revision), &REVISIONS))
    }

    /// Whoever sent the request.
    pub(crate) fn client(
        &self,
        request: &Request,
        answers: Map<String, Value>,
        voice: Arc<dyn Voice>,
    ) -> Client {
        Client {
            era: Era::Stateless,
            capabilities: self.capabilities.clone(),
            level: self.level,
            progress_token: request.meta("progressToken").cloned(),
            voice,
            asking: Asking::Ahead(Ahead::new(answers)),
        }
    }
}

/// Answers a request of a known method.
pub(crate) async fn answer(
    server: &Arc<Server>,
    request: &Request,
    envelope: &Envelope,
    voice: Arc<dyn Voice>,
) -> Result<Value, Fault> {
    let method = request.method.as_str();
    let client = envelope.client(request, server.brought(request)?, Arc::clone(&voice));
    let result = match method {
        "server/discover" => discovered(),
        "subscriptions/listen" => listen::listen(server, request, &client).await?,
        "tasks/get" | "tasks/update" | "tasks/cancel" if !client.knows_tasks() => {
            return Err(Fault::missing_tasks());
        }
        "tasks/get" | "tasks/update" | "tasks/cancel" => server.tasks.answer(request)?,
        _ => server.answer(request, Arc::new(client)).await?,
    };
    Ok(dressed(method, result))
}

fn discovered() -> Value {
    let mut capabilities = capabilities();
    capabilities["extensions"] = json!({ TASKS: {} });
    json!({ "supportedVersions": REVISIONS, "capabilities": capabilities })
}
