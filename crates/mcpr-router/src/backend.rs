//! A server with what the router knows of its backends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_transport::Failed;
use mcpr_upstream::{Isolation, Phase, Server, Status, Upstream};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::balance::{Balance, Candidate, Choice, Decision, Few, Known, Standing, decide};
use crate::connections::Connections;
use crate::error::unavailable;
use crate::line::{InLine, Line, Shut};
use crate::router::Demand;
use crate::trust::{Trust, Try};
use crate::{RouteError, RouteErrorKind};

/// A server, the line before it, and its backends.
pub(crate) struct Guarded {
    pub(crate) server: Arc<Server>,
    pub(crate) backends: Vec<Arc<Backend>>,
    pub(crate) line: Line,
    /// The rule of the embedding program, in the place of the configured one.
    rule: Option<Arc<dyn Balance>>,
    /// How often a backend was chosen. Choices go one after the other, so that each counts.
    turns: Mutex<u64>,
}

/// A backend, its further connections, and how it does.
pub(crate) struct Backend {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) connections: Connections,
    tags: Vec<String>,
    in_flight: AtomicUsize,
    last_turn: AtomicU64,
    trust: Mutex<Trust>,
}

/// One call's place at a backend; dropping it gives it to the next caller.
pub(crate) struct Place {
    pub(crate) server: Arc<Guarded>,
    pub(crate) backend: Arc<Backend>,
    /// How long the call stood in line for it, if it did.
    pub(crate) waited: Option<Duration>,
    /// Whether the call finds out if the backend is back.
    tries: Option<Try>,
}

impl Guarded {
    /// A server, with the backends that were there before.
    pub(crate) fn new(server: Arc<Server>, rule: Option<Arc<dyn Balance>>, before: Option<&Self>) -> Self {
        let backends = server.backends.iter().zip(&server.spec.backends);
        let backends = backends.map(|(upstream, spec)| {
            let same =
                |known: &&Arc<Backend>| Arc::ptr_eq(&known.upstream, upstream) && known.tags == spec.tags;
            let known = before.and_then(|before| before.backends.iter().find(same));
            known
                .cloned()
                .unwrap_or_else(|| Arc::new(Backend::new(upstream, spec.tags.clone())))
        });
        Self {
            backends: backends.collect(),
            line: Line::new(server.treatment().queue),
            rule,
            turns: Mutex::default(),
            server,
        }
    }

    /// Takes a place at one of the backends, in line where all are at their limit.
    pub(crate) async fn place(self: &Arc<Self>, demand: &Demand<'_>) -> Result<Place, RouteError> {
        let mut in_line: Option<InLine<'_>> = None;
        loop {
            let (decision, tries) = match in_line.is_none() && self.line.is_busy() {
                true => (Decision::Full, None), // Nobody overtakes.
                false => self.choose(demand),
            };
            match decision {
                Decision::Take(index) => {
                    return Ok(Place {
                        server: self.clone(),
                        backend: self.backends[index].clone(),
                        waited: in_line.as_ref().map(InLine::waited),
                        tries,
                    });
                }
                Decision::Full => {
                    let mine = match in_line.take() {
                        Some(mine) => mine,
                        None => self.line.join().map_err(|shut| self.busy(shut))?,
                    };
                    mine.turn().await.map_err(|shut| self.busy(shut))?;
                    in_line = Some(mine);
                }
                Decision::Wake => {
                    let status = self.server.wake().await;
                    if status.replica.is_none() {
                        return Err(self.nobody(demand, &status));
                    }
                }
                Decision::Starting | Decision::Nobody => {
                    self.server.nudge();
                    return Err(self.nobody(demand, &self.server.status()));
                }
            }
        }
    }

    /// Whether calls wait because all connections are in use.
    pub(crate) fn is_starved(&self) -> bool {
        self.line.is_busy() || self.backends.iter().any(|backend| backend.connections.starve())
    }

    /// Chooses a backend and counts the call in there; tells if the call tries whether it is back.
    fn choose(&self, demand: &Demand<'_>) -> (Decision, Option<Try>) {
        let mut turns = self.turns.lock();
        let now = Instant::now();
        let known = self
            .backends
            .iter()
            .map(|backend| backend.known(&self.server, demand, now));
        let call = Choice {
            server: self.server.name.as_str(),
            item: demand.item.map(|(_, name)| name),
            usual: self.server.spec.spread,
        };
        let rule = self.rule.as_deref().unwrap_or(&call.usual);
        let decision = decide(&known.collect::<Few<_>>(), &call, rule);
        let Decision::Take(index) = decision else {
            return (decision, None);
        };
        *turns += 1;
        (decision, self.backends[index].take(*turns, now))
    }

