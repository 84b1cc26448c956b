//! Further connections to a server, for calls that cannot share the one there is.
//!
//! A server's question on a pipe does not say which call it is about. So a call whose client can
//! be asked has a connection alone: the shared one while nobody else is on it, else one of these.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_registry::ServerName;
use mcpr_transport::Party;
use mcpr_upstream::{Company, Phase, Replica, Upstream};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::gate::Waiting;
use crate::router::{Entered, enter};
use crate::{RouteError, RouteErrorKind};

/// How long a further connection may be unused.
pub(crate) const IDLE: Duration = Duration::from_secs(300);

/// The same for one that belongs to somebody; a session that ends takes it along earlier.
const PINNED_IDLE: Duration = Duration::from_secs(24 * 3600);

/// How many a server gets.
const MOST: usize = 4;

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

pub(crate) struct Connections {
    server: ServerName,
    shared: Mutex<Vec<Arc<Upstream>>>,
    pinned: Mutex<HashMap<Box<str>, Arc<Upstream>>>,
    /// How many calls wait for one of them.
    waiting: AtomicUsize,
    left: Notify,
    /// How many of those have waited for one to become free.
    starving: AtomicUsize,
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

    /// Whether a call waits for a connection, all of them being in use.
    pub(crate) fn starve(&self) -> bool {
        self.starving.load(Ordering::Relaxed) > 0
    }

    /// The connection that this party used last: what the server remembers in it is that party's.
    pub(crate) fn known_to(&self, party: Party, company: Company) -> Option<Entered> {
        let shared = self.shared.lock();
        let known = shared
            .iter()
            .filter_map(|side| Some((side, side.replica()?)))
            .find(|(_, replica)| replica.knows(party))?;
        enter(known.0, &known.1, party, company)
    }

    /// Takes a place on one of them, opening another or waiting where there is none; `None` when
    /// it is worth looking at all connections again.
    pub(crate) async fn enter(
        &self,
        party: Party,
        company: Company,
        wait: Duration,
        open: impl FnOnce() -> Arc<Upstream>,
    ) -> Result<Option<Entered>, RouteError> {
        let _waiting = Waiting::begin(&self.waiting, usize::MAX);
        let left = self.left.notified();
        if let Some(entered) = self.any(party, company) {
            return Ok(Some(entered));
        }
        if let Some(side) = self.open(open) {
            let replica = self.ready(&side).await?;
            return Ok(enter(&side, &replica, party, company));
        }
        let _starving = Waiting::begin(&self.starving, usize::MAX);
        match timeout(wait, left).await {
            Ok(()) => Ok(None),
            Err(_) => Err(self.busy(wait)),
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
        shared.retain(|side| !is_over(side));
        shared
            .iter()
            .filter_map(|side| Some((side, side.replica()?)))
            .find_map(|(side, replica)| enter(side, &replica, party, company))
    }

    fn open(&self, open: impl FnOnce() -> Arc<Upstream>) -> Option<Arc<Upstream>> {
        let mut shared = self.shared.lock();
        if shared.len() >= MOST {
            return None;
        }
        let side = open();
        shared.push(side.clone());
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
        let text = format!(
            "its {} connections are in use by other clients, and none became free within {wait:?} (`mcpr.queue.wait`)",
            MOST + 1
        );
        RouteError::new(self.server.clone(), RouteErrorKind::Busy).because(text)
    }
}

fn is_over(side: &Upstream) -> bool {
    matches!(side.status().phase, Phase::Stopped)
}
