//! One live connection to a server, as those who send requests see it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mcpr_protocol::{Era, Message, Version};
use mcpr_registry::ServerName;
use mcpr_transport::{Exchange, Failed, Outgoing, Party, Transport};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::floor::Floor;
use crate::roots::Roots;

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
    /// How many requests were answered.
    answers: AtomicU64,
    floor: Mutex<Floor>,
    roots: Arc<Roots>,
    /// The level of log messages the server was asked for; 0 for none.
    log_level: AtomicU8,
    /// Answers to requests of the server that it has not taken yet.
    owed: AtomicUsize,
    /// Told when the last request in flight has ended.
    quiet: Notify,
    born: Instant,
    /// Milliseconds from `born` to the last use.
    last_used: AtomicU64,
}

/// The count of one request in flight, for as long as it is kept.
#[derive(Debug)]
pub struct InFlight {
    replica: Arc<Replica>,
    party: Party,
}

/// An answer on its way to the server, for as long as it is kept.
#[derive(Debug)]
pub struct Owed(Arc<Replica>);

/// How many answers may be on their way to a server at once (SEC-05).
const OWED: usize = 64;

/// With whom a request shares a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Company {
    /// With anybody.
    Any,
    /// With those beside whom each question of the server stays clear: with anybody, if the server
    /// says with each which request it is about.
    Clear,
    /// The same where the server is known not to say it.
    Apart,
    /// With nobody.
    Alone,
}

impl Replica {
    pub(crate) fn new(
        server: ServerName,
        version: Version,
        transport: Arc<dyn Transport>,
        pid: Option<u32>,
        roots: Arc<Roots>,
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
            answers: AtomicU64::new(0),
            floor: Mutex::default(),
            roots,
            log_level: AtomicU8::new(0),
            owed: AtomicUsize::new(0),
            quiet: Notify::new(),
            born: Instant::now(),
            last_used: AtomicU64::new(0),
        })
    }

    /// A fresh id for a request.
    pub fn next_id(&self) -> u64 {
        self.transport.next_id()
    }

    /// Counts a request in, if it may be open here beside those that are.
    pub fn enter(self: &Arc<Self>, party: Party, company: Company) -> Option<InFlight> {
        let mut floor = self.floor.lock();
        let welcome = match company {
            Company::Any => true,
            Company::Clear if self.tells_apart() => !self.roots.matter() || floor.is_one_clients(party),
            Company::Clear => self.is_clear_for(&floor, party),
            Company::Apart => self.is_clear_for(&floor, party),
            Company::Alone => floor.is_free() && self.is_clear_for(&floor, party),
        };
        if !welcome {
            return None;
        }
        floor.enter(party);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Some(InFlight {
            replica: self.clone(),
            party,
        })
    }

    /// Whose roots its server was told.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Whether no other client has a request open.
    pub fn is_one_clients(&self, party: Party) -> bool {
        self.floor.lock().is_one_clients(party)
    }

    /// Hears what the server says to this party while no request of its is open.
    pub fn attend(&self, party: Party) -> Option<Exchange> {
        self.transport.attend(party)
    }

    /// Whether the last request on it was this party's.
    pub fn knows(&self, party: Party) -> bool {
        self.floor.lock().last() == party.who
    }

    /// Whether other requests of the party may have caused what the server asks on one of its.
    pub fn may_mean_another_of(&self, party: Party) -> bool {
        !self.tells_apart() && self.floor.lock().open_of(party) > 1
    }

    /// Whether a question would be clear with one more request of this party.
    fn is_clear_for(&self, floor: &Floor, party: Party) -> bool {
        floor.has_room_for(party) && (!party.can_be_asked || self.transport.is_quiet_for(party))
    }

    /// Whether the server says with each question which request it is about.
    fn tells_apart(&self) -> bool {
        self.version.era() == Era::Stateless || self.transport.tells_apart()
    }

    /// Notes that somebody wants log messages of this level (1 is the lowest); whether the server
    /// has to be told.
    pub fn wants_log_level(&self, level: u8) -> bool {
        let before = self.log_level.load(Ordering::Relaxed);
        let more = before == 0 || level < before;
        if more {
            self.log_level.store(level, Ordering::Relaxed);
        }
        more
    }

    /// Requests in flight now.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts a request that was answered.
    pub fn answered(&self) {
        tracing::trace!(server = %self.server, "the server has answered");
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests were answered so far, in all sessions.
    pub fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Sends a request. While a new session is being opened it waits for that (SRV-07).
    ///
    /// # Errors
    ///
    /// As [`Transport::open`].
    pub async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        self.opened().await;
        tracing::trace!(server = %self.server, request_id = request.id, method = request.method.as_str(), "asking the server");
        self.transport.open(request).await
    }

    /// Sends a notification or an answer.
    ///
    /// # Errors
    ///
    /// As [`Transport::send`].
    pub async fn send(&self, message: Message) -> Result<(), Failed> {
        tracing::trace!(server = %self.server, "telling the server");
        self.transport.send(message).await
    }

    /// Counts one more answer on its way to the server; `None` if it does not take those there are.
    pub fn owe_answer(self: &Arc<Self>) -> Option<Owed> {
        let owed = Owed(self.clone());
        (self.owed.fetch_add(1, Ordering::Relaxed) < OWED).then_some(owed)
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

    /// Counts as a use.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_used.store(now, Ordering::Relaxed);
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
        self.log_level.store(0, Ordering::Relaxed);
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
        let replica = &self.replica;
        replica.touch();
        replica.floor.lock().leave(self.party);
        if replica.in_flight.fetch_sub(1, Ordering::Relaxed) == 1 {
            replica.quiet.notify_waiters();
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.0.owed.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replica({}, {})", self.server, self.version)
    }
}
