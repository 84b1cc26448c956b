//! Who is told that resources have changed.

use std::sync::Arc;

use mcpr_protocol::{Notification, Object, RawJson, notification};
use mcpr_registry::ServerName;
use serde_json::json;

/// Told of every change of a resource that a server announces, on whatever connection.
pub trait Audience: Send + Sync + 'static {
    /// The resource that the server calls `uri` has changed; `params` is all it said of it.
    ///
    /// Called while a connection is being read, so it must be quick.
    fn updated(&self, server: &ServerName, uri: &str, params: &Object);
}

/// Is interested in nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoAudience;

impl Audience for NoAudience {
    fn updated(&self, _: &ServerName, _: &str, _: &Object) {}
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

    /// Passes a notification on if it tells of a resource.
    pub(crate) fn note(&self, note: &Notification) {
        if &*note.method == notification::RESOURCE_UPDATED
            && let Some(params) = note.params.as_ref().and_then(|params| Object::read(params).ok())
        {
            self.tell(&params);
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
