//! For whom requests are made, and whose a message is that does not say so.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use mcpr_protocol::{Message, notification};
use parking_lot::Mutex;

/// For whom a request is made.
///
/// A server's question on a shared connection does not say which request it is about. It is
/// answered by the one party that has requests open, or by nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Party {
    /// What tells this party from every other.
    pub who: u64,
    /// Whether it can be asked something by the server.
    pub can_be_asked: bool,
}

impl Party {
    /// mcpr itself: what comes for it needs no party.
    pub const GATEWAY: Self = Self {
        who: 0,
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

/// The newest open request of the only party that has any; a question needs one that can be asked.
pub(crate) fn owner<T>(message: &Message, open: impl Iterator<Item = (u64, Party, T)>) -> Option<T> {
    let mut found: Option<(u64, Party, T)> = None;
    for (id, party, place) in open.filter(|(_, party, _)| *party != Party::GATEWAY) {
        match &found {
            Some((_, other, _)) if other.who != party.who => return None,
            Some((newest, _, _)) if *newest > id => {}
            _ => found = Some((id, party, place)),
        }
    }
    let (_, party, place) = found?;
    (party.can_be_asked || !matches!(message, Message::Request(_))).then_some(place)
}

/// The requests open over streamable HTTP, for what a server says beside their own streams.
#[derive(Debug, Default)]
pub(crate) struct Floor {
    seats: Mutex<Vec<Seat>>,
    /// Whether the server has asked something beside them.
    vague: AtomicBool,
}

#[derive(Debug)]
struct Seat {
    id: u64,
    party: Party,
    mail: VecDeque<Message>,
    reader: Option<Waker>,
}

impl Floor {
    /// Seats a request.
    pub(crate) fn enter(&self, id: u64, party: Party) {
        self.seats.lock().push(Seat {
            id,
            party,
            mail: VecDeque::new(),
            reader: None,
        });
    }

    /// Frees the seat of a request.
    pub(crate) fn leave(&self, id: u64) {
        self.seats.lock().retain(|seat| seat.id != id);
    }

    /// What came for a request beside its stream.
    pub(crate) fn mail(&self, id: u64, cx: &mut Context<'_>) -> Option<Message> {
        let mut seats = self.seats.lock();
        let seat = seats.iter_mut().find(|seat| seat.id == id)?;
        let message = seat.mail.pop_front();
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
        let mut seats = self.seats.lock();
        let open = seats.iter_mut().map(|seat| (seat.id, seat.party, seat));
        let Some(seat) = owner(&message, open) else {
            return Some(message);
        };
        seat.mail.push_back(message);
        let reader = seat.reader.take();
        drop(seats);
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
        Party { who, can_be_asked }
    }

    fn owner_of(message: &Message, open: &[(u64, Party)]) -> Option<u64> {
        owner(message, open.iter().map(|(id, party)| (*id, *party, *id)))
    }

    #[test]
    fn a_question_goes_to_the_only_party_and_its_newest_request() {
        let open = [(3, party(7, true)), (5, party(7, true)), (9, Party::GATEWAY)];
        assert_eq!(owner_of(&question(), &open), Some(5));
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

    #[test]
    fn a_floor_remembers_that_a_server_asks_beside_the_stream() {
        let floor = Floor::default();
        floor.enter(1, party(7, true));
        assert!(!floor.is_vague());
        assert!(floor.deliver(question()).is_none());
        assert!(floor.is_vague());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(floor.mail(1, &mut cx).is_some() && floor.mail(1, &mut cx).is_none());
        floor.leave(1);
        assert!(floor.deliver(question()).is_some());
    }
}
