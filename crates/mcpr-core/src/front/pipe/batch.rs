//! Several messages on one line (2025-03-26).

use std::sync::Arc;

use bytes::Bytes;
use mcpr_protocol::{Era, Fault as MessageFault};
use tokio::task::JoinSet;

use super::{Pipe, go};
use crate::client::Context;
use crate::fault::Fault;
use crate::flight::{Step, within};
use crate::front::batch::{self, Answers, Batch};
use crate::session::Session;

impl Pipe {
    /// Takes an array. Its requests are under way at the same time, and are answered in one array.
    pub(super) async fn batch(self: Arc<Self>, text: &Bytes, work: &mut JoinSet<()>) {
        let session = self.session.lock().clone();
        let session = session.filter(|session| batch::may_send(&session.client));
        let session = session.ok_or(Fault::Message(MessageFault::Batch));
        match session.and_then(|session| Ok((session, Batch::read(text)?))) {
            Ok((session, batch)) => go(self.answer_all(session, batch), work).await,
            Err(fault) => self.refuse(None, &fault, Era::Session).await,
        }
    }

    async fn answer_all(self: Arc<Self>, session: Arc<Session>, batch: Batch) {
        let context = Context::of_session(&session, &self.principal, None).asking(self.asked.clone());
        let mut said = batch.refusals();
        let requests = batch.requests.into_iter();
        let dispatched = requests.map(|request| self.dispatch(context.clone(), request));
        let handled = batch::begin(dispatched, || {
            batch.notes.iter().for_each(|note| self.note(note));
            batch
                .responses
                .into_iter()
                .for_each(|response| session.answered(response));
        });
        let mut answers = Answers::default();
        for handled in handled.await.into_iter().flatten() {
            said.extend(answers.add(handled));
        }
        while let Some(step) = answers.next().await {
            match step {
                Step::Note(note) => within(answers.deadline(), self.say(note)).await,
                Step::Done(done) => said.push(done.text),
                Step::Slow | Step::Cancelled => {}
            }
        }
        if !said.is_empty() {
            self.say(batch::array(said)).await;
        }
    }
}
