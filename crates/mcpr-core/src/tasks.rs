//! Tasks of stateless servers, under ids that only their own caller can use (extension
//! `io.modelcontextprotocol/tasks` of 2026-07-28; SEC-03).
//!
//! A server's task id says nothing of the server and nothing of the caller, so clients get a sealed
//! one that does. Nothing is kept here: any gateway with the same key can serve it.

use std::time::{Duration, SystemTime};

use mcpr_auth::Principal;
use mcpr_bridge::{Purpose, with_text};
use mcpr_protocol::{Mark, Object, RawJson};
use mcpr_registry::ServerName;
use mcpr_upstream::Upstream;
use serde::{Deserialize, Serialize};

use crate::client::Context;
use crate::gateway::Gateway;
use crate::sealing::LONGEST;

/// The member that names a task, in params and in results.
pub(crate) const TASK_ID: &str = "taskId";

/// How long an id is good beyond the time for which the server wants to keep the task at first: it
/// may keep it longer, and says itself that it no longer does.
const GRACE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A task, as a sealed id holds it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sealed {
    server: String,
    /// The server's own id of it.
    pub(crate) task: String,
    /// The backend that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<String>,
}

impl Gateway {
    /// The server of a task, and what the id says of it, if the caller may know of it.
    pub(crate) fn open_task(&self, principal: &Principal, id: &str) -> Option<(ServerName, Sealed)> {
        let bound = [principal.key()];
        let opened = self.sealer.open(Purpose::Task, &bound, id, SystemTime::now());
        let sealed: Sealed = serde_json::from_slice(&opened.ok()?).ok()?;
        let server = self.plan().server(&sealed.server)?.name.clone();
        Some((server, sealed))
    }

    /// A result that is a task, under the id for this caller; `None` if it is none.
    pub(crate) fn seal_task(
        &self,
        context: &Context,
        backend: &Upstream,
        result: &RawJson,
    ) -> Option<RawJson> {
        if !result.may_hold(Mark::TaskId) {
            return None;
        }
        let object = Object::read(result).ok()?;
        if object.text("resultType")? != "task" {
            return None;
        }
        let life = object.get("ttlMs").and_then(|ttl| ttl.as_str().parse().ok());
        let life = life.map_or(LONGEST, |ttl| Duration::from_millis(ttl) + GRACE);
        let id = self.sealed_task(context, backend, object.text(TASK_ID)?, life.min(LONGEST));
        let text = with_text(result, TASK_ID, &id);
        Some(RawJson::trusted(text.into_bytes()))
    }

    fn sealed_task(&self, context: &Context, backend: &Upstream, task: String, life: Duration) -> String {
        let sealed = Sealed {
            server: backend.name.as_str().to_owned(),
            task,
            backend: Some(backend.label.to_string()),
        };
        let payload = serde_json::to_vec(&sealed).expect("texts can be written");
        let bound = [context.principal.key()];
        self.sealer
            .seal(Purpose::Task, &bound, SystemTime::now() + life, &payload)
    }
}
