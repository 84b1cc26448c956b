//! Calls that a server of 2025-11-25 takes only as tasks. No client has to know of them: mcpr asks
//! for the result, which comes at the end and is the result of the call.

use std::sync::Arc;

use mcpr_protocol::{Edit, Message, Method, Object, RawJson, Response, Rope, Word, key};
use mcpr_router::Lease;
use mcpr_transport::{Outgoing, Party};
use mcpr_upstream::Replica;

use super::course::{Course, Open};
use super::task::{lost, tell};
use crate::fault::Fault;
use crate::tasks::TASK_ID;

/// A task at its server.
#[derive(Clone)]
pub(super) struct OldTask {
    replica: Arc<Replica>,
    /// Its id, as the server wrote it.
    id: RawJson,
}

impl Course {
    /// The task that a call has become, if its server takes it as one only.
    pub(super) fn became_task(&self, open: &Open, response: &Response) -> Option<OldTask> {
        if self.task.is_some() || !self.call.as_task(&open.lease) {
            return None;
        }
        let result = Object::read(response.outcome.as_ref().ok()?).ok()?;
        Some(OldTask {
            replica: open.lease.replica.clone(),
            id: result.object("task")?.get(TASK_ID)?,
        })
    }
}

/// Asks for the result of a task. The answer comes when it has ended; what the server asks
/// meanwhile comes on the same exchange, and so does the progress, because the request gets the
/// number for its id that the call gave as a token.
pub(super) async fn begin_wait(lease: Lease, task: OldTask, token: u64) -> Result<Open, Fault> {
    let request = about(Method::TasksResult, &task, token, lease.party);
    match lease.replica.open(request).await {
        Ok(exchange) => Ok(Open::new(lease, exchange, token)),
        Err(failed) => Err(lost(&lease, &failed)),
    }
}

/// Tells the server that nobody wants a task any more.
pub(super) async fn cancel_task(task: OldTask) {
    let id = task.replica.next_id();
    let request = about(Method::TasksCancel, &task, id, Party::GATEWAY);
    tell(&task.replica, request).await;
}

fn about(method: Method, task: &OldTask, id: u64, party: Party) -> Outgoing {
    let mut params = Rope::from(bytes::Bytes::from_static(b"{\"taskId\":"));
    params.append(task.id.clone().into());
    params.push_static("}");
    Outgoing {
        id,
        method,
        params,
        name: None,
        headers: Vec::new(),
        party,
    }
}

/// What a server says within a task, without the name of it: it means nothing to a client that has
/// made a plain call.
pub(super) fn unrelated(message: Message) -> Message {
    match message {
        Message::Request(mut request) => {
            request.params = request.params.map(without_task);
            Message::Request(request)
        }
        Message::Notification(mut note) => {
            note.params = note.params.map(without_task);
            Message::Notification(note)
        }
        Message::Response(response) => Message::Response(Response {
            outcome: response.outcome.map(without_task),
            ..response
        }),
    }
}

fn without_task(raw: RawJson) -> RawJson {
    static RELATED: Word = Word::new(key::RELATED_TASK);
    let related = || {
        let object = Object::read(&raw).ok()?;
        let meta = object.object("_meta")?;
        meta.get(key::RELATED_TASK)?;
        let mut edit = Edit::new(&object);
        match meta.members().count() {
            1 => edit.remove("_meta"),
            _ => edit.set("_meta", Edit::new(&meta).remove(key::RELATED_TASK).finish()),
        };
        Some(RawJson::trusted(edit.finish().into_bytes()))
    };
    let changed = RELATED.is_in(raw.as_bytes()).then(related).flatten();
    changed.unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_task_is_left_out_and_nothing_else() {
        let without = |text| without_task(RawJson::from_static(text)).as_str().to_owned();
        let task = r#"{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#;
        assert_eq!(without(task), r#"{"content":[]}"#);
        let more = r#"{"_meta":{"x":1E400,"io.modelcontextprotocol/related-task":{"taskId":"t"}}, "a":1}"#;
        assert_eq!(without(more), r#"{"_meta":{"x":1E400}, "a":1}"#);
        let said = r#"{ "content":"io.modelcontextprotocol/related-task","_meta":{} }"#;
        assert_eq!(without(said), said);
    }
}
