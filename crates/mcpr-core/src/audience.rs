//! Where it goes what servers announce beside changed lists, and how long connections to them lasted.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Notification, Object, Version};
use mcpr_registry::ServerName;
use mcpr_telemetry::Metrics;
use mcpr_upstream::{Audience, Feed, PerFeed};

use crate::subscriptions::Subscriptions;
use crate::visits::Visits;

/// All who wait for such news.
#[derive(Clone)]
pub(crate) struct Audiences {
    pub(crate) subscriptions: PerFeed<Arc<Subscriptions>>,
    pub(crate) visits: Arc<Visits>,
    metrics: Metrics,
}

impl Audiences {
    /// Nobody yet.
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self {
            subscriptions: PerFeed::new(Subscriptions::new),
            visits: Arc::default(),
            metrics,
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

    fn parted(&self, server: &ServerName, version: Version, lasted: Duration) {
        self.metrics.parted(server.as_str(), version.as_str(), lasted);
    }
}
