//! For whom requests are made, and whose a message is that does not say so.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use mcpr_protocol::{Message, notification};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::backlog::Backlog;

/// How long a server may still be at a request that was given up. Not every server hears of that,
/// or stops at once.
const LINGER: Duration = Duration::from_secs(60);

/// How many of those are remembered; the oldest are forgotten (SEC-05).
const LINGERING: usize = 1024;

/// For whom a request is made.
///
/// A server's question on a shared connection does not say which request it is about. It is
/// answered by the one party that has requests open, or by nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Party {
    /// What tells this party from every other.
    pub who: u64,
    /// What tells its client from others, as far as that is known. One client without a session is a
    /// new party with each request.
    pub client: u64,
    /// Whether it can be asked something by the server.
    pub can_be_asked: bool,
}

impl Party {
    /// mcpr itself: what comes for it needs no party.
    pub const GATEWAY: Self = Self {
        who: 0,
        client: 0,
        can_be_asked: false,
    };
}

/// Whether a message may be about an open request without saying so.
pub(crate) fn may_belong(message: &Message) -> bool {
    match message {
        Message::Request(_) => true,
        Message::Notification(note) => {
            matches!(&*note.method, notification::MESSAGE | notification::CANCELLED)
        }
        Message::Response(_) => false,
    }
}

/// The newest open request of the only party that has any, or has lingering ones; a question needs
/// one that can be asked.
pub(crate) fn owner<T>(
    message: &Message,
    open: impl Iterator<Item = (u64, Party, T)>,
    lingering: &Lingering,
) -> Option<T> {
    let asks = matches!(message, Message::Request(_));
    let mut only: Option<Party> = None;
    let mut found: Option<(u64, T)> = None;
    for (id, party, place) in open.filter(|(_, party, _)| *party != Party::GATEWAY) {
        if only.get_or_insert(party).who != party.who {
            return None;
        }
        let fits = party.can_be_asked || !asks;
        if fits && found.as_ref().is_none_or(|(newest, _)| *newest < id) {
            found = Some((id, place));
        }
    }
    let (_, place) = found.filter(|_| only.is_some_and(|party| lingering.is_quiet_for(party)))?;
    Some(place)
}

/// Requests that were given up without an answer. What the server says may still be about them, so
/// it is not clear then that it is about anybody else's.
#[derive(Debug, Default)]
pub(crate) struct Lingering(VecDeque<Lingerer>);

#[derive(Debug)]
struct Lingerer {
    id: u64,
    client: u64,
    until: Instant,
}

impl Lingering {
    /// A request was given up.
    pub(crate) fn add(&mut self, id: u64, party: Party) {
        if party == Party::GATEWAY {
            return;
        }
        let now = Instant::now();
        self.0.retain(|lingerer| lingerer.until > now);
        if self.0.len() >= LINGERING {
            self.0.pop_front();
        }
        self.0.push_back(Lingerer {
            id,
            client: party.client,
            until: now + LINGER,
        });
    }

    /// The server has answered it after all.
    pub(crate) fn end(&mut self, id: u64) {
        self.0.retain(|lingerer| lingerer.id != id);
    }

    /// Whether none is there of another client.
    pub(crate) fn is_quiet_for(&self, party: Party) -> bool {
        let now = Instant::now();
        self.0
            .iter()
            .all(|lingerer| lingerer.client == party.client || lingerer.until <= now)
    }
}

/// The requests open over streamable HTTP, for what a server says beside their own streams.
#[derive(Debug, Default)]
pub(crate) struct Floor {
    table: Mutex<Table>,
    /// Whether the server has asked something beside them.
    vague: AtomicBool,
}

#[derive(Debug, Default)]
struct Table {
    seats: HashMap<u64, Seat>,
    lingering: Lingering,
}

#[derive(Debug)]
struct Seat {
    party: Party,
    mail: Backlog,
    reader: Option<Waker>,
}

impl Floor {
    /// Seats a request.
    pub(crate) fn enter(&self, id: u64, party: Party) {
        let seat = Seat {
            party,
            mail: Backlog::default(),
            reader: None,
        };
        self.table.lock().seats.insert(id, seat);
    }

    /// Frees the seat of a request; one that is not settled the server may still be at.
    pub(crate) fn leave(&self, id: u64, settled: bool) {
        let mut table = self.table.lock();
        let Some(seat) = table.seats.remove(&id) else {
            return;
        };
        if !settled {
            table.lingering.add(id, seat.party);
        }
    }

    /// Whether no request of another party lingers.
    pub(crate) fn is_quiet_for(&self, party: Party) -> bool {
        self.table.lock().lingering.is_quiet_for(party)
    }

