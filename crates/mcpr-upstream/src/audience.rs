//! Who is told of what servers announce beside their lists.

use std::sync::Arc;

use mcpr_protocol::{Notification, Object, RawJson, notification};
use mcpr_registry::ServerName;
use serde_json::json;

/// Told of what a server announces beside changed lists, on whatever connection.
pub trait Audience: Send + Sync + 'static {
    /// The resource that the server calls `uri` has changed; `params` is all it said of it.
    ///
    /// Called while a connection is being read, so it must be quick.
    fn updated(&self, server: &ServerName, uri: &str, params: &Object);

    /// A URL that a user was asked to visit has been (`notifications/elicitation/complete`). As quick.
    fn visited(&self, server: &ServerName, note: &Notification);
}

/// Is interested in nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoAudience;

impl Audience for NoAudience {
    fn updated(&self, _: &ServerName, _: &str, _: &Object) {}

    fn visited(&self, _: &ServerName, _: &Notification) {}
}

/// The way from the connections of one server to the audience.
#[derive(Clone)]
pub(crate) struct Herald {
    server: ServerName,
    audience: Arc<dyn Audience>,
}

impl Herald {
    pub(crate) fn new(server: ServerName, audience: Arc<dyn Audience>) -> Self {
        Self { server, audience }
    }

    /// Passes on a notification that the audience is interested in.
    pub(crate) fn note(&self, note: &Notification) {
        match &*note.method {
            notification::RESOURCE_UPDATED => {
                let params = note.params.as_ref().and_then(|params| Object::read(params).ok());
                params.into_iter().for_each(|params| self.tell(&params));
            }
            notification::ELICITATION_COMPLETE => self.audience.visited(&self.server, note),
            _ => {}
        }
    }

    /// Counts a resource as changed that may have changed unheard.
    pub(crate) fn missed(&self, uri: &str) {
        let params = RawJson::render(&json!({ "uri": uri }));
        self.tell(&Object::read(&params).expect("an object was rendered"));
    }

    fn tell(&self, params: &Object) {
        match params.text("uri") {
            Some(uri) => self.audience.updated(&self.server, &uri, params),
            None => tracing::debug!(server = %self.server, "an update that names no resource"),
        }
    }
}
