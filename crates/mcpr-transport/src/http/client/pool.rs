//! The connections to one origin.

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use super::body::Once;
use super::connect::{Connector, Sender};
use super::limits::Limits;
use crate::Failed;

/// What hyper says about a request: an answer, or an error that may hold the unsent request.
pub(super) type Outcome = Result<Response<Incoming>, TrySendError<Request<Once>>>;

/// Keeps connections that are not in use: the one used last is used next.
#[derive(Debug)]
pub(super) struct Pool {
    connector: Connector,
    limits: Limits,
    shelf: Mutex<Shelf>,
}

/// A connection in use. Dropped without [`Wire::give_back`] it is closed.
#[derive(Debug)]
pub(super) struct Wire {
    sender: Sender,
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
    sender: Sender,
    until: Instant,
}

impl Pool {
    pub(super) fn new(connector: Connector, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            connector,
            limits,
            shelf: Mutex::default(),
        })
    }

    /// A connection: one that is there, else a new one.
    pub(super) async fn wire(self: &Arc<Self>) -> Result<Wire, Failed> {
        match self.take() {
            Some(sender) => Ok(Wire {
                sender,
                pool: Arc::clone(self),
            }),
            None => self.fresh().await,
        }
    }

    /// A new connection.
    pub(super) async fn fresh(self: &Arc<Self>) -> Result<Wire, Failed> {
        let sender = self.connector.connect().await?;
        Ok(Wire {
            sender,
            pool: Arc::clone(self),
        })
    }

    fn take(&self) -> Option<Sender> {
        let now = Instant::now();
        let mut shelf = self.shelf.lock();
        // The newest may not be ready for the blink that its task needs after the last answer.
        let usable = |idle: &Idle| idle.until > now && idle.sender.is_ready();
        let index = shelf.idle.iter().rposition(usable)?;
        Some(shelf.idle.remove(index).sender)
    }

    fn put(self: &Arc<Self>, sender: Sender, keep: Duration) {
        if sender.is_closed() || self.connector.stop.is_cancelled() {
            return;
        }
        let mut shelf = self.shelf.lock();
        if shelf.idle.len() >= self.limits.idle_connections {
            shelf.idle.remove(0);
        }
        shelf.idle.push(Idle {
            sender,
            until: Instant::now() + keep,
        });
        if !std::mem::replace(&mut shelf.watched, true) {
            let watch = watch(Arc::downgrade(self));
            self.connector
                .tasks
                .spawn(self.connector.stop.child_token().run_until_cancelled_owned(watch));
        }
    }

    /// How many connections could be used at once.
    #[cfg(test)]
    pub(super) fn usable(&self) -> usize {
        self.shelf
            .lock()
            .idle
            .iter()
            .filter(|idle| idle.sender.is_ready())
            .count()
    }

    /// Discards what is too old; when the next one is due, or `None` when none is left.
    fn tidy(&self) -> Option<Instant> {
        let mut shelf = self.shelf.lock();
        let now = Instant::now();
        shelf
            .idle
            .retain(|idle| idle.until > now && !idle.sender.is_closed());
        let due = shelf.idle.iter().map(|idle| idle.until).min();
        shelf.watched = due.is_some();
        due
    }
}

/// Lives as long as there are unused connections.
async fn watch(pool: Weak<Pool>) {
    while let Some(due) = pool.upgrade().and_then(|pool| pool.tidy()) {
        sleep_until(due).await;
    }
}

impl Wire {
    /// Puts a request on its way.
    pub(super) fn send(&mut self, request: Request<Once>) -> impl Future<Output = Outcome> + Send + use<> {
        self.sender.try_send_request(request)
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
        self.pool.put(self.sender, keep);
    }
}

/// How long the server says it keeps an unused connection, less a second for the way.
pub(super) fn keep_alive(answer: &HeaderMap) -> Option<Duration> {
    let text = answer.get("keep-alive")?.to_str().ok()?;
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
        let of = |value: &'static str| {
            keep_alive(
                &[("keep-alive".parse().unwrap(), value.parse().unwrap())]
                    .into_iter()
                    .collect(),
            )
        };
        assert_eq!(of("timeout=5"), Some(Duration::from_secs(4)));
        assert_eq!(of("max=100, timeout=900"), Some(Duration::from_secs(60)));
        assert_eq!(of("timeout=0"), Some(Duration::ZERO));
        assert_eq!(of("max=3"), None);
    }
}
