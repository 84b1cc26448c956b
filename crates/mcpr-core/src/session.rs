//! Sessions: the adapter at the edge for clients of the session era.

mod table;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use foldhash::HashMap;
use mcpr_auth::Principal;
use mcpr_protocol::{Id, LogLevel, Notification, Object, Response, notification};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use self::table::{SessionLimits, Sessions};
use crate::client::{Client, fresh_party};
use crate::flight::Cancel;
use crate::post::Post;
use crate::question::Questions;
use crate::quota::{Full, Spot};
use crate::snapshot::Stamps;
use crate::streams::Streams;
use crate::subscriptions::Subscriber;

/// What a client of the session era expects the gateway to remember.
pub(crate) struct Session {
    /// Its unguessable name.
    pub(crate) id: Box<str>,
    /// Whose it is; anybody else is told that there is no such session (SEC-03).
    pub(crate) principal: Principal,
    /// Who opened it.
    pub(crate) client: Arc<Client>,
    /// Ends when the session does.
    pub(crate) ended: CancellationToken,
    /// For whom its requests are made.
    pub(crate) party: u64,
    /// Its roots as they are now, as the owner of what servers are told of them.
    roots: AtomicU64,
    /// What it is told outside of its requests, and only once.
    pub(crate) post: Post,
    /// What servers have asked it.
    pub(crate) questions: Arc<Questions>,
    /// Its requests under way.
    pub(crate) flights: Arc<Flights>,
    /// What it has subscribed to.
    pub(crate) subscriber: Subscriber,
    /// Its event streams over HTTP.
    pub(crate) streams: Streams,
    /// The level of log messages, once the client has set one.
    log_level: Mutex<Option<LogLevel>>,
    /// What the client was last told of the lists.
    told: Mutex<Stamps>,
    /// The stream for what belongs to no request; a newer one ends the older.
    stream: Mutex<Option<CancellationToken>>,
    /// What it counts as among the streams of its principal, while it is open.
    stream_spot: Mutex<Weak<Spot>>,
    born: Instant,
    /// Microseconds from `born` to the last request.
    last_used: AtomicU64,
}

/// Requests under way, by the ids of one client.
#[derive(Default)]
pub(crate) struct Flights(Mutex<HashMap<Id, Arc<Cancel>>>);

impl Session {
    /// A session outside of any table, for a pipe.
    pub(crate) fn new(principal: Principal, client: Arc<Client>, told: Stamps) -> Arc<Self> {
        let id = fresh_id();
        Arc::new(Self {
            streams: Streams::new(&id),
            id,
            principal,
            client,
            ended: CancellationToken::new(),
            party: fresh_party(),
            roots: AtomicU64::new(fresh_party()),
            post: Post::default(),
            questions: Arc::default(),
            flights: Arc::default(),
            subscriber: Subscriber::default(),
            log_level: Mutex::default(),
            told: Mutex::new(told),
            stream: Mutex::default(),
            stream_spot: Mutex::default(),
            born: Instant::now(),
            last_used: AtomicU64::new(0),
        })
    }

    /// How long it has been there.
    pub(crate) fn lasted(&self) -> Duration {
        self.born.elapsed()
    }

