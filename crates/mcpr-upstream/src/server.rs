//! A server of the configuration: one backend, or several that are equal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use mcpr_registry::{Kind, Offers, ServerName};
use parking_lot::Mutex;

use crate::merged::Merged;
use crate::status::{Phase, Status};
use crate::{BackendSpec, Feed, PerFeed, Refusal, Replica, ServerSpec, Upstream, UpstreamSpec, Wishes};

/// A server, whatever becomes of its backends.
pub struct Server {
    /// Its name.
    pub name: ServerName,
    /// What it is to be.
    pub spec: ServerSpec,
    /// What is wanted to be told of.
    pub wishes: PerFeed<Arc<Wishes>>,
    /// Its backends, in the order of the specification.
    pub backends: Vec<Arc<Upstream>>,
    merged: Mutex<Merged>,
    /// Whether its backends differ in what they offer.
    uneven: AtomicBool,
}

impl Server {
    pub(crate) fn new(
        name: ServerName,
        spec: ServerSpec,
        wishes: PerFeed<Arc<Wishes>>,
        backends: Vec<Arc<Upstream>>,
    ) -> Self {
        Self {
            name,
            spec,
            wishes,
            backends,
            merged: Mutex::default(),
            uneven: AtomicBool::new(false),
        }
    }

    /// The backend that is kept with exactly this specification.
    pub(crate) fn backend(&self, wanted: &BackendSpec) -> Option<Arc<Upstream>> {
        let same = |backend: &&Arc<Upstream>| backend.label == wanted.label && backend.spec == wanted.spec;
        self.backends.iter().find(same).cloned()
    }

    /// Ends its backends, without those that live on.
    pub(crate) fn end_all_but(&self, living: &[Arc<Upstream>]) {
        let ends = |backend: &&Arc<Upstream>| !living.iter().any(|other| Arc::ptr_eq(other, backend));
        self.backends
            .iter()
            .filter(ends)
            .for_each(|backend| backend.stop.cancel());
    }

    /// How it is treated as a whole.
    pub fn treatment(&self) -> &UpstreamSpec {
        self.spec.treatment()
    }

    /// The backend of that label.
    pub fn backend_labelled(&self, label: &str) -> Option<Arc<Upstream>> {
        self.backends
            .iter()
            .find(|backend| *backend.label == *label)
            .cloned()
    }

    /// Its only backend, if it has no other.
    pub fn only_backend(&self) -> Option<&Arc<Upstream>> {
        match &*self.backends {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The state now. Of several backends the best counts: the server is to be had as long as one is.
    pub fn status(&self) -> Status {
        match self.only_backend() {
            Some(only) => only.status(),
            None => self.summed_up(self.backends.iter().map(|backend| backend.status()).collect()),
        }
    }

    /// A backend's connection that takes requests now, if there is one.
    pub fn replica(&self) -> Option<Arc<Replica>> {
        self.backends.iter().find_map(|backend| backend.replica())
    }

    /// Whether a backend is known not to have an item that others have.
    pub fn lacks(&self, backend: &Upstream, kind: Kind, name: &str) -> bool {
        self.uneven.load(Ordering::Relaxed)
            && backend
                .offers()
                .is_some_and(|offers| self.merged.lock().lacks(&offers, kind, name))
    }

    /// Asks every backend for an attempt now instead of later.
    pub fn nudge(&self) {
        self.backends.iter().for_each(|backend| backend.nudge());
    }

    /// Says that a list is asked for whose time is over. It is read again in the background.
    pub fn expired(&self, kind: Kind) {
        self.backends.iter().for_each(|backend| backend.expired(kind));
    }

    /// Waits until one of the backends is ready, or all are known not to be.
    pub async fn settled(&self) -> Status {
        self.first_ready(self.backends.iter().map(|backend| backend.settled()))
            .await
    }

    /// Waits until each backend is ready, or known not to be.
    pub async fn all_settled(&self) {
        join_all(self.backends.iter().map(|backend| backend.settled())).await;
    }

    /// Starts all backends that sleep, and waits until one is ready or all are known not to be.
    pub async fn wake(&self) -> Status {
        self.first_ready(self.backends.iter().map(|backend| backend.wake()))
            .await
    }

    /// Waits until a backend has said that it tells of what is among the wishes under this name, or
    /// all have said that they do not. The caller bounds the wait.
    ///
    /// # Errors
    ///
    /// When none does, or none is there.
    pub async fn tells_of(&self, feed: Feed, name: &str) -> Result<(), Refusal> {
        let ask = |backend: &Arc<Upstream>| {
            let backend = backend.clone();
            async move { backend.tells_of(feed, name).await }
        };
        let mut answers: FuturesUnordered<_> = self.backends.iter().map(ask).collect();
        let mut worst = Refusal::NotOffered;
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(()) => return Ok(()),
                // The server's own words say more than that a backend is not there.
                Err(refusal @ Refusal::Error(_)) => worst = refusal,
                Err(refusal) if matches!(worst, Refusal::NotOffered) => worst = refusal,
                Err(_) => {}
            }
        }
        Err(worst)
    }

