//! What waits for one reader.

use std::collections::VecDeque;
use std::sync::Arc;

use mcpr_admin::{Event, EventKind};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many events wait for a reader at the most.
pub(super) const ROOM: usize = 1024;

/// What waits for one reader.
pub(super) struct Inbox {
    wanted: [bool; EventKind::ALL.len()],
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Arc<Event>>,
    /// How many were let go before the first of them.
    missed: u64,
}

impl Inbox {
    /// Nothing yet; of all kinds if none is named.
    pub(super) fn new(kinds: &[EventKind]) -> Self {
        let is_wanted = |kind: &EventKind| kinds.is_empty() || kinds.contains(kind);
        let mut wanted = [false; EventKind::ALL.len()];
        for kind in EventKind::ALL.iter().filter(|kind| is_wanted(kind)) {
            wanted[*kind as usize] = true;
        }
        Self {
            wanted,
            waiting: Mutex::default(),
            filled: Notify::new(),
        }
    }

    /// The kinds that the reader wants.
    pub(super) fn kinds(&self) -> impl Iterator<Item = EventKind> {
        let all = EventKind::ALL.iter().copied();
        all.filter(|kind| self.wanted[*kind as usize])
    }

    /// Takes an event in, if it is of a kind that the reader wants; the oldest makes room for it.
    pub(super) fn put(&self, event: &Arc<Event>) {
        if !self.wanted[event.kind as usize] {
            return;
        }
        let mut waiting = self.waiting.lock();
        if waiting.events.len() == ROOM {
            waiting.events.pop_front();
            waiting.missed += 1;
        }
        waiting.events.push_back(event.clone());
        drop(waiting);
        self.filled.notify_one();
    }

    /// The oldest event, and with it how many were lost before it.
    pub(super) fn take(&self) -> Option<Event> {
        let mut waiting = self.waiting.lock();
        let event = waiting.events.pop_front()?;
        let missed = std::mem::take(&mut waiting.missed);
        drop(waiting);
        Some(Event {
            missed,
            ..Arc::unwrap_or_clone(event)
        })
    }

    /// Waits until something has come since the last wait.
    pub(super) async fn filled(&self) {
        self.filled.notified().await;
    }
}
