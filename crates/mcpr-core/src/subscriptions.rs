//! Who hears of which resources (AGG-11), and of which tasks.
//!
//! Each client has a [`Subscriber`] with what it holds. All that is held is entered in one table,
//! which knows for each server what is wanted of it: a resource, or a task, is a wish of the gateway
//! from its first subscription to the end of its last.

mod inbox;
mod requests;
mod subscriber;
mod topic;

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::Arc;

use mcpr_protocol::{Notification, Object};
use mcpr_registry::ServerName;
use mcpr_upstream::{Feed, Wishes};
use parking_lot::Mutex;

use self::inbox::{Inbox, Update};
use self::topic::wholes;

pub(crate) use self::inbox::Told;
pub(crate) use self::subscriber::Subscriber;
pub(crate) use self::topic::Topic;
use crate::quota::Spot;

/// The longest name that can be subscribed to (SEC-05).
const LONGEST: usize = 8 * 1024;

/// All subscriptions of all clients to one feed of the servers.
pub(crate) struct Subscriptions {
    feed: Feed,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last_id: u64,
    servers: HashMap<ServerName, HashMap<Arc<str>, Entry>>,
}

/// Something that somebody has subscribed to.
struct Entry {
    wishes: Arc<Wishes>,
    ears: Vec<Ear>,
}

/// Who hears of it, and under which name.
struct Ear {
    id: u64,
    spelled: Arc<str>,
    inbox: Arc<Inbox>,
}

/// One subscription. It ends when it is dropped.
struct Subscription {
    all: Arc<Subscriptions>,
    server: ServerName,
    origin: Arc<str>,
    id: u64,
    _spot: Spot,
}

impl Subscriptions {
    /// Without any.
    pub(crate) fn new(feed: Feed) -> Arc<Self> {
        Arc::new(Self {
            feed,
            table: Mutex::default(),
        })
    }

    /// Takes a notification that came in a request of a client.
    pub(crate) fn note(&self, server: &ServerName, note: &Notification) {
        let params = note.params.as_ref().and_then(|params| Object::read(params).ok());
        if let Some(params) = params
            && let Some(name) = params.text(self.feed.member())
        {
            self.updated(server, &name, &params);
        }
    }

    /// Something that the server calls `name` has changed.
    pub(crate) fn updated(&self, server: &ServerName, name: &str, params: &Object) {
        let table = self.table.lock();
        let Some(entries) = table.servers.get(server) else {
            return;
        };
        let update = LazyCell::new(|| Update::new(self.feed, server, name, params));
        let tell = |whole: &str| {
            for ear in entries.get(whole).into_iter().flat_map(|entry| &entry.ears) {
                ear.inbox.put(&ear.spelled, &name[whole.len()..], &update);
            }
        };
        match self.feed {
            Feed::Resources => wholes(name).for_each(tell),
            Feed::Tasks => tell(name), // None is a part of another.
        }
    }

    /// Enters a subscription under the name that the client uses.
    fn enter(
        self: &Arc<Self>,
        topic: &Topic,
        spelled: Arc<str>,
        inbox: Arc<Inbox>,
        spot: Spot,
    ) -> Subscription {
        let mut table = self.table.lock();
        table.last_id += 1;
        let id = table.last_id;
        let server = table.servers.entry(topic.owner().clone()).or_default();
        let entry = server.entry(topic.origin.clone()).or_insert_with(|| Entry {
            wishes: topic.server.wishes.of(self.feed).clone(),
            ears: Vec::new(),
        });
        entry.ears.push(Ear { id, spelled, inbox });
        entry.wishes.add(&topic.origin);
        Subscription {
            all: self.clone(),
            server: topic.owner().clone(),
            origin: topic.origin.clone(),
            id,
            _spot: spot,
        }
    }

    fn leave(&self, subscription: &Subscription) {
        let mut table = self.table.lock();
        let Some(server) = table.servers.get_mut(&subscription.server) else {
            return;
        };
        let Some(entry) = server.get_mut(&subscription.origin) else {
            return;
        };
        entry.ears.retain(|ear| ear.id != subscription.id);
        if entry.ears.is_empty() {
            entry.wishes.remove(&subscription.origin);
            server.remove(&subscription.origin);
        }
        if server.is_empty() {
            table.servers.remove(&subscription.server);
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.all.leave(self);
    }
}