    fn nobody(&self, demand: &Demand<'_>, status: &Status) -> RouteError {
        demand
            .tried
            .error(&self.server, status)
            .unwrap_or_else(|| unavailable(&self.server, status))
    }

    fn busy(&self, shut: Shut) -> RouteError {
        let reason = match shut {
            Shut::Full => "as many calls wait for it as may wait (`mcpr.queue.max`)".to_owned(),
            Shut::Waited(wait) => {
                format!("no place became free within {wait:?} (`mcpr.queue.wait`, `mcpr.maxConcurrency`)")
            }
        };
        RouteError::new(self.server.name.clone(), RouteErrorKind::Busy).because(reason)
    }

    /// Whether it has more than one backend.
    fn is_balanced(&self) -> bool {
        self.backends.len() > 1
    }
}

impl Backend {
    fn new(upstream: &Arc<Upstream>, tags: Vec<String>) -> Self {
        Self {
            connections: Connections::new(upstream.name.clone()),
            upstream: upstream.clone(),
            tags,
            in_flight: AtomicUsize::new(0),
            last_turn: AtomicU64::new(0),
            trust: Mutex::default(),
        }
    }

    /// How long it gets no calls because the last ones failed, if so.
    pub(crate) fn is_shunned_for(&self) -> Option<Duration> {
        self.trust.lock().pause(Instant::now())
    }

    /// How many calls have a place here.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    fn known(&self, server: &Server, demand: &Demand<'_>, now: Instant) -> Known<'_> {
        let upstream = &self.upstream;
        let in_flight = self.in_flight();
        let (standing, gone) =
            upstream.look(|status| (standing(status, upstream.spec.lazy), status.is_gone()));
        let liked = demand
            .likes
            .iter()
            .filter(|tag| self.tags.iter().any(|known| **known == ***tag))
            .count();
        Known {
            candidate: Candidate {
                label: &upstream.label,
                tags: &self.tags,
                in_flight,
                last_turn: self.last_turn.load(Ordering::Relaxed),
            },
            standing,
            eligible: !demand.tried.has(upstream)
                && demand.may_go_to(server, upstream)
                && demand
                    .item
                    .is_none_or(|(kind, name)| !server.lacks(upstream, kind, name)),
            trusted: !gone && self.trust.lock().is_given(now),
            has_room: in_flight < upstream.spec.max_concurrency.max(1),
            liked,
            is_home: self.is_home(demand),
        }
    }

    /// Whether the caller has a connection of its own here, or what the call is about is here.
    fn is_home(&self, demand: &Demand<'_>) -> bool {
        let pinned =
            self.upstream.spec.isolation == Isolation::Session && self.connections.has_pinned(demand.pin.key);
        pinned
            || demand
                .home
                .is_some_and(|home| *home.label == *self.upstream.label)
    }

    fn take(&self, turn: u64, now: Instant) -> Option<Try> {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        self.last_turn.store(turn, Ordering::Relaxed);
        self.trust.lock().take(now)
    }
}

impl Place {
    /// The backend has answered.
    pub(crate) fn confirm(&self) {
        if self.server.is_balanced() {
            self.backend.trust.lock().confirm();
        }
    }

    /// A call has failed there.
    pub(crate) fn strike(&self, failed: &Failed) {
        if !self.server.is_balanced() {
            return;
        }
        let now = Instant::now();
        let mut trust = self.backend.trust.lock();
        if trust.strike(self.tries, now)
            && let Some(pause) = trust.pause(now)
        {
            let (server, backend) = (&self.server.server.name, &*self.backend.upstream.label);
            tracing::warn!(%server, backend, ?pause, reason = %failed, "a backend fails again and again: it gets no calls for a while");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.backend.in_flight.fetch_sub(1, Ordering::SeqCst);
        if let Some(tried) = self.tries {
            self.backend.trust.lock().give_back(tried, Instant::now());
        }
        self.server.line.one_left();
    }
}

/// Where a backend is, as far as a call cares. One that is started only when it is used is waited
/// for, also by the second who wants it.
fn standing(status: &Status, lazy: bool) -> Standing {
    match status.phase {
        _ if status.replica.is_some() => Standing::Ready,
        Phase::Idle => Standing::Asleep,
        Phase::Starting if lazy => Standing::Asleep,
        Phase::Ready | Phase::Starting => Standing::Starting,
        Phase::Down { .. } | Phase::AuthRequired { .. } | Phase::Stopped => Standing::Down,
    }
}
