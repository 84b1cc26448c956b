//! What waits to be written.

use std::time::Duration;

use mcpr_config::Arguments;
use mcpr_telemetry::CallRecord;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

use super::row::{Drafts, Facts};

/// How many calls may wait to be written.
const MOST: usize = 8192;
/// How many bytes they may take with those that are being written; arguments can be large.
const MOST_BYTES: usize = 64 << 20;
/// So many bytes are written before their time: more at once are no faster, and take more memory.
const PLENTY: usize = 128 << 10;
/// How long calls are collected before they are written together.
const PAUSE: Duration = Duration::from_millis(250);

/// Stands between those who end calls and the one who writes them down, like [a double
/// buffer](https://en.wikipedia.org/wiki/Multiple_buffering): the lock is held for as long as copying some short
/// texts takes.
#[derive(Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    /// There is something to write.
    some: Notify,
    /// There is much, or somebody waits for it.
    hurry: Notify,
}

#[derive(Default)]
struct State {
    drafts: Drafts,
    /// Who wants to know when all that came before is written.
    watchers: Vec<oneshot::Sender<()>>,
    /// The bytes of those that are being written.
    in_hand: usize,
    /// What there was no room for, since it was told last and ever.
    shed: u64,
    shed_ever: u64,
    closed: bool,
}

impl Waiting {
    /// Takes a call, if there is room; what there is none for is counted.
    pub(super) fn add(&self, record: &CallRecord<'_>, arguments: Arguments) {
        let facts = Facts::of(record, arguments);
        let mut state = self.state.lock();
        let before = state.drafts.size();
        let full = state.drafts.len() >= MOST || before + state.in_hand > MOST_BYTES;
        if state.closed || full {
            return state.shed(1);
        }
        state.drafts.add(record, facts);
        let plenty = before < PLENTY && state.drafts.size() >= PLENTY;
        drop(state);
        if before == 0 {
            self.some.notify_one();
        }
        if plenty {
            self.hurry.notify_one();
        }
    }

    /// Tells, by its end, when all that has come until now is written.
    pub(super) fn written(&self) -> oneshot::Receiver<()> {
        let (done, written) = oneshot::channel();
        let mut state = self.state.lock();
        // Who comes too late hears it at once: all is written that will be.
        if !state.closed {
            state.watchers.push(done);
        }
        drop(state);
        self.some.notify_one();
        self.hurry.notify_one();
        written
    }

    /// Waits for something, and then for more of it. Nobody looks meanwhile, so that a call wakes nobody.
    pub(super) async fn some(&self) {
        self.some.notified().await;
        tokio::select! {
            () = self.hurry.notified() => {}
            () = sleep(PAUSE) => {}
        }
    }

    /// Takes all there is in exchange for drafts that are empty, and who waits for it.
    pub(super) fn take(&self, drafts: &mut Drafts) -> Vec<oneshot::Sender<()>> {
        let mut state = self.state.lock();
        std::mem::swap(&mut state.drafts, drafts);
        state.in_hand = drafts.size();
        std::mem::take(&mut state.watchers)
    }

    /// What was taken is written.
    pub(super) fn done(&self) {
        self.state.lock().in_hand = 0;
    }

    /// Takes no more.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
    }

    /// Counts calls that could not be written; that is told by who could not.
    pub(super) fn lost(&self, calls: usize) {
        self.state.lock().shed_ever += calls as u64;
    }

    /// How many calls are missing since the start.
    pub(super) fn shed_ever(&self) -> u64 {
        self.state.lock().shed_ever
    }

    /// Tells in the log how many calls were left out since it was told last.
    pub(super) fn tell(&self) {
        let shed = std::mem::take(&mut self.state.lock().shed);
        if shed > 0 {
            tracing::warn!(
                shed,
                "calls are missing in the history: the database is too slow for them"
            );
        }
    }
}

impl State {
    fn shed(&mut self, calls: u64) {
        self.shed += calls;
        self.shed_ever += calls;
    }
}
