//! Further connections to a server, for calls that cannot share the one there is.
//!
//! A server's question on a pipe does not say which call it is about. So a call whose client can
//! be asked has a connection alone: the shared one while nobody else is on it, else one of these. A
//! server that cannot be had twice has its calls one after the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_registry::ServerName;
use mcpr_transport::Party;
use mcpr_upstream::{Company, Phase, Replica, Upstream};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::line::Waiting;
use crate::router::{Entered, enter};
use crate::{RouteError, RouteErrorKind};

/// How long a further connection may be unused.
pub(crate) const IDLE: Duration = Duration::from_secs(300);

/// The same for one that belongs to somebody; a session that ends takes it along earlier.
const PINNED_IDLE: Duration = Duration::from_secs(24 * 3600);

/// How long one is not tried to be opened again after that failed.
const DESPAIR: Duration = Duration::from_secs(5);

/// How often those who wait look again by themselves: what a server may still be at is over at
/// some time without anybody leaving.
const GLANCE: Duration = Duration::from_secs(1);

/// How many a server gets.
const MOST: usize = 8;

/// How many it gets where each belongs to somebody.
const MOST_PINNED: usize = 64;

/// Whose connection a call takes where a server has one for each.
#[derive(Clone, Copy, Debug)]
pub struct Pin<'a> {
    /// The session; the principal, where there are no sessions.
    pub key: &'a str,
    /// Ends when the connection is no longer needed.
    pub until: &'a CancellationToken,
}

/// How long a call waits for a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    wait: Duration,
    until: Instant,
}

pub(crate) struct Connections {
    server: ServerName,
    shared: Mutex<Shared>,
    pinned: Mutex<HashMap<Box<str>, Arc<Upstream>>>,
    /// How many calls wait for one of them.
    waiting: AtomicUsize,
    left: Notify,
    /// How many of those have waited for one to become free.
    starving: AtomicUsize,
}

#[derive(Default)]
struct Shared {
    sides: Vec<Arc<Upstream>>,
    /// Why one could not be opened, and when that was.
    failure: Option<(RouteError, Instant)>,
}

impl Connections {
    pub(crate) fn new(server: ServerName) -> Self {
        Self {
            server,
            shared: Mutex::default(),
            pinned: Mutex::default(),
            waiting: AtomicUsize::new(0),
            left: Notify::new(),
            starving: AtomicUsize::new(0),
        }
    }

    /// A call has left a connection.
    pub(crate) fn one_left(&self) {
        if self.waiting.load(Ordering::Acquire) > 0 {
            self.left.notify_waiters();
        }
    }

    /// Whether somebody has a connection alone here.
    pub(crate) fn has_pinned(&self, key: &str) -> bool {
        self.pinned.lock().get(key).is_some_and(|side| !is_over(side))
    }

    /// Whether a call waits for a connection, all of them being in use.
    pub(crate) fn starve(&self) -> bool {
        self.starving.load(Ordering::Relaxed) > 0
    }

    /// The connection that this party used last: what the server remembers in it is that party's.
    pub(crate) fn known_to(&self, party: Party, company: Company) -> Option<Entered> {
        let shared = self.shared.lock();
        let (side, replica) = usable(&shared.sides).find(|(_, replica)| replica.knows(party))?;
        enter(side, &replica, party, apart(company))
    }

    /// Takes a place on one of them, opening another or waiting where there is none; `None` when
    /// it is worth looking at all connections again.
    pub(crate) async fn enter(
        &self,
        party: Party,
        company: Company,
        patience: Patience,
        open: impl FnOnce() -> Arc<Upstream>,
    ) -> Result<Option<Entered>, RouteError> {
        let _waiting = Waiting::begin(&self.waiting);
        let left = self.left.notified();
        if let Some(entered) = self.any(party, company) {
            return Ok(Some(entered));
        }
        if let Some(side) = self.open(open) {
            match self.ready(&side).await {
                Ok(replica) => return Ok(enter(&side, &replica, party, apart(company))),
                Err(error) => self.shared.lock().failure = Some((error, Instant::now())),
            }
        }
        let _starving = Waiting::begin(&self.starving);
        let look = patience.until.min(Instant::now() + GLANCE);
        let _ = timeout_at(look, left).await;
        match patience.is_over() {
            true => Err(self.busy(patience.wait)),
            false => Ok(None),
        }
    }

