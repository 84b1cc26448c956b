//! Telling clients that lists have changed.

use std::sync::Arc;

use mcpr_auth::Principal;
use mcpr_protocol::{Edit, Id, Notification, Object, RawJson, Response, Rope, key, notification};
use mcpr_registry::Kind;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::doorkeeper::Doorkeeper;
use crate::gateway::Gateway;
use crate::session::Session;
use crate::snapshot::{Snapshot, Stamps};

/// The stream for what belongs to no request of a session.
pub(crate) struct SessionNotices {
    session: Arc<Session>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    open: CancellationToken,
    ready: Vec<Rope>,
}

/// A `subscriptions/listen` of a stateless client.
pub(crate) struct Listen {
    id: Id,
    wanted: Wanted,
    told: Stamps,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    cancel: CancellationToken,
    stop: CancellationToken,
    principal: Principal,
    doorkeeper: Arc<Doorkeeper>,
    ready: Vec<Rope>,
    over: bool,
}

/// The lists whose changes a stateless client wants to hear of.
#[derive(Clone, Copy, Default)]
struct Wanted {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl SessionNotices {
    /// Opens the stream of a session; one that was open before ends.
    pub(crate) fn open(gateway: &Gateway, session: Arc<Session>) -> Self {
        let mut snapshots = gateway.snapshot.clone();
        // What changed while no stream was open is told first.
        snapshots.mark_changed();
        let open = session.open_stream();
        Self {
            session,
            snapshots,
            open,
            ready: Vec::new(),
        }
    }

    /// The next notification; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Rope> {
        loop {
            if let Some(notice) = self.ready.pop() {
                return Some(notice);
            }
            tokio::select! {
                biased;
                () = self.open.cancelled() => return None,
                changed = self.snapshots.changed() => changed.ok()?,
            }
            let now = self.snapshots.borrow_and_update().stamps;
            let before = self.session.tell(now);
            self.ready = now
                .changed_since(&before)
                .map(|kind| Notification::text(kind.changed(), Rope::new()))
                .collect();
        }
    }
}

impl Drop for SessionNotices {
    fn drop(&mut self) {
        self.open.cancel();
        self.session.touch();
    }
}

impl Listen {
    /// Takes a listen request: its first message is the acknowledgement of what is heard.
    pub(crate) fn new(gateway: &Gateway, principal: Principal, id: Id, params: Option<&Object>) -> Self {
        let wanted = Wanted::read(params.and_then(|params| params.object("notifications")).as_ref());
        let mut snapshots = gateway.snapshot.clone();
        let told = snapshots.borrow_and_update().stamps;
        let ready = vec![acknowledgement(&id, wanted)];
        let stop = gateway.stop.clone();
        Self {
            id,
            wanted,
            told,
            snapshots,
            cancel: CancellationToken::new(),
            stop,
            principal,
            doorkeeper: gateway.doorkeeper.clone(),
            ready,
            over: false,
        }
    }

    /// Ends it when the client says so on a pipe; over HTTP the client closes the stream.
    pub(crate) fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// The next message; `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<Rope> {
        loop {
            if let Some(notice) = self.ready.pop() {
                return Some(notice);
            }
            if self.over {
                return None;
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => self.over = true,
                () = self.stop.cancelled() => self.conclude(),
                () = self.doorkeeper.banished(&self.principal) => self.over = true,
                changed = self.snapshots.changed() => match changed {
                    Ok(()) => self.gather(),
                    Err(_) => self.conclude(),
                },
            }
        }
    }

    fn gather(&mut self) {
        let now = self.snapshots.borrow_and_update().stamps;
        let before = std::mem::replace(&mut self.told, now);
        let heard = now.changed_since(&before).filter(|kind| self.wanted.has(*kind));
        self.ready = heard
            .map(|kind| tagged(kind.changed(), &self.id, &RawJson::from_static("{}")))
            .collect();
    }

    /// The graceful end: the request is answered (2026-07-28, subscriptions).
    fn conclude(&mut self) {
        let result = with_tag(&RawJson::from_static("{\"resultType\":\"complete\"}"), &self.id);
        self.ready = vec![Response::text(Some(&self.id), Ok(result))];
        self.over = true;
    }
}

impl Wanted {
    fn read(filter: Option<&Object>) -> Self {
        let flag = |name| {
            filter
                .and_then(|filter| filter.get(name))
                .is_some_and(|value| value.as_str() == "true")
        };
        Self {
            tools: flag("toolsListChanged"),
            prompts: flag("promptsListChanged"),
            resources: flag("resourcesListChanged"),
        }
    }

    fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => self.tools,
            Kind::Prompts => self.prompts,
            Kind::Resources | Kind::Templates => self.resources,
        }
    }

    /// The accepted subset, which leaves out what was not asked for.
    fn accepted(self) -> Value {
        let all = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        let accepted = all.into_iter().filter(|(_, wanted)| *wanted);
        Value::Object(
            accepted
                .map(|(name, _)| (name.to_owned(), Value::Bool(true)))
                .collect(),
        )
    }
}

fn acknowledgement(id: &Id, wanted: Wanted) -> Rope {
    let params = json!({ "notifications": wanted.accepted() });
    tagged(notification::ACKNOWLEDGED, id, &RawJson::render(&params))
}

/// A notification that says to which listen it belongs.
fn tagged(method: &str, id: &Id, params: &RawJson) -> Rope {
    Notification::text(method, with_tag(params, id))
}

/// The object with the listen it belongs to in its `_meta`; the id as the client wrote it.
fn with_tag(object: &RawJson, id: &Id) -> Rope {
    let object = Object::read(object).expect("our own objects are some");
    let mut meta = Rope::from(format!("{{\"{}\":", key::SUBSCRIPTION_ID));
    meta.push(id.bytes());
    meta.push_static("}");
    Edit::new(&object).set("_meta", meta).finish()
}
