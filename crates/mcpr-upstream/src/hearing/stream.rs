//! One `subscriptions/listen` at a stateless server.

use std::pin::Pin;
use std::sync::Arc;

use mcpr_protocol::{Message, Method, Notification, Object, RawJson, Rope, notification};
use mcpr_transport::{Exchange, Failed, Outgoing, Party};
use serde_json::{Value, json};

use crate::Replica;
use crate::ask::params;

/// What comes of a listen request.
pub(super) enum Said {
    /// It was accepted, as far as the filter in it says.
    Accepted(Option<Object>),
    /// Something has changed.
    Note(Notification),
    /// It has ended, and no more than that.
    Ended,
    /// It was refused with this error object.
    Refused(RawJson),
}

/// A listen request. Dropping it ends it.
pub(super) enum Stream {
    Opening(Pin<Box<dyn Future<Output = Result<Exchange, Failed>> + Send>>),
    Open(Exchange),
}

impl Stream {
    /// Asks for what `filter` names.
    pub(super) fn new(replica: &Arc<Replica>, filter: Value) -> Self {
        let replica = replica.clone();
        Self::Opening(Box::pin(async move {
            let request = Outgoing {
                id: replica.next_id(),
                method: Method::Listen,
                params: listen_params(&replica, &filter),
                name: None,
                headers: Vec::new(),
                party: Party::GATEWAY,
            };
            replica.open(request).await
        }))
    }

    /// What comes next; after the end it is not to be asked again. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Said, Failed> {
        loop {
            let exchange = match self {
                Self::Opening(opening) => {
                    let exchange = opening.await?;
                    *self = Self::Open(exchange);
                    continue;
                }
                Self::Open(exchange) => exchange,
            };
            return Ok(match exchange.next().await? {
                Message::Response(response) => response.outcome.map_or_else(Said::Refused, |_| Said::Ended),
                Message::Notification(note) if &*note.method == notification::ACKNOWLEDGED => {
                    Said::Accepted(accepted(&note))
                }
                Message::Notification(note) if &*note.method == notification::CANCELLED => Said::Ended,
                Message::Notification(note) => Said::Note(note),
                Message::Request(_) => continue, // The stateless era has none.
            });
        }
    }
}

/// The filter that an acknowledgement names.
fn accepted(note: &Notification) -> Option<Object> {
    let params = Object::read(note.params.as_ref()?).ok()?;
    params.object("notifications")
}

fn listen_params(replica: &Replica, filter: &Value) -> Rope {
    let object = RawJson::render(&json!({ "notifications": filter }));
    let object = Object::read(&object).expect("an object was rendered");
    params(replica.version, &object)
}
