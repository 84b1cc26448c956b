//! Several messages in one POST (2025-03-26).

use std::sync::Arc;

use ::http::{HeaderMap, StatusCode};
use mcpr_auth::Principal;
use mcpr_protocol::{Era, Fault as MessageFault, Rope};
use mcpr_transport::http::server::{Call, Reply};

use super::HttpFront;
use super::context::{PATH, SESSION, names_stateless_version};
use super::events::cancelled;
use crate::client::Context;
use crate::fault::Fault;
use crate::flight::Step;
use crate::front::batch::{self, Answers, Batch};
use crate::scope::Asked;
use crate::session::Session;

impl HttpFront {
    /// Takes an array. Its requests are under way at the same time; they are answered in one array,
    /// or in a stream where there is something to say before.
    pub(super) async fn batch(&self, caller: &Principal, call: Call) -> Reply {
        let session = self.session_with_batches(caller, &call.head.headers);
        let read = session.and_then(|session| Ok((session, Batch::read(&call.body)?)));
        // What is refused counts as well.
        let weight = read.as_ref().map_or(1, |(_, batch)| batch.weight);
        let paced = self.pace(caller, weight);
        let (session, batch) = match paced.and(read) {
            Ok(read) => read,
            Err(fault) => return self.refuse(caller, None, &fault, Era::Session),
        };
        let context = Context::of_session(&session, caller, Some(PATH)).asking(Asked::by(&call.head));
        let context = if call.accepts.events {
            context
        } else {
            context.without_stream()
        };
        let mut said = batch.refusals();
        let requests = batch.requests.into_iter();
        let dispatched = requests.map(|request| self.gateway.dispatch(context.clone(), request));
        let handled = batch::begin(dispatched, || {
            batch.notes.iter().for_each(|note| session.hear(note));
            batch
                .responses
                .into_iter()
                .for_each(|response| session.answered(response));
        });
        let mut answers = Answers::default();
        for handled in handled.await {
            said.extend(answers.add(handled));
        }
        if said.is_empty() && answers.is_empty() {
            return Reply::empty(StatusCode::ACCEPTED);
        }
        self.collect(&session, &call, said, answers).await
    }

    /// The session of a batch. Without one that may send such, it is what other arrays are.
    fn session_with_batches(&self, caller: &Principal, headers: &HeaderMap) -> Result<Arc<Session>, Fault> {
        let no_batch = || Fault::Message(MessageFault::Batch);
        if names_stateless_version(headers) || !headers.contains_key(SESSION) {
            return Err(no_batch());
        }
        let session = self.session(caller, headers, None)?;
        batch::may_send(&session.client)
            .then_some(session)
            .ok_or_else(no_batch)
    }

    /// Waits for all answers, until something begins a stream.
    async fn collect(
        &self,
        session: &Session,
        call: &Call,
        mut said: Vec<Rope>,
        mut answers: Answers,
    ) -> Reply {
        let events = call.accepts.events;
        loop {
            match answers.next().await {
                Some(Step::Done(done)) => said.push(done.text),
                Some(Step::Note(note)) if events => {
                    said.push(note);
                    return self.stream(Some(session), said, answers, None);
                }
                Some(Step::Slow) if events => return self.stream(Some(session), said, answers, None),
                Some(_) => {}
                None if said.is_empty() => return cancelled(call, Some(session), None),
                None if call.accepts.json || !events => {
                    return Reply::json(StatusCode::OK, batch::array(said));
                }
                None => return self.stream(Some(session), said, answers, None),
            }
        }
    }
}
