//! The connections to one origin.

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use mcpr_protocol::Rope;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::connect::Connector;
use super::http1::{Broken, Connection, Head, Lost};
use super::limits::Limits;
use crate::Failed;

/// Keeps connections that are not in use: the one used last is used next.
#[derive(Debug)]
pub(super) struct Pool {
    connector: Connector,
    limits: Limits,
    shelf: Mutex<Shelf>,
    stir: Arc<Stir>,
}

/// A connection in use. Dropped without [`Wire::give_back`] it is closed.
#[derive(Debug)]
pub(super) struct Wire {
    /// Boxed, because it is handed on several times.
    connection: Box<Connection>,
    pool: Arc<Pool>,
}

#[derive(Debug, Default)]
struct Shelf {
    /// Oldest first.
    idle: Vec<Idle>,
    /// Whether a task watches over the age of the connections.
    watched: bool,
}

#[derive(Debug)]
struct Idle {
    connection: Box<Connection>,
    until: Instant,
}

/// Told when something happens on a connection that is not in use: the server has closed it.
#[derive(Debug, Default)]
struct Stir(Notify);

impl Wake for Stir {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

impl Pool {
    pub(super) fn new(connector: Connector, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            connector,
            limits,
            shelf: Mutex::default(),
            stir: Arc::default(),
        })
    }

    /// A connection: one that is there, else a new one.
    pub(super) async fn wire(self: &Arc<Self>) -> Result<Wire, Failed> {
        match self.take() {
            Some(connection) => Ok(self.lend(connection)),
            None => self.fresh().await,
        }
    }

    /// A new connection.
    pub(super) async fn fresh(self: &Arc<Self>) -> Result<Wire, Failed> {
        // Boxed, as what happens seldom, so that the usual way stays small.
        let connection = Box::pin(self.connector.connect()).await?;
        Ok(self.lend(Box::new(connection)))
    }

    fn lend(self: &Arc<Self>, connection: Box<Connection>) -> Wire {
        Wire {
            connection,
            pool: Arc::clone(self),
        }
    }

    /// Ends all connections, once the connector has been told to stop.
    pub(super) fn end(&self) {
        let idle = std::mem::take(&mut self.shelf.lock().idle);
        drop(idle);
        self.connector.open.end();
    }

    fn take(&self) -> Option<Box<Connection>> {
        let now = Instant::now();
        let mut shelf = self.shelf.lock();
        while let Some(Idle {
            mut connection,
            until,
        }) = shelf.idle.pop()
        {
            if until > now && connection.is_still(Waker::noop()) {
                return Some(connection);
            }
        }
        None
    }

    fn put(self: &Arc<Self>, mut connection: Box<Connection>, keep: Duration) {
        let stir = Waker::from(Arc::clone(&self.stir));
        if !connection.rest(&stir) || self.connector.stop.is_cancelled() {
            return;
        }
        let mut shelf = self.shelf.lock();
        if shelf.idle.len() >= self.limits.idle_connections {
            shelf.idle.remove(0);
        }
        shelf.idle.push(Idle {
            connection,
            until: Instant::now() + keep,
        });
        if !std::mem::replace(&mut shelf.watched, true) {
            let watch = watch(Arc::downgrade(self), Arc::clone(&self.stir));
            self.connector
                .tasks
                .spawn(self.connector.stop.child_token().run_until_cancelled_owned(watch));
        }
    }

    /// How many connections could be used at once.
    #[cfg(test)]
    pub(super) fn usable(&self) -> usize {
        self.shelf.lock().idle.len()
    }

    /// Discards what is too old or closed; when the next one is due, or `None` when none is left.
    fn tidy(&self) -> Option<Instant> {
        let stir = Waker::from(Arc::clone(&self.stir));
        let mut shelf = self.shelf.lock();
        let now = Instant::now();
        shelf
            .idle
            .retain_mut(|idle| idle.until > now && idle.connection.is_still(&stir));
        let due = shelf.idle.iter().map(|idle| idle.until).min();
        shelf.watched = due.is_some();
        due
    }
}

/// Lives as long as there are unused connections.
async fn watch(pool: Weak<Pool>, stir: Arc<Stir>) {
    while let Some(due) = pool.upgrade().and_then(|pool| pool.tidy()) {
        // Stirred or due, it is tidied.
        let _ = timeout_at(due, stir.0.notified()).await;
    }
}

impl Wire {
    /// Puts a request on its way: as much of it is written as the connection takes at once.
    pub(super) fn send(&mut self, head: Vec<u8>, body: &Rope) {
        self.connection.send(head, body);
    }

    /// What came of a request.
    pub(super) fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, Lost>> {
        self.connection.poll_head(cx)
    }

    /// Sends a request and waits for what comes of it.
    pub(super) async fn outcome(&mut self, head: Vec<u8>, body: &Rope) -> Result<Head, Lost> {
        self.send(head, body);
        poll_fn(|cx| self.poll_head(cx)).await
    }

    /// The next data of an answer; one that is known to be no longer than `whole` bytes comes in one piece.
    pub(super) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
        whole: usize,
    ) -> Poll<Option<Result<Bytes, Broken>>> {
        self.connection.poll_data(cx, whole)
    }

    /// Whether the answer was read to its end.
    pub(super) fn is_at_end(&self) -> bool {
        self.connection.is_at_end()
    }

    /// How many bytes of the answer are still to be read, where the server said so.
    pub(super) fn left(&self) -> Option<u64> {
        self.connection.left()
    }

    /// Another new connection to the same origin.
    pub(super) async fn replace(self) -> Result<Self, Failed> {
        self.pool.fresh().await
    }

    /// Gives the connection back after an answer was read to its end.
    ///
    /// `keep` is how long the server keeps it, where it says so.
    pub(super) fn give_back(self, keep: Option<Duration>) {
        let keep = keep.unwrap_or(self.pool.limits.idle);
        self.pool.put(self.connection, keep);
    }
}

/// How long the server says it keeps an unused connection, less a second for the way.
pub(super) fn keep_alive(said: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(said).ok()?;
    let seconds = text
        .split(',')
        .find_map(|part| part.trim().strip_prefix("timeout="));
    let seconds: u64 = seconds?.parse().ok()?;
    Some(Duration::from_secs(seconds.saturating_sub(1).min(60)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_may_say_how_long_it_keeps_a_connection() {
        let of = |value: &str| keep_alive(value.as_bytes());
        assert_eq!(of("timeout=5"), Some(Duration::from_secs(4)));
        assert_eq!(of("max=100, timeout=900"), Some(Duration::from_secs(60)));
        assert_eq!(of("timeout=0"), Some(Duration::ZERO));
        assert_eq!(of("max=3"), None);
    }
}
