//! What happens, told to those who watch: ended calls, servers and lists that change.

mod calls;
mod changes;
mod inbox;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use mcpr_admin::{Event, EventKind};
use mcpr_telemetry::rfc3339;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

pub(crate) use self::changes::{Seen, tell_changes};
use self::inbox::Inbox;
use crate::gateway::Gateway;

/// Tells what happens to whoever watches.
#[derive(Default)]
pub(crate) struct Teller {
    /// How many watch, by kind: nothing is made for nobody.
    watched: [AtomicUsize; EventKind::ALL.len()],
    inboxes: Mutex<Vec<Arc<Inbox>>>,
}

/// What happens in a gateway from the moment on at which this was opened: see [`Gateway::events`].
///
/// Who reads too slowly loses the oldest of what waits, and is told how much.
pub struct Events {
    inbox: Arc<Inbox>,
    teller: Arc<Teller>,
    end: CancellationToken,
}

impl Teller {
    /// Whether anybody watches this kind.
    pub(crate) fn is_watched(&self, kind: EventKind) -> bool {
        self.watched[kind as usize].load(Ordering::Relaxed) > 0
    }

    /// Tells all who watch its kind.
    pub(crate) fn tell(&self, event: Event) {
        let event = Arc::new(event);
        for inbox in self.inboxes.lock().iter() {
            inbox.put(&event);
        }
    }

    /// Tells of these kinds from now on, until `end`; of all if none is named.
    pub(crate) fn watch(self: &Arc<Self>, kinds: &[EventKind], end: CancellationToken) -> Events {
        let inbox = Arc::new(Inbox::new(kinds));
        let mut inboxes = self.inboxes.lock();
        inboxes.push(inbox.clone());
        for kind in inbox.kinds() {
            self.watched[kind as usize].fetch_add(1, Ordering::Relaxed);
        }
        Events {
            inbox,
            teller: self.clone(),
            end,
        }
    }
}

impl Events {
    /// The next event; nothing once the gateway ends. Cancel-safe.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.inbox.take() {
                return Some(event);
            }
            if self.end.is_cancelled() {
                return None;
            }
            tokio::select! {
                () = self.inbox.filled() => {}
                () = self.end.cancelled() => {}
            }
        }
    }
}

impl Gateway {
    /// Tells what happens from now on: servers that come, go or change, lists that change, calls that end. Without
    /// any kind, all of it. Nothing is made for nobody, so a gateway that is not watched pays nothing.
    pub fn events(&self, kinds: &[EventKind]) -> Events {
        self.events.watch(kinds, self.leaving.clone())
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let mut inboxes = self.teller.inboxes.lock();
        inboxes.retain(|inbox| !Arc::ptr_eq(inbox, &self.inbox));
        for kind in self.inbox.kinds() {
            self.teller.watched[kind as usize].fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// An event of this moment.
pub(crate) fn event(kind: EventKind) -> Event {
    Event {
        kind,
        at: rfc3339(SystemTime::now()),
        server: None,
        state: None,
        reason: None,
        call: None,
        missed: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(server: &str) -> Event {
        Event {
            server: Some(server.to_owned()),
            ..event(EventKind::Server)
        }
    }

    #[tokio::test]
    async fn each_reader_hears_what_it_asked_for_and_nothing_is_made_for_nobody() {
        let teller = Arc::<Teller>::default();
        assert!(!EventKind::ALL.iter().any(|kind| teller.is_watched(*kind)));
        let mut all = teller.watch(&[], CancellationToken::new());
        let mut servers = teller.watch(&[EventKind::Server], CancellationToken::new());

        teller.tell(event(EventKind::Catalog));
        teller.tell(about("git"));

        assert_eq!(all.next().await.unwrap().kind, EventKind::Catalog);
        assert_eq!(all.next().await.unwrap().kind, EventKind::Server);
        assert_eq!(servers.next().await.unwrap().server.as_deref(), Some("git"));
        drop(all);
        assert!(teller.is_watched(EventKind::Server) && !teller.is_watched(EventKind::Call));
        drop(servers);
        assert!(!teller.is_watched(EventKind::Server) && teller.inboxes.lock().is_empty());
    }

    #[tokio::test]
    async fn a_slow_reader_loses_the_oldest_and_is_told_how_many() {
        let teller = Arc::<Teller>::default();
        let mut slow = teller.watch(&[], CancellationToken::new());
        for number in 0..inbox::ROOM + 3 {
            teller.tell(about(&number.to_string()));
        }

        let first = slow.next().await.unwrap();
        let second = slow.next().await.unwrap();

        assert_eq!((first.missed, first.server.as_deref()), (3, Some("3")));
        assert_eq!((second.missed, second.server.as_deref()), (0, Some("4")));
    }

    #[tokio::test]
    async fn what_waits_is_told_before_the_end() {
        let teller = Arc::<Teller>::default();
        let end = CancellationToken::new();
        let mut events = teller.watch(&[], end.clone());
        teller.tell(about("git"));
        end.cancel();

        assert!(events.next().await.is_some());
        assert!(events.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_woken() {
        let teller = Arc::<Teller>::default();
        let end = CancellationToken::new();
        let mut events = teller.watch(&[], end.clone());

        let (heard, ()) = tokio::join!(events.next(), async { teller.tell(about("git")) });
        assert!(heard.is_some());
        let (heard, ()) = tokio::join!(events.next(), async { end.cancel() });
        assert!(heard.is_none());
    }
}
