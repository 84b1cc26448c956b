//! Where it goes what servers announce beside changed lists.

use std::sync::Arc;

use mcpr_protocol::{Notification, Object};
use mcpr_registry::ServerName;
use mcpr_upstream::{Audience, Feed, PerFeed};

use crate::subscriptions::Subscriptions;
use crate::visits::Visits;

/// All who wait for such news.
#[derive(Clone)]
pub(crate) struct Audiences {
    pub(crate) subscriptions: PerFeed<Arc<Subscriptions>>,
    pub(crate) visits: Arc<Visits>,
}

impl Audiences {
    /// Nobody yet.
    pub(crate) fn new() -> Self {
        Self {
            subscriptions: PerFeed::new(Subscriptions::new),
            visits: Arc::default(),
        }
    }
}

impl Audience for Audiences {
    fn updated(&self, feed: Feed, server: &ServerName, name: &str, params: &Object) {
        self.subscriptions.of(feed).updated(server, name, params);
    }

    fn visited(&self, server: &ServerName, note: &Notification) {
        self.visits.note(server, note);
    }
}
