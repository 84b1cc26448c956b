//! A `subscriptions/listen` of a stateless client.

use std::pin::Pin;
use std::sync::{Arc, Weak};

use mcpr_protocol::{Edit, Id, Notification, Object, RawJson, Response, Rope, Version, key, notification};
use mcpr_upstream::{Feed, PerFeed};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Caller, Filter};
use crate::client::Context;
use crate::gateway::Gateway;
use crate::quota::Spot;
use crate::snapshot::{Snapshot, Stamps};
use crate::subscriptions::{Subscriber, Told};
use crate::toolsets::Worn;

/// A stream of what a stateless client asked to hear of.
pub(crate) struct Listen {
    id: Id,
    filter: Filter,
    told: Stamps,
    gateway: Weak<Gateway>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    worn: watch::Receiver<Option<Arc<Worn>>>,
    ears: PerFeed<Arc<Subscriber>>,
    /// Until it is known which resources and tasks are heard of.
    standing: Option<Standing>,
    cancel: CancellationToken,
    leaving: CancellationToken,
    caller: Caller,
    ready: Vec<Rope>,
    over: bool,
    _spot: Spot,
}

type Standing = Pin<Box<dyn Future<Output = PerFeed<Vec<Arc<str>>>> + Send>>;

impl Listen {
    /// Takes a listen request: its first message is the acknowledgement of what is heard.
    pub(crate) fn new(gateway: &Arc<Gateway>, context: &Context, id: Id, filter: Filter, spot: Spot) -> Self {
        let mut snapshots = gateway.snapshot.clone();
        let caller = Caller::of(context);
        let mut worn = gateway.toolsets.changes(caller.principal.key());
        worn.mark_unchanged();
        let scope = caller.scope(gateway);
        let told = snapshots.borrow_and_update().sight(&scope).stamps;
        let ears = PerFeed::<Arc<Subscriber>>::default();
        let standing = gateway.clone().stand(
            caller.principal.clone(),
            scope,
            ears.clone(),
            filter.names.clone(),
        );
        Self {
            id,
            filter,
            told,
            gateway: Arc::downgrade(gateway),
            snapshots,
            worn,
            ears,
            standing: Some(Box::pin(standing)),
            cancel: CancellationToken::new(),
            leaving: gateway.leaving.clone(),
            caller,
            ready: Vec::new(),
            over: false,
            _spot: spot,
        }
    }

    /// Ends it when the client says so on a pipe; over HTTP the client closes the stream.
    pub(crate) fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// The next message; `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<Rope> {
        loop {
            if let Some(message) = self.ready.pop() {
                return Some(message);
            }
            if self.over {
                return None;
            }
            let (resources, tasks) = (self.ears.of(Feed::Resources), self.ears.of(Feed::Tasks));
            tokio::select! {
                biased;
                () = self.leaving.cancelled() => self.conclude(),
                () = self.cancel.cancelled() => self.over = true,
                heard = stands(&mut self.standing) => self.acknowledge(heard),
                changed = self.snapshots.changed(), if self.standing.is_none() => match changed {
                    Ok(()) => self.gather(),
                    Err(_) => self.conclude(),
                },
                Ok(()) = self.worn.changed(), if self.standing.is_none() => self.gather(),
                told = resources.inbox.next(), if self.standing.is_none() => self.tell(Feed::Resources, told),
                told = tasks.inbox.next(), if self.standing.is_none() => self.tell(Feed::Tasks, told),
            }
        }
    }

    /// Says first what is heard of; nothing can have been told before.
    fn acknowledge(&mut self, heard: PerFeed<Vec<Arc<str>>>) {
        self.standing = None;
        self.filter.names = heard;
        let params = RawJson::render(&json!({ "notifications": self.filter.accepted() }));
        self.ready = vec![self.tagged(notification::ACKNOWLEDGED, &params)];
    }

    fn gather(&mut self) {
        let Some(gateway) = self.gateway.upgrade() else {
            return;
        };
        self.worn.mark_unchanged();
        let snapshot = self.snapshots.borrow_and_update().clone();
        let now = snapshot.sight(&self.caller.scope(&gateway)).stamps;
        let before = std::mem::replace(&mut self.told, now);
        let heard = now.changed_since(&before).filter(|kind| self.filter.has(*kind));
        self.ready = heard
            .map(|kind| self.tagged(kind.changed(), &RawJson::from_static("{}")))
            .collect();
        gateway.metrics.lists_changed(self.ready.len());
    }

    /// The graceful end: what waits is told, and the request is answered (2026-07-28, subscriptions).
    fn conclude(&mut self) {
        let result = with_tag(&RawJson::from_static("{\"resultType\":\"complete\"}"), &self.id);
        self.ready = vec![Response::text(Some(&self.id), Ok(result))];
        if self.standing.is_none() {
            for feed in Feed::ALL {
                while let Some(told) = self.ears.of(feed).inbox.take() {
                    if self.concerns(feed, &told) {
                        self.ready.insert(1, self.news(feed, &told));
                    }
                }
            }
        }
        self.over = true;
    }

    /// Takes what a server told; a client that has missed something is sent away, to listen again.
    fn tell(&mut self, feed: Feed, told: Option<Told>) {
        match told {
            Some(told) if !self.concerns(feed, &told) => {}
            Some(told) => self.ready = vec![self.news(feed, &told)],
            None => self.conclude(),
        }
    }

    /// Whether the client may still hear of it; its tasks are its own wherever they run.
    fn concerns(&self, feed: Feed, told: &Told) -> bool {
        let hears = |gateway: Arc<Gateway>| self.caller.hears(&gateway, &told.server);
        feed == Feed::Tasks || self.gateway.upgrade().is_none_or(hears)
    }

    /// What a server told, in the words of this client.
    fn news(&self, feed: Feed, told: &Told) -> Rope {
        if feed == Feed::Resources {
            return self.tagged(feed.method(), &told.params);
        }
        let snapshot = self.snapshots.borrow().clone();
        let expose = |uri: &str| snapshot.known.expose_uri(&told.server, uri);
        let params = mcpr_bridge::told_task(&told.params, Version::NEWEST_STATELESS, &expose);
        self.tagged(feed.method(), &RawJson::trusted(params.into_bytes()))
    }

    /// A notification that says to which listen it belongs.
    fn tagged(&self, method: &str, params: &RawJson) -> Rope {
        Notification::text(method, with_tag(params, &self.id))
    }
}

impl Drop for Listen {
    fn drop(&mut self) {
        Feed::ALL.iter().for_each(|feed| self.ears.of(*feed).close());
    }
}

async fn stands(standing: &mut Option<Standing>) -> PerFeed<Vec<Arc<str>>> {
    match standing {
        Some(standing) => standing.await,
        None => std::future::pending().await,
    }
}

/// The object with the listen it belongs to in its `_meta`; the id as the client wrote it.
fn with_tag(object: &RawJson, id: &Id) -> Rope {
    let object = Object::read(object).expect("our own objects are some");
    let meta = object.object("_meta").unwrap_or_default();
    let meta = Edit::new(&meta)
        .set(key::SUBSCRIPTION_ID, id.raw().clone())
        .finish();
    Edit::new(&object).set("_meta", meta).finish()
}