    async fn first_ready(&self, waits: impl Iterator<Item = impl Future<Output = Status>>) -> Status {
        let mut waits: FuturesUnordered<_> = waits.collect();
        while let Some(status) = waits.next().await {
            if status.replica.is_some() {
                break;
            }
        }
        self.status()
    }

    /// The states of several backends as one.
    fn summed_up(&self, backends: Vec<Status>) -> Status {
        let best = backends.iter().min_by_key(|status| rank(&status.phase));
        let phase = best.map_or(Phase::Stopped, |status| status.phase.clone());
        let since = best.map_or_else(SystemTime::now, |status| status.since);
        let counted = backends.iter().filter(|status| status.counts_beside(&phase));
        let sources = counted.filter_map(|status| status.offers.clone()).collect();
        let mut sum = Status {
            replica: backends.iter().find_map(|status| status.replica.clone()),
            since,
            loss: self.losses(&backends),
            ..Status::new(phase, self.offers_of(sources))
        };
        for status in &backends {
            sum.starts += status.starts;
            sum.notices.add(status.notices);
        }
        let mut fresh = backends.iter().filter(|status| status.replica.is_some());
        if let Some(first) = fresh.next() {
            sum.fresh = fresh.fold(first.fresh, |all, status| all.and(&status.fresh));
        }
        match (&mut sum.phase, &sum.loss) {
            (Phase::Down { reason, .. } | Phase::AuthRequired { reason, .. }, Some(all)) => {
                reason.clone_from(all)
            }
            (Phase::Ready, _) => sum.doubt.clone_from(&sum.loss),
            _ => {}
        }
        sum
    }

    /// What these offer together; put together anew only when one of them lists something else.
    fn offers_of(&self, sources: Vec<Arc<Offers>>) -> Option<Arc<Offers>> {
        let mut merged = self.merged.lock();
        if !merged.is_of(&sources) {
            *merged = Merged::of(sources);
            let uneven = merged.is_uneven();
            if uneven && !self.uneven.swap(uneven, Ordering::Relaxed) {
                tracing::warn!(server = %self.name, "its backends list different things; each call goes to one that has what it asks for");
            }
            self.uneven.store(uneven, Ordering::Relaxed);
        }
        merged.whole()
    }

    /// Why backends are not to be had, each with its label.
    fn losses(&self, backends: &[Status]) -> Option<Arc<str>> {
        let lost = self.spec.backends.iter().zip(backends);
        let lost =
            lost.filter_map(|(backend, status)| Some(format!("{}: {}", backend.label, status.reason()?)));
        let texts: Vec<String> = lost.collect();
        (!texts.is_empty()).then(|| texts.join("; ").into())
    }
}

/// The order in which phases make a server what it is.
fn rank(phase: &Phase) -> u8 {
    match phase {
        Phase::Ready => 0,
        Phase::Starting => 1,
        Phase::Idle => 2,
        Phase::Down { .. } => 3,
        Phase::AuthRequired { .. } => 4,
        Phase::Stopped => 5,
    }
}
