//! What one client has subscribed to.

use std::collections::HashMap;
use std::sync::Arc;

use mcpr_registry::Route;
use parking_lot::Mutex;

use super::inbox::Inbox;
use super::topic::covers;
use super::{Subscription, Subscriptions, Topic};
use crate::quota::{Full, Spot};

/// A client that hears of something: a session, or a listen of a stateless client.
#[derive(Default)]
pub(crate) struct Subscriber {
    /// What it has not been told yet.
    pub(crate) inbox: Arc<Inbox>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    by_name: HashMap<Arc<str>, Subscription>,
    closed: bool,
}

/// What became of a wish to subscribe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// It is a new subscription.
    New,
    /// There was one already.
    Again,
    /// There are as many as there may be.
    Full,
    /// The principal has as many as it may have.
    Spent(Full),
    /// The client has gone.
    Closed,
}

impl Subscriber {
    /// Subscribes under the name that the client uses.
    pub(super) fn take(
        &self,
        all: &Arc<Subscriptions>,
        topic: &Topic,
        spelled: &Arc<str>,
        bounds: (usize, impl FnOnce() -> Result<Spot, Full>),
    ) -> Taken {
        let (most, spot) = bounds;
        let mut held = self.held.lock();
        if held.closed {
            return Taken::Closed;
        }
        if held.by_name.get(spelled).is_some_and(|known| known.is_to(topic)) {
            return Taken::Again;
        }
        if held.by_name.len() >= most && !held.by_name.contains_key(spelled) {
            return Taken::Full;
        }
        let spot = match spot() {
            Ok(spot) => spot,
            Err(full) => return Taken::Spent(full),
        };
        let subscription = all.enter(topic, spelled.clone(), self.inbox.clone(), spot);
        held.by_name.insert(spelled.clone(), subscription);
        Taken::New
    }

    /// Ends the subscription under this name; false if there is none.
    pub(super) fn release(&self, spelled: &str) -> bool {
        self.release_where(|known, _| known == spelled)
    }

    /// Ends the subscriptions to this resource, under whatever name.
    pub(super) fn release_all_to(&self, route: &Route) {
        self.release_where(|_, known| known.server == route.server && *known.origin == *route.uri);
    }

    /// Ends everything; nothing can be subscribed to any more.
    pub(crate) fn close(&self) {
        let ended = {
            let mut held = self.held.lock();
            held.closed = true;
            std::mem::take(&mut held.by_name)
        };
        drop(ended);
        self.inbox.retain(|_| false);
    }

    fn release_where(&self, condition: impl Fn(&str, &Subscription) -> bool) -> bool {
        let mut held = self.held.lock();
        let before = held.by_name.len();
        held.by_name
            .retain(|spelled, subscription| !condition(spelled, subscription));
        let released = held.by_name.len() < before;
        if released {
            self.inbox
                .retain(|uri| held.by_name.keys().any(|spelled| covers(spelled, uri)));
        }
        released
    }
}

impl Subscription {
    fn is_to(&self, topic: &Topic) -> bool {
        self.server == *topic.owner() && self.origin == topic.origin
    }
}
