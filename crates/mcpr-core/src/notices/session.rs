//! The stream for what belongs to no request of a session.

use std::sync::{Arc, Weak};

use mcpr_protocol::{Notification, Rope, notification};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Caller;
use crate::gateway::Gateway;
use crate::session::Session;
use crate::snapshot::Snapshot;
use crate::toolsets::Worn;

/// The stream for what belongs to no request of a session.
pub(crate) struct SessionNotices {
    session: Arc<Session>,
    caller: Caller,
    gateway: Weak<Gateway>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    worn: watch::Receiver<Option<Arc<Worn>>>,
    open: CancellationToken,
    leaving: CancellationToken,
    ready: Vec<Rope>,
}

impl SessionNotices {
    /// Opens the stream of a session for its caller; one that was open before ends.
    pub(crate) fn open(gateway: &Arc<Gateway>, session: Arc<Session>, caller: Caller) -> Self {
        let mut snapshots = gateway.snapshot.clone();
        // What changed while no stream was open is told first.
        snapshots.mark_changed();
        let open = session.open_stream();
        let worn = gateway.toolsets.changes(caller.principal.key());
        Self {
            session,
            caller,
            gateway: Arc::downgrade(gateway),
            snapshots,
            worn,
            open,
            leaving: gateway.leaving.clone(),
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
                () = self.leaving.cancelled() => return None,
                changed = self.snapshots.changed() => changed.ok()?,
                changed = self.worn.changed() => changed.ok()?,
                message = self.session.post.next() => return Some(message),
                Some(told) = self.session.subscriber.inbox.next() => {
                    if self.caller.hears(&*self.gateway.upgrade()?, &told.server) {
                        return Some(Notification::text(notification::RESOURCE_UPDATED, told.params.into()));
                    }
                    continue;
                }
            }
            self.worn.mark_unchanged();
            let snapshot = self.snapshots.borrow_and_update().clone();
            let gateway = self.gateway.upgrade()?;
            let scope = self.caller.scope(&gateway);
            let now = snapshot.sight(&scope).stamps;
            let before = self.session.tell(now);
            self.ready = now
                .changed_since(&before)
                .map(|kind| Notification::text(kind.changed(), Rope::new()))
                .collect();
            gateway.metrics.lists_changed(self.ready.len());
        }
    }
}

impl Drop for SessionNotices {
    fn drop(&mut self) {
        self.open.cancel();
        self.session.touch(Instant::now());
    }
}