    /// What came for a request beside its stream.
    pub(crate) fn mail(&self, id: u64, cx: &mut Context<'_>) -> Option<Message> {
        let mut table = self.table.lock();
        let seat = table.seats.get_mut(&id)?;
        let message = seat.mail.pop();
        if message.is_none() {
            seat.reader = Some(cx.waker().clone());
        }
        message
    }

    /// Gives a message to the request it belongs to, or back where that cannot be told.
    pub(crate) fn deliver(&self, message: Message) -> Option<Message> {
        if !may_belong(&message) {
            return Some(message);
        }
        if matches!(message, Message::Request(_)) {
            self.vague.store(true, Ordering::Relaxed);
        }
        let mut table = self.table.lock();
        let Table { seats, lingering } = &mut *table;
        let open = seats.iter_mut().map(|(id, seat)| (*id, seat.party, seat));
        let Some(seat) = owner(&message, open, lingering) else {
            return Some(message);
        };
        if let Err(message) = seat.mail.push(message) {
            return Some(message);
        }
        let reader = seat.reader.take();
        drop(table);
        reader.into_iter().for_each(Waker::wake);
        None
    }

    /// Whether the server has asked something without saying which request it is about.
    pub(crate) fn is_vague(&self) -> bool {
        self.vague.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::{Id, Method, Notification, Request};

    use super::*;

    fn question() -> Message {
        Message::Request(Request {
            id: Id::number(1),
            method: Method::Elicit,
            params: None,
        })
    }

    fn party(who: u64, can_be_asked: bool) -> Party {
        Party {
            who,
            client: who / 10,
            can_be_asked,
        }
    }

    fn owner_of(message: &Message, open: &[(u64, Party)]) -> Option<u64> {
        let open = open.iter().map(|(id, party)| (*id, *party, *id));
        owner(message, open, &Lingering::default())
    }

    #[test]
    fn a_question_goes_to_the_only_party_and_its_newest_request() {
        let open = [(3, party(7, true)), (5, party(7, true)), (9, Party::GATEWAY)];
        assert_eq!(owner_of(&question(), &open), Some(5));
        let half_mute = [(3, party(7, true)), (5, party(7, false))];
        assert_eq!(owner_of(&question(), &half_mute), Some(3));
    }

    #[tokio::test(start_paused = true)]
    async fn b37_a_question_may_be_about_a_request_that_was_given_up() {
        let mut lingering = Lingering::default();
        lingering.add(1, party(70, true));
        let owner = |lingering: &Lingering, who| {
            let open = [(3, party(who, true), 3)];
            owner(&question(), open.into_iter(), lingering)
        };
        let owners = [80, 70, 71].map(|who| owner(&lingering, who));
        assert_eq!(owners, [None, Some(3), Some(3)], "71 is the same client");

        tokio::time::advance(LINGER).await;
        assert_eq!(owner(&lingering, 80), Some(3));

        lingering.add(2, party(70, true));
        lingering.add(9, Party::GATEWAY);
        lingering.end(2);
        assert_eq!(owner(&lingering, 80), Some(3));
    }

    #[test]
    fn a_question_of_two_parties_or_of_one_that_cannot_be_asked_is_nobodys() {
        let two = [(3, party(7, true)), (5, party(8, true))];
        assert_eq!(owner_of(&question(), &two), None);
        let mute = [(3, party(7, false))];
        assert_eq!(owner_of(&question(), &mute), None);
        let log = Message::Notification(Notification::new(notification::MESSAGE, None));
        assert_eq!(owner_of(&log, &mute), Some(3));
    }

    #[tokio::test]
    async fn a_floor_remembers_that_a_server_asks_beside_the_stream() {
        let floor = Floor::default();
        floor.enter(1, party(7, true));
        assert!(!floor.is_vague());
        assert!(floor.deliver(question()).is_none());
        assert!(floor.is_vague());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(floor.mail(1, &mut cx).is_some() && floor.mail(1, &mut cx).is_none());
        floor.leave(1, true);
        assert!(floor.deliver(question()).is_some() && floor.is_quiet_for(party(80, true)));
    }

    #[tokio::test]
    async fn sec_05_what_nobody_reads_is_kept_up_to_a_limit() {
        let floor = Floor::default();
        floor.enter(1, party(7, true));
        assert!((0..crate::backlog::MESSAGES).all(|_| floor.deliver(question()).is_none()));
        assert!(floor.deliver(question()).is_some());
        floor.leave(1, false);
        assert!(!floor.is_quiet_for(party(80, true)) && floor.is_quiet_for(party(7, true)));
    }
}