    /// The level of log messages.
    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        *self.log_level.lock()
    }

    /// Sets the level of log messages.
    pub(crate) fn set_log_level(&self, level: LogLevel) {
        *self.log_level.lock() = Some(level);
    }

    /// Notes that the client was told of this state of the lists; gives what it knew before.
    pub(crate) fn tell(&self, now: Stamps) -> Stamps {
        std::mem::replace(&mut *self.told.lock(), now)
    }

    /// Opens the stream for what belongs to no request. It ends with the token: when a newer one
    /// is opened (B71), or with the session.
    pub(crate) fn open_stream(&self) -> CancellationToken {
        let stream = self.ended.child_token();
        if let Some(older) = self.stream.lock().replace(stream.clone()) {
            older.cancel();
        }
        stream
    }

    /// The spot of that stream; one that takes the place of another has the other's.
    pub(crate) fn stream_spot(&self, take: impl FnOnce() -> Result<Spot, Full>) -> Result<Arc<Spot>, Full> {
        let mut known = self.stream_spot.lock();
        if let Some(spot) = known.upgrade() {
            return Ok(spot);
        }
        let spot = Arc::new(take()?);
        *known = Arc::downgrade(&spot);
        Ok(spot)
    }

    /// Closes the stream for what belongs to no request.
    pub(crate) fn close_stream(&self) {
        if let Some(stream) = self.stream.lock().take() {
            stream.cancel();
        }
    }

    /// Takes an answer of the client to what a server asked it.
    pub(crate) fn answered(&self, response: Response) {
        self.questions.answered(response);
    }

    /// Whose its roots are, as they are now.
    pub(crate) fn roots_owner(&self) -> u64 {
        self.roots.load(Ordering::Relaxed)
    }

    /// Takes a notification of the client.
    pub(crate) fn hear(&self, note: &Notification) {
        match &*note.method {
            notification::CANCELLED => {
                cancelled(note)
                    .into_iter()
                    .for_each(|id| self.flights.cancel(&id));
            }
            // Servers that were told the old ones are told so before the next call.
            notification::ROOTS_CHANGED => self.roots.store(fresh_party(), Ordering::Relaxed),
            _ => {}
        }
    }

    /// Notes a use.
    pub(crate) fn touch(&self, now: Instant) {
        self.last_used.store(micros(now - self.born), Ordering::Relaxed);
    }

    /// Ends it: its streams close and its requests are cancelled.
    pub(crate) fn end(&self) {
        self.ended.cancel();
        self.flights.cancel_all();
        self.streams.close();
        self.subscriber.close();
    }

    /// Whether a request of its is under way, or its stream is open.
    fn is_busy(&self) -> bool {
        let stream = self.stream.lock();
        let streams = stream.as_ref().is_some_and(|stream| !stream.is_cancelled());
        streams || !self.flights.is_empty()
    }

    fn idle_for(&self) -> Duration {
        let last = Duration::from_micros(self.last_used.load(Ordering::Relaxed));
        match self.is_busy() {
            true => Duration::ZERO,
            false => self.born.elapsed().saturating_sub(last),
        }
    }
}

impl Flights {
    /// Enters a request; `None` if one with that id is under way.
    pub(crate) fn enter(&self, id: &Id) -> Option<Arc<Cancel>> {
        let mut flights = self.0.lock();
        if flights.contains_key(id) {
            return None;
        }
        let cancel = Arc::new(Cancel::default());
        flights.insert(id.clone(), cancel.clone());
        Some(cancel)
    }

    /// Takes a request out that has ended.
    pub(crate) fn leave(&self, id: &Id) {
        self.0.lock().remove(id);
    }

    /// Cancels a request; an unknown id is one that has ended meanwhile.
    pub(crate) fn cancel(&self, id: &Id) {
        let cancel = self.0.lock().get(id).cloned();
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }

    /// Cancels all.
    pub(crate) fn cancel_all(&self) {
        let all: Vec<_> = self.0.lock().drain().map(|(_, cancel)| cancel).collect();
        all.iter().for_each(|cancel| cancel.cancel());
    }

    fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

/// The request that a `notifications/cancelled` is about.
pub(crate) fn cancelled(note: &Notification) -> Option<Id> {
    if &*note.method != notification::CANCELLED {
        return None;
    }
    Id::new(Object::read(note.params.as_ref()?).ok()?.get("requestId")?)
}

/// 128 random bits in hexadecimal: visible ASCII, as the header needs (2025-11-25, session management).
fn fresh_id() -> Box<str> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        .into()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::{RawJson, Version};

    use super::*;

    /// A session of a client that says nothing of itself.
    pub(super) fn session(principal: Principal) -> Arc<Session> {
        let nothing = Object::read(&RawJson::from_static("{}")).unwrap();
        let client = Client::of_session(Version::V2025_11_25, &nothing);
        Session::new(principal, Arc::new(client), Stamps::default())
    }

    #[tokio::test]
    async fn b71_a_newer_stream_ends_the_older() {
        let session = session(Principal::local());
        let older = session.open_stream();
        let newer = session.open_stream();

        assert!(older.is_cancelled() && !newer.is_cancelled());
    }
}
