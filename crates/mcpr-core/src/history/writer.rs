//! Writes calls down, some at a time, and drops old ones.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpr_config::History as Options;
use mcpr_store::{CallBatch, CallQuery, Store, StoreError};
use mcpr_telemetry::{Secrets, Timed};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::ids::Ids;
use super::row::{Drafts, now_ms};
use super::waiting::Waiting;
use crate::clock::Clock;
use crate::plan::Plan;

/// How often what is too old is dropped, unless it may not even get as old as that.
const PRUNING: Duration = Duration::from_secs(3600);
/// How often at the most.
const SHORTEST_PRUNING: Duration = Duration::from_secs(1);
/// How often it is told that calls are left out, while the store does not answer.
const TELLING: Duration = Duration::from_secs(1);
/// How often it is told that calls cannot be written.
const REMINDING: Duration = Duration::from_secs(60);
/// So many bytes are made ready to be written before others have their turn.
const TURN: usize = 128 << 10;
/// What is too much is dropped whenever such a part of the limit was written.
const PART: u64 = 16;

/// Writes calls down.
pub(super) struct Writer {
    store: Arc<dyn Store>,
    plans: watch::Receiver<Arc<Plan>>,
    secrets: Secrets,
    waiting: Arc<Waiting>,
    most: Option<usize>,
    ids: Ids,
    /// What is being written; empty in between, for the sake of its memory.
    drafts: Drafts,
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

impl Writer {
    pub(super) fn new(
        store: Arc<dyn Store>,
        plans: watch::Receiver<Arc<Plan>>,
        secrets: Secrets,
        waiting: Arc<Waiting>,
        most: Option<usize>,
    ) -> Self {
        Self {
            store,
            plans,
            secrets,
            waiting,
            most,
            ids: Ids::default(),
            drafts: Drafts::default(),
            unpruned: 0,
            clock: Clock::new(SystemTime::now(), Instant::now()),
            trouble: Trouble::default(),
        }
    }

    /// Writes until the gateway ends, then what is left.
    pub(super) async fn run(mut self, end: CancellationToken) {
        self.look_back().await;
        let mut pruning = Box::pin(sleep(Duration::ZERO));
        let waiting = Arc::clone(&self.waiting);
        let mut plans = self.plans.clone();
        loop {
            tokio::select! {
                biased;
                () = end.cancelled() => break,
                () = &mut pruning => {
                    self.prune().await;
                    pruning.as_mut().reset(Instant::now() + self.pruning());
                }
                // Less may be kept from now on.
                Ok(()) = plans.changed() => pruning.as_mut().reset(Instant::now()),
                () = waiting.some() => {}
            }
            self.write().await;
        }
        waiting.close();
        self.write().await;
    }

    /// Writes what waits as one change.
    async fn write(&mut self) {
        let watchers = self.waiting.take(&mut self.drafts);
        if self.drafts.len() > 0 {
            self.put().await;
            self.drafts.clear();
            self.waiting.done();
        }
        self.waiting.tell();
        if self.unpruned > self.options().max_size as u64 / PART {
            self.prune().await;
        }
        for watcher in watchers {
            // Who has lost patience is told nothing.
            let _ = watcher.send(());
        }
    }

    async fn put(&mut self) {
        let _timed = Timed::of("writing calls to the history");
        let mut batch = CallBatch::default();
        let mut turn = 0;
        for draft in self.drafts.iter() {
            let id = self.ids.next(draft.ended_ms());
            draft.write(id.as_str(), &self.secrets, &mut batch);
            turn += draft.size();
            if turn > TURN {
                turn = 0;
                yield_now().await; // Secrets are looked for in all of it, and calls must not wait for that.
            }
        }
        let calls = batch.len();
        self.unpruned += batch.bytes();
        let written = self.while_telling(self.store.put_calls(batch)).await;
        if written.is_err() {
            self.waiting.lost(calls);
        }
        self.trouble.tell(calls, written);
    }

    /// Waits for the store, and tells meanwhile what is left out because it is slow.
    async fn while_telling<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            match timeout(TELLING, &mut work).await {
                Ok(done) => return done,
                Err(_) => self.waiting.tell(),
            }
        }
    }

    /// Looks when the last call was before this run, which tells a clock that is wrong at the start.
    async fn look_back(&mut self) {
        let newest = CallQuery {
            limit: 1,
            brief: true,
            ..CallQuery::default()
        };
        // What cannot be read cannot be dropped either.
        let calls = self.while_telling(self.store.calls(newest)).await;
        let call = calls.unwrap_or_default().pop();
        if let (Some(call), Some(keep)) = (call, self.options().keep) {
            let at = Duration::from_millis(u64::try_from(call.at_ms).unwrap_or_default());
            self.clock.compare(SystemTime::UNIX_EPOCH + at, keep);
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
