//! Several messages on one line (2025-03-26): posted as they came, answered on one line.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use mcpr_protocol::{Broken, Era, ErrorObject, Fault, Id, Message, RawJson, Response, Rope, Version};
use mcpr_transport::http::client::Answer;
use mcpr_transport::http::names;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Bridge, relay, twice};
use crate::fault;
use crate::front::batch::{self, Batch};

/// The requests of a batch that have no answer yet.
type Open = HashMap<Id, CancellationToken>;

impl Bridge {
    /// Carries an array, if the session has such.
    pub(super) async fn batch(self: &Arc<Self>, text: Bytes, work: &mut JoinSet<()>) {
        match self.read_batch(&text) {
            Ok((batch, open)) => {
                for note in &batch.notes {
                    self.gives_up(note);
                }
                if open.is_empty() {
                    self.deliver(text).await;
                } else {
                    work.spawn(self.clone().call_all(open, text));
                }
            }
            Err(error) => self.refuse(None, &error).await,
        }
    }

    /// Reads a batch and enters its requests; those of one that is refused are not under way.
    fn read_batch(&self, text: &Bytes) -> Result<(Batch, Open), ErrorObject> {
        let refusal = |fault: &fault::Fault| fault.error(Era::Session, 0);
        if !self.session_headers().is_some_and(|headers| may_send(&headers)) {
            return Err(refusal(&fault::Fault::Message(Fault::Batch)));
        }
        let batch = Batch::read(text).map_err(|fault| refusal(&fault))?;
        let mut open = Open::new();
        for request in &batch.requests {
            let Some(given_up) = self.enter(request) else {
                self.leave(open.keys());
                return Err(twice(&request.id));
            };
            open.insert(request.id.clone(), given_up);
        }
        Ok((batch, open))
    }

    async fn call_all(self: Arc<Self>, mut open: Open, text: Bytes) {
        let ids: Vec<Id> = open.keys().cloned().collect();
        let mut said = Vec::new();
        let asked = self.ask_in_session(&text, &CancellationToken::new()).await;
        let outcome = match asked {
            Ok(Some(answer)) => self.collect(answer, &mut open, &mut said).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            let unanswered = open.iter().filter(|(_, given_up)| !given_up.is_cancelled());
            said.extend(unanswered.map(|(id, _)| Response::text(Some(id), Err(error.render().into()))));
        }
        if !said.is_empty() {
            self.say(batch::array(said)).await;
        }
        self.leave(ids.iter());
    }

    /// Passes on what comes before the answers, and collects those.
    ///
    /// # Errors
    ///
    /// What stands in for answers that do not come.
    async fn collect(
        &self,
        mut answer: Answer,
        open: &mut Open,
        said: &mut Vec<Rope>,
    ) -> Result<(), ErrorObject> {
        while let Some(text) = answer.next().await {
            let text = text.map_err(|failed| relay::lost(&failed))?;
            match Message::parse(&text) {
                Ok(Message::Response(response)) if response.id.is_some() || answer.is_stream() => {
                    said.push(close(response, text, open));
                }
                Ok(Message::Response(_)) => return Err(relay::refused(&answer, &text)),
                Ok(_) => self.say(text.into()).await,
                Err(Broken {
                    fault: Fault::Batch, ..
                }) => said.extend(members(&text, open)),
                Err(_) => return Err(relay::refused(&answer, &text)),
            }
        }
        if open.is_empty() {
            Ok(())
        } else {
            Err(relay::ended(&answer))
        }
    }

    fn leave<'i>(&self, ids: impl Iterator<Item = &'i Id>) {
        let mut underway = self.underway.lock();
        ids.for_each(|id| drop(underway.remove(id)));
    }
}

/// Whether these are the headers of a session that has batches.
fn may_send(headers: &HeaderMap) -> bool {
    headers
        .get(names::PROTOCOL_VERSION)
        .is_some_and(|version| version == Version::V2025_03_26.as_str())
}

/// An answer whose request is not open any more.
fn close(response: Response, text: Bytes, open: &mut Open) -> Rope {
    if let Some(id) = response.id {
        open.remove(&id);
    }
    text.into()
}

/// The answers of an array.
fn members(text: &Bytes, open: &mut Open) -> Vec<Rope> {
    let array = RawJson::parse(text.clone()).ok();
    let members = array.and_then(|array| array.elements()).unwrap_or_default();
    members
        .into_iter()
        .map(|member| match Message::parse(member.bytes()) {
            Ok(Message::Response(response)) => close(response, member.into_bytes(), open),
            _ => member.into(),
        })
        .collect()
}
