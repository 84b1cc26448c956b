//! One `subscriptions/listen` at a stateless server.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;

use mcpr_protocol::{Message, Method, Notification, Object, RawJson, Rope, notification};
use mcpr_transport::{Exchange, Failed, Outgoing, Party};
use serde_json::{Value, json};

use crate::ask::params;
use crate::{Feed, Replica};

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

impl Feed {
    /// What a notification of it names.
    pub(super) fn named_by(self, note: &Notification) -> Option<String> {
        let params = Object::read(note.params.as_ref()?).ok()?;
        (&*note.method == self.method()).then(|| params.text(self.member()))?
    }

    /// What a filter names.
    pub(super) fn names_in(self, filter: Option<Object>) -> BTreeSet<String> {
        let listed = filter.and_then(|filter| filter.get(self.filter())?.elements());
        let names = listed.iter().flatten().filter_map(RawJson::to_text);
        names.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feed_is_read_by_its_own_names() {
        let params = RawJson::from_static(r#"{"taskId":"t","uri":"u"}"#);
        let note = Notification::new(Feed::Tasks.method(), Some(params));
        assert_eq!(Feed::Tasks.named_by(&note).as_deref(), Some("t"));
        assert_eq!(
            Feed::Resources.named_by(&note),
            None,
            "it is no notification of a resource"
        );
        let filter = || Object::read(&RawJson::from_static(r#"{"taskIds":["a",5,"b"]}"#)).ok();
        assert_eq!(Feed::Tasks.names_in(filter()).len(), 2);
        assert!(Feed::Resources.names_in(filter()).is_empty() && Feed::Tasks.names_in(None).is_empty());
    }
}
