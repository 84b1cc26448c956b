//! Who is told of what servers announce beside their lists.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Notification, Object, RawJson, Version, notification};
use mcpr_registry::ServerName;
use serde_json::json;

use crate::Feed;

/// Told of what a server announces beside changed lists, on whatever connection, and of how long those lasted.
pub trait Audience: Send + Sync + 'static {
    /// Something that the server calls `name` has changed; `params` is all it said of it.
    ///
    /// Called while a connection is being read, so it must be quick.
    fn updated(&self, feed: Feed, server: &ServerName, name: &str, params: &Object);

    /// A URL that a user was asked to visit has been (`notifications/elicitation/complete`). As quick.
    fn visited(&self, server: &ServerName, note: &Notification);

    /// A connection that was ready has ended after this time; both sides spoke this version on it.
    fn parted(&self, server: &ServerName, version: Version, lasted: Duration);
}

/// Is interested in nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoAudience;

impl Audience for NoAudience {
    fn updated(&self, _: Feed, _: &ServerName, _: &str, _: &Object) {}

    fn visited(&self, _: &ServerName, _: &Notification) {}

    fn parted(&self, _: &ServerName, _: Version, _: Duration) {}
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
        if &*note.method == notification::ELICITATION_COMPLETE {
            self.audience.visited(&self.server, note);
        }
        if let Some(feed) = Feed::of(&note.method) {
            let params = note.params.as_ref().and_then(|params| Object::read(params).ok());
            params.into_iter().for_each(|params| self.tell(feed, &params));
        }
    }

    /// Counts a resource as changed that may have changed unheard.
    pub(crate) fn missed(&self, uri: &str) {
        let params = RawJson::render(&json!({ "uri": uri }));
        self.tell(
            Feed::Resources,
            &Object::read(&params).expect("an object was rendered"),
        );
    }

    /// Passes on what is known of something that the server tells of.
    pub(crate) fn tell(&self, feed: Feed, params: &Object) {
        match params.text(feed.member()) {
            Some(name) => self.audience.updated(feed, &self.server, &name, params),
            None => tracing::debug!(server = %self.server, method = feed.method(), "it names nothing"),
        }
    }
}
