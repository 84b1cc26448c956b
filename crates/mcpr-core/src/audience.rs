//! Where it goes what servers announce beside changed lists.

use std::sync::Arc;

use mcpr_protocol::{Notification, Object};
use mcpr_registry::ServerName;
use mcpr_upstream::Audience;

use crate::subscriptions::Subscriptions;
use crate::visits::Visits;

/// All who wait for such news.
#[derive(Clone, Default)]
pub(crate) struct Audiences {
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) visits: Arc<Visits>,
}

impl Audience for Audiences {
    fn updated(&self, server: &ServerName, uri: &str, params: &Object) {
        self.subscriptions.updated(server, uri, params);
    }

    fn visited(&self, server: &ServerName, note: &Notification) {
        self.visits.note(server, note);
    }
}