    /// A place on the connection that belongs to somebody.
    pub(crate) async fn enter_pinned(
        &self,
        pin: Pin<'_>,
        party: Party,
        open: impl FnOnce(Duration, CancellationToken) -> Arc<Upstream>,
    ) -> Result<Entered, RouteError> {
        let side = self.pinned_side(pin, open)?;
        let replica = self.ready(&side).await?;
        enter(&side, &replica, party, Company::Any).ok_or_else(|| self.lost(&side))
    }

    fn any(&self, party: Party, company: Company) -> Option<Entered> {
        let mut shared = self.shared.lock();
        shared.sides.retain(|side| !is_over(side));
        usable(&shared.sides).find_map(|(side, replica)| enter(side, &replica, party, apart(company)))
    }

    fn open(&self, open: impl FnOnce() -> Arc<Upstream>) -> Option<Arc<Upstream>> {
        let mut shared = self.shared.lock();
        let failed = |(_, at): &(RouteError, Instant)| at.elapsed() < DESPAIR;
        if shared.sides.len() >= MOST || shared.failure.as_ref().is_some_and(failed) {
            return None;
        }
        let side = open();
        shared.failure = None;
        shared.sides.push(side.clone());
        Some(side)
    }

    fn pinned_side(
        &self,
        pin: Pin<'_>,
        open: impl FnOnce(Duration, CancellationToken) -> Arc<Upstream>,
    ) -> Result<Arc<Upstream>, RouteError> {
        let mut pinned = self.pinned.lock();
        pinned.retain(|_, side| !is_over(side));
        if let Some(side) = pinned.get(pin.key) {
            return Ok(side.clone());
        }
        if pinned.len() >= MOST_PINNED {
            let text = format!("{MOST_PINNED} clients have a connection of their own to it already");
            return Err(RouteError::new(self.server.clone(), RouteErrorKind::Busy).because(text));
        }
        let side = open(PINNED_IDLE, pin.until.clone());
        pinned.insert(pin.key.into(), side.clone());
        Ok(side)
    }

    async fn ready(&self, side: &Arc<Upstream>) -> Result<Arc<Replica>, RouteError> {
        let status = side.settled().await;
        status.replica.ok_or_else(|| self.lost(side))
    }

    fn lost(&self, side: &Upstream) -> RouteError {
        let status = side.status();
        let reason = status.reason().unwrap_or("it ended").to_owned();
        let text = format!("a further connection could not be opened: {reason}");
        RouteError::new(self.server.clone(), RouteErrorKind::Down).because(text)
    }

    fn busy(&self, wait: Duration) -> RouteError {
        if let Some((failure, _)) = &self.shared.lock().failure {
            return failure.clone();
        }
        let text = format!(
            "its {} connections are in use by other clients, and none became free within {wait:?} (`mcpr.queue.wait`)",
            MOST + 1
        );
        RouteError::new(self.server.clone(), RouteErrorKind::Busy).because(text)
    }
}

impl Patience {
    /// Who begins to wait now.
    pub(crate) fn begin(wait: Duration) -> Self {
        let until = Instant::now() + wait;
        Self { wait, until }
    }

    fn is_over(self) -> bool {
        Instant::now() >= self.until
    }
}

/// One that is lost, or ends because nobody used it, does not come back.
fn is_over(side: &Upstream) -> bool {
    let status = side.status();
    let gone = status.replica.is_some_and(|replica| replica.is_gone());
    gone || matches!(status.phase, Phase::Stopped | Phase::Idle)
}

/// Those that can be entered.
fn usable(sides: &[Arc<Upstream>]) -> impl Iterator<Item = (&Arc<Upstream>, Arc<Replica>)> {
    let ready = sides.iter().filter_map(|side| Some((side, side.replica()?)));
    ready.filter(|(_, replica)| !replica.is_gone())
}

/// They are there because clients must not meet.
fn apart(company: Company) -> Company {
    match company {
        Company::Clear => Company::Apart,
        other => other,
    }
}
