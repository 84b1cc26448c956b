//! Questions that outlive the request on whose stream they were put.
//!
//! On a pipe nothing says which request a question is about. It is put on the newest of its client,
//! and when that ends first, another request of the same client waits for the answer.

use std::future::poll_fn;
use std::sync::Arc;

use mcpr_bridge::session_answer;
use mcpr_protocol::{Method, RawJson, Rope, Version, declined};
use mcpr_router::Lease;
use mcpr_upstream::Replica;
use tokio::time::timeout_at;

use super::asking::{Origin, Put};
use super::course::Course;
use crate::gateway::send_answer;
use crate::question::Answer;
use crate::session::Session;

impl Course {
    /// Keeps what may be another request's, now that this one has its answer.
    pub(super) fn keep_questions(&mut self, lease: &Lease) {
        let Some(session) = &self.call.context.session else {
            return;
        };
        if !lease.replica.may_mean_another_of(lease.party) {
            return;
        }
        for put in std::mem::take(&mut self.asking.put) {
            let kept = answer_later(put, lease.replica.clone(), session.clone());
            self.call.gateway.adopt(kept);
        }
    }
}

/// Waits for the answer to a question whose stream has ended, and passes it on.
async fn answer_later(mut put: Put, replica: Arc<Replica>, session: Arc<Session>) {
    let Origin::Request(id) = put.origin else { return };
    let answer = timeout_at(put.expires, poll_fn(|cx| put.asked.poll(cx)));
    let answer = tokio::select! {
        answer = answer => answer.ok().flatten(),
        () = session.ended.cancelled() => None,
    };
    let method = &put.question.method;
    let answer = answer.unwrap_or_else(|| declined(method));
    let said = said(method, answer, session.client.version, replica.version);
    send_answer(&replica, id, said).await;
}

/// What a client of the session era answered, as its server gets it.
pub(super) fn said(method: &Method, answer: Answer, client: Version, server: Version) -> Answer {
    let said = session_answer(method, answer, client, server);
    said.map(|said| said.map(raw).map_err(raw))
        .unwrap_or_else(|_| declined(method))
}

fn raw(text: Rope) -> RawJson {
    RawJson::trusted(text.into_bytes())
}
