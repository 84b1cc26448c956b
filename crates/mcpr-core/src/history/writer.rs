//! Writes calls down, some at a time, and drops old ones.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use mcpr_config::History as Options;
use mcpr_store::{CallRow, Store, StoreError};
use mcpr_telemetry::{Secrets, Timed};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::ids::Ids;
use super::row::{Draft, now_ms};
use super::{Backlog, Item, QUEUE};
use crate::clock::Clock;
use crate::plan::Plan;

/// How long calls are collected before they are written together.
const PAUSE: Duration = Duration::from_millis(250);
/// How often what is too old is dropped, unless it may not even get as old as that.
const PRUNING: Duration = Duration::from_secs(3600);
/// How often at the most.
const SHORTEST_PRUNING: Duration = Duration::from_secs(1);
/// How often it is told that calls are left out, while the store does not answer.
const TELLING: Duration = Duration::from_secs(1);
/// How often it is told that calls cannot be written.
const REMINDING: Duration = Duration::from_secs(60);
/// What is too much is dropped whenever such a part of the limit was written.
const PART: u64 = 16;

/// Writes calls down.
pub(super) struct Writer {
    store: Arc<dyn Store>,
    plans: watch::Receiver<Arc<Plan>>,
    secrets: Secrets,
    backlog: Arc<Backlog>,
    most: Option<usize>,
    ids: Ids,
    /// Bytes that were written since it was looked whether they are too many.
    unpruned: u64,
    clock: Clock,
    trouble: Trouble,
}

/// What could not be written, told now and then.
#[derive(Default)]
struct Trouble {
    calls: usize,
    told: Option<Instant>,
}

/// What is to be written.
pub(super) struct Items {
    pub(super) queue: mpsc::Receiver<Item>,
    /// Ends a pause: there is much, or somebody waits.
    pub(super) hurry: Arc<Notify>,
}

/// What is written together.
#[derive(Default)]
struct Batch {
    drafts: Vec<Draft>,
    /// Who waits for it.
    waiting: Vec<oneshot::Sender<()>>,
}

impl Writer {
    pub(super) fn new(
        store: Arc<dyn Store>,
        plans: watch::Receiver<Arc<Plan>>,
        secrets: Secrets,
        backlog: Arc<Backlog>,
        most: Option<usize>,
    ) -> Self {
        Self {
            store,
            plans,
            secrets,
            backlog,
            most,
            ids: Ids::default(),
            unpruned: 0,
            clock: Clock::new(SystemTime::now(), Instant::now()),
            trouble: Trouble::default(),
        }
    }

    /// Writes until the gateway ends, then what is left.
    pub(super) async fn run(mut self, mut items: Items, end: CancellationToken) {
        let mut pruning = Box::pin(sleep(Duration::ZERO));
        loop {
            tokio::select! {
                biased;
                () = end.cancelled() => break,
                () = &mut pruning => {
                    self.prune().await;
                    pruning.as_mut().reset(Instant::now() + self.pruning());
                }
                item = items.queue.recv() => match item {
                    Some(item) => self.write(collect(item, &mut items, &end).await).await,
                    None => return,
                },
            }
        }
        items.queue.close();
        let mut rest = Batch::default();
        while let Ok(item) = items.queue.try_recv() {
            rest.add(item);
        }
        self.write(rest).await;
    }

    /// Writes these calls as one change.
    async fn write(&mut self, batch: Batch) {
        if !batch.drafts.is_empty() {
            let bytes: u64 = batch.drafts.iter().map(Draft::size).sum();
            self.put(batch.drafts).await;
            self.backlog.bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.unpruned += bytes;
        }
        self.backlog.tell();
        if self.unpruned > self.options().max_size as u64 / PART {
            self.prune().await;
        }
        for waiting in batch.waiting {
            // Who has lost patience is told nothing.
            let _ = waiting.send(());
        }
    }

    async fn put(&mut self, drafts: Vec<Draft>) {
        let _timed = Timed::of("writing calls to the history");
        let calls = drafts.len();
        let rows: Vec<CallRow> = drafts.into_iter().map(|draft| self.row(draft)).collect();
        let written = self.while_telling(self.store.put_calls(rows)).await;
        if written.is_err() {
            self.backlog.shed_ever.fetch_add(calls as u64, Ordering::Relaxed);
        }
        self.trouble.tell(calls, written);
    }

    fn row(&mut self, draft: Draft) -> CallRow {
        let id = self.ids.next(draft.ended_ms());
        draft.into_row(id, &self.secrets)
    }

    /// Waits for the store, and tells meanwhile what is left out because it is slow.
    async fn while_telling<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            match timeout(TELLING, &mut work).await {
                Ok(done) => return done,
                Err(_) => self.backlog.tell(),
            }
        }
    }

    /// Drops what is too old and what is too much.
    async fn prune(&mut self) {
        let _timed = Timed::of("dropping old calls from the history");
        let Options { keep, max_size, .. } = self.options();
        self.unpruned = 0;
        let steady = self.clock.is_steady(SystemTime::now(), Instant::now());
        let oldest = keep.filter(|_| steady).map(|keep| {
            let keep = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
            now_ms().saturating_sub(keep)
        });
        let pruned = self.while_telling(self.store.prune_calls(oldest, max_size as u64));
        match pruned.await {
            Ok(0) => {}
            Ok(calls) => tracing::debug!(calls, "old calls were dropped from the history"),
            Err(error) => tracing::warn!(reason = %error, "old calls could not be dropped from the history"),
        }
    }

    /// How long until what is too old is dropped again.
    fn pruning(&self) -> Duration {
        let keep = self.options().keep.unwrap_or(PRUNING);
        keep.clamp(SHORTEST_PRUNING, PRUNING)
    }

    /// What is to be kept, as far as there is room.
    fn options(&self) -> Options {
        let options = self.plans.borrow().options.history;
        Options {
            max_size: self
                .most
                .map_or(options.max_size, |most| most.min(options.max_size)),
            ..options
        }
    }
}

impl Trouble {
    /// Tells at once what is wrong, then how much was lost every now and then, and when it is over.
    fn tell(&mut self, calls: usize, written: Result<(), StoreError>) {
        match written {
            Ok(()) if self.told.is_some() => {
                let lost = std::mem::take(self).calls;
                tracing::info!(lost, "calls are written to the history again");
            }
            Ok(()) => {}
            Err(error) => {
                self.calls += calls;
                if self.told.is_none_or(|told| told.elapsed() >= REMINDING) {
                    tracing::warn!(reason = %error, calls = self.calls, "calls could not be written to the history");
                    self.told = Some(Instant::now());
                }
            }
        }
    }
}

impl Batch {
    /// Takes one in; whether there may be more.
    fn add(&mut self, item: Item) -> bool {
        match item {
            Item::Call(draft) => {
                self.drafts.push(draft);
                self.drafts.len() < QUEUE
            }
            Item::Written(waiting) => {
                self.waiting.push(waiting);
                false
            }
        }
    }
}

/// Collects what comes within a pause; who waits for it, much of it, and the end of the gateway end the
/// pause. Nobody looks meanwhile, so that a call wakes nobody.
async fn collect(first: Item, items: &mut Items, end: &CancellationToken) -> Batch {
    let mut batch = Batch::default();
    let mut more = batch.add(first);
    if more {
        tokio::select! {
            () = end.cancelled() => {}
            () = items.hurry.notified() => {}
            () = sleep(PAUSE) => {}
        }
    }
    while more && let Ok(item) = items.queue.try_recv() {
        more = batch.add(item);
    }
    batch
}
