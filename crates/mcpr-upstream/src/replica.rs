//! One live connection to a server, as those who send requests see it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_protocol::{Message, Version};
use mcpr_registry::ServerName;
use mcpr_transport::{Exchange, Failed, Outgoing, Transport};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A server that has been introduced and takes requests.
///
/// It lives as long as its connection. A session of its that expires is renewed in place and
/// counted as another generation.
pub struct Replica {
    /// The server.
    pub server: ServerName,
    /// The revision spoken.
    pub version: Version,
    /// The child process, if it is one.
    pub pid: Option<u32>,
    transport: Arc<dyn Transport>,
    session: watch::Sender<u64>,
    /// Whether a new session is being opened; requests wait for it.
    renewing: AtomicBool,
    gone: CancellationToken,
    in_flight: AtomicUsize,
    /// Told when the last request in flight has ended.
    quiet: Notify,
    born: Instant,
    /// Milliseconds from `born` to the last use.
    last_used: AtomicU64,
}

/// The count of one request in flight, for as long as it is kept.
#[derive(Debug)]
pub struct InFlight(Arc<Replica>);

impl Replica {
    pub(crate) fn new(
        server: ServerName,
        version: Version,
        transport: Arc<dyn Transport>,
        pid: Option<u32>,
    ) -> Arc<Self> {
        Arc::new(Self {
            server,
            version,
            pid,
            transport,
            session: watch::Sender::new(0),
            renewing: AtomicBool::new(false),
            gone: CancellationToken::new(),
            in_flight: AtomicUsize::new(0),
            quiet: Notify::new(),
            born: Instant::now(),
            last_used: AtomicU64::new(0),
        })
    }

    /// A fresh id for a request.
    pub fn next_id(&self) -> u64 {
        self.transport.next_id()
    }

    /// Counts a request in.
    pub fn enter(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(self.clone())
    }

    /// Requests in flight now.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Sends a request. While a new session is being opened it waits for that (SRV-07).
    ///
    /// # Errors
    ///
    /// As [`Transport::open`].
    pub async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        self.opened().await;
        self.transport.open(request).await
    }

    /// Sends a notification or an answer.
    ///
    /// # Errors
    ///
    /// As [`Transport::send`].
    pub async fn send(&self, message: Message) -> Result<(), Failed> {
        self.transport.send(message).await
    }

    /// The generation of the session: note it before a request, so that [`crate::Upstream::renew`] knows which one
    /// had expired.
    pub fn session(&self) -> u64 {
        *self.session.borrow()
    }

    /// Whether the connection has ended.
    pub fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Waits until nobody has used it for `limit`.
    pub(crate) async fn unused_for(&self, limit: Duration) {
        loop {
            self.drained().await;
            let last_used = Duration::from_millis(self.last_used.load(Ordering::Relaxed));
            let due = self.born + last_used + limit;
            if due <= Instant::now() {
                return;
            }
            sleep_until(due).await;
        }
    }

    /// Waits until no request is in flight.
    pub(crate) async fn drained(&self) {
        loop {
            let quiet = self.quiet.notified();
            if self.in_flight() == 0 {
                return;
            }
            quiet.await;
        }
    }

    pub(crate) fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// A new session is being opened from now on.
    pub(crate) fn renew(&self) {
        self.renewing.store(true, Ordering::Release);
    }

    /// The new session is open.
    pub(crate) fn renewed(&self) {
        self.renewing.store(false, Ordering::Release);
        self.session.send_modify(|generation| *generation += 1);
    }

    /// Waits until no session is being opened, or the connection has ended.
    async fn opened(&self) {
        if self.renewing.load(Ordering::Acquire) {
            let mut session = self.session.subscribe();
            tokio::select! {
                _ = session.wait_for(|_| !self.renewing.load(Ordering::Acquire)) => {}
                () = self.gone.cancelled() => {}
            }
        }
    }

    pub(crate) fn end(&self) {
        self.gone.cancel();
    }

    /// Waits for a session newer than `seen`; `None` if the connection ends first.
    pub(crate) async fn newer_session(&self, seen: u64) -> Option<()> {
        let mut session = self.session.subscribe();
        tokio::select! {
            newer = session.wait_for(|generation| *generation > seen) => newer.is_ok().then_some(()),
            () = self.gone.cancelled() => None,
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last_used.store(now, Ordering::Relaxed);
        if self.0.in_flight.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.quiet.notify_waiters();
        }
    }
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replica({}, {})", self.server, self.version)
    }
}
