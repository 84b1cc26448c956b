//! Looking at how tasks stand that were heard of, and then for a while were not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Edit, Message, Method, Object, RawJson};
use mcpr_transport::{Failed, Outgoing, Party};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Replica;
use crate::ask::params;

/// For an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The looks under way.
#[derive(Default)]
pub(super) struct Looks {
    work: JoinSet<(Arc<str>, Option<Object>)>,
    /// The tasks of which nothing was heard meanwhile.
    open: BTreeSet<Arc<str>>,
}

impl Looks {
    /// Begins to look at a task.
    pub(super) fn begin(&mut self, replica: &Arc<Replica>, task: &Arc<str>) {
        if self.open.insert(task.clone()) {
            self.work.spawn(look(replica.clone(), task.clone()));
        }
    }

    /// The server has told of a task by itself: what is seen of it now may be older than that.
    pub(super) fn heard(&mut self, task: &str) {
        self.open.remove(task);
    }

    /// How the next task stands, in the words of a notification. Cancel-safe.
    pub(super) async fn next(&mut self) -> Object {
        loop {
            let Some(seen) = self.work.join_next().await else {
                return std::future::pending().await;
            };
            if let Ok((task, Some(state))) = seen
                && self.open.remove(&task)
            {
                return state;
            }
        }
    }
}

async fn look(replica: Arc<Replica>, task: Arc<str>) -> (Arc<str>, Option<Object>) {
    let seen = timeout(PATIENCE, ask(&replica, &task)).await;
    let state = seen.ok().and_then(Result::ok).flatten();
    if state.is_none() {
        tracing::debug!(server = %replica.server, "how a task stands could not be seen");
    }
    (task, state)
}

async fn ask(replica: &Replica, task: &str) -> Result<Option<Object>, Failed> {
    let about = RawJson::render(&json!({ "taskId": task }));
    let about = Object::read(&about).expect("an object was rendered");
    let request = Outgoing {
        id: replica.next_id(),
        method: Method::TasksGet,
        params: params(replica.version, &about),
        name: Some(task.into()),
        headers: Vec::new(),
        party: Party::GATEWAY,
    };
    let mut exchange = replica.open(request).await?;
    loop {
        if let Message::Response(response) = exchange.next().await? {
            return Ok(response.outcome.ok().as_ref().and_then(told));
        }
    }
}

/// A notification says the same as the result, which only has the members of results besides.
fn told(result: &RawJson) -> Option<Object> {
    let result = Object::read(result).ok()?;
    result.text("taskId")?;
    let text = Edit::new(&result).remove("resultType").remove("_meta").finish();
    Object::read(&RawJson::trusted(text.into_bytes())).ok()
}
