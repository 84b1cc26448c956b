//! The open requests of a connection that all share: a pipe, or one stream of events.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use mcpr_protocol::{Id, Message, Notification, Object, RawJson, Response, Word, key, notification};
use parking_lot::Mutex;
use tracing::{debug, warn};

use crate::backlog::{Backlog, stray};
use crate::gist;
use crate::party::{Lingering, may_belong, owner as owner_of};
use crate::{Answering, Event, Exchange, Failed, Party, Reason, Sent};

/// What tells whose a notification is, beside those of progress.
static SUBSCRIPTION: Word = Word::new(key::SUBSCRIPTION_ID);

/// The table of open requests: who waits for which id.
#[derive(Debug, Default)]
pub struct Pending {
    last_id: AtomicU64,
    table: Mutex<Table>,
}

/// A place in the table; dropping it gives the place up.
#[derive(Debug)]
pub struct Ticket {
    id: u64,
    /// Whether the server may have been asked: what was never sent is forgotten at once.
    asked: bool,
    slot: Arc<Slot>,
    pending: Arc<Pending>,
}

/// The exchange of a transport that needs nothing but the table.
#[derive(Debug)]
pub struct Waiting<W: Withdraw> {
    ticket: Ticket,
    withdraw: Option<Arc<W>>,
    done: bool,
}

/// A place without a request.
#[derive(Debug)]
struct Attending(Ticket);

/// Says on a shared connection that nobody waits for a request any more.
pub trait Withdraw: Send + Sync + 'static {
    /// Tells the server, without waiting for it.
    fn withdraw(self: Arc<Self>, id: u64, why: Reason);
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Arc<Slot>>,
    lingering: Lingering,
    ended: Option<Failed>,
}

#[derive(Debug)]
struct Slot {
    party: Party,
    /// Whether the server may end it by a cancel.
    listens: AtomicBool,
    inbox: Mutex<Inbox>,
}

/// What has come for one request and was not read yet.
#[derive(Debug, Default)]
struct Inbox {
    messages: Backlog,
    outcome: Option<Result<Response, Failed>>,
    reader: Option<Waker>,
    dropped: u64,
}

/// The notification that gives a request up.
pub fn cancelled(id: u64, why: Reason) -> Notification {
    let params = format!(r#"{{"requestId":{id},"reason":"{}"}}"#, why.as_str());
    Notification::new(notification::CANCELLED, Some(RawJson::trusted(params)))
}

impl Pending {
    /// An empty table.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// A fresh id.
    pub fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many requests are open.
    pub fn len(&self) -> usize {
        self.table.lock().open.len()
    }

    /// Whether no request is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a place for a request, which must not be sent before.
    ///
    /// # Errors
    ///
    /// When the connection has ended: with its reason, and the request unsent.
    pub fn enter(self: &Arc<Self>, id: u64, party: Party) -> Result<Ticket, Failed> {
        let mut table = self.table.lock();
        if let Some(ended) = &table.ended {
            return Err(Failed {
                sent: Sent::No,
                ..ended.clone()
            });
        }
        let slot = Arc::new(Slot {
            party,
            listens: AtomicBool::new(false),
            inbox: Mutex::default(),
        });
        table.open.insert(id, Arc::clone(&slot));
        Ok(Ticket {
            id,
            asked: false,
            slot,
            pending: Arc::clone(self),
        })
    }

    /// An exchange without a request: what the server says to this party comes in it.
    pub fn attend(self: &Arc<Self>, party: Party) -> Option<Exchange> {
        let ticket = self.enter(self.next_id(), party).ok()?;
        Some(Exchange::new(Attending(ticket)))
    }

    /// Gives a message to the request it belongs to, or back as an event where it belongs to none.
    ///
    /// Progress finds its request by the token, which is the request's id; a notification of a
    /// subscription finds the listen request the same way. What may be about a request without
    /// saying so goes to the one party that has any open. Late answers are dropped.
    pub fn deliver(&self, message: Message) -> Option<Event> {
        let unplaced = match self.place(message)? {
            Message::Response(response) => {
                self.answer(response);
                return None;
            }
            Message::Request(request) => Message::Request(request),
            Message::Notification(notification) => Message::Notification(self.route(notification)?),
        };
        Event::of(stray(unplaced)?)
    }

    /// Gives a message that may be about a request without saying so to the one it is about.
    fn place(&self, message: Message) -> Option<Message> {
        if !may_belong(&message) {
            return Some(message);
        }
        if let Some(listen) = self.given_up(&message) {
            return listen.push(message);
        }
        let found = {
            let table = self.table.lock();
            let open = table.open.iter().map(|(id, slot)| (*id, slot.party, slot));
            owner_of(&message, open, &table.lingering).cloned()
        };
        match found {
            Some(slot) => slot.push(message),
            None => Some(message),
        }
    }

    /// Whether no request of another client was given up that the server may still be at.
    pub fn is_quiet_for(&self, party: Party) -> bool {
        self.table.lock().lingering.is_quiet_for(party)
    }

    /// Ends every open request, and every later one before it is sent.
    pub fn fail_all(&self, failed: &Failed) {
        let mut table = self.table.lock();
        table.ended.get_or_insert_with(|| failed.clone());
        let open = std::mem::take(&mut table.open);
        drop(table);
        open.into_values().for_each(|slot| slot.end(Err(failed.clone())));
    }

    /// Ends the request of this id, whose answer has come and cannot be taken; false if nobody waits
    /// for it.
    pub fn fail(&self, id: u64, failed: &Failed) -> bool {
        let slot = self.settle(id);
        slot.map(|slot| slot.end(Err(failed.clone()))).is_some()
    }

    /// The same for the requests that a text answers which cannot be read. False if it is none that
    /// anybody waits for.
    pub(crate) fn fail_answered(&self, text: &[u8], failed: &Failed) -> bool {
        let ended = gist::answered(text).filter(|id| self.fail(*id, failed));
        ended.count() > 0
    }

    fn answer(&self, response: Response) {
        let id = response.id.as_ref().and_then(Id::as_number);
        match (id.and_then(|id| self.settle(id)), response.id.as_ref()) {
            (Some(slot), _) => slot.end(Ok(response)),
            // An id that is no number of ours is a text of the server's own.
            (None, Some(_)) => debug!(request_id = id, "an answer came for which nobody waits"),
            (None, None) => warn!("the server reports an error without saying about which request"),
        }
    }

    /// The server has answered: nobody waits for it after this.
    fn settle(&self, id: u64) -> Option<Arc<Slot>> {
        let mut table = self.table.lock();
        table.lingering.end(id);
        table.open.remove(&id)
    }

    /// The listen that a server gives up (2026-07-28, cancellation: the only request of ours that
    /// it can). In the session era a cancel is about a request of the server's own.
    fn given_up(&self, message: &Message) -> Option<Arc<Slot>> {
        let Message::Notification(note) = message else {
            return None;
        };
        let params = note
            .params
            .as_ref()
            .filter(|_| &*note.method == notification::CANCELLED)?;
        let id = number(&Object::read(params).ok()?.get("requestId")?)?;
        let slot = self.table.lock().open.get(&id).cloned();
        slot.filter(|slot| slot.listens.load(Ordering::Relaxed))
    }

    fn route(&self, notification: Notification) -> Option<Notification> {
        let owner = owner(&notification).and_then(|id| self.table.lock().open.get(&id).cloned());
        let Some(slot) = owner else {
            return Some(notification);
        };
        slot.push(Message::Notification(notification));
        None
    }

    /// Gives up the place of what was never asked: nothing of it lingers.
    fn forget(&self, id: u64) {
        self.table.lock().open.remove(&id);
    }

    fn leave(&self, id: u64) {
        let mut table = self.table.lock();
        if let Some(unanswered) = table.open.remove(&id) {
            table.lingering.add(id, unanswered.party);
        }
    }
}

/// The id of the request that a notification belongs to, if it says so.
fn owner(notification: &Notification) -> Option<u64> {
    let params = notification.params.as_ref()?;
    if notification.method.as_ref() == notification::PROGRESS {
        return number(&Object::read(params).ok()?.get(key::PROGRESS_TOKEN)?);
    }
    // Looking inside costs a walk over the params, so only where there is something to find.
    if !SUBSCRIPTION.is_in(params.as_bytes()) {
        return None;
    }
    let meta = Object::read(params).ok()?.object("_meta")?;
    number(&meta.get(key::SUBSCRIPTION_ID)?)
}

/// Our number; some servers give it back as a string.
fn number(token: &RawJson) -> Option<u64> {
    let text = token.to_text();
    text.as_deref().unwrap_or(token.as_str()).parse().ok()
}

impl Slot {
    /// Adds a message. Where there is no room a notification is lost, but a question comes back:
    /// somebody has to answer it. The response always finds room.
    fn push(&self, message: Message) -> Option<Message> {
        let mut inbox = self.inbox.lock();
        match inbox.messages.push(message) {
            Ok(()) => {}
            Err(question @ Message::Request(_)) => return Some(question),
            Err(_) => inbox.dropped += 1,
        }
        wake(inbox.reader.take());
        None
    }

    fn end(&self, outcome: Result<Response, Failed>) {
        let mut inbox = self.inbox.lock();
        inbox.outcome.get_or_insert(outcome);
        wake(inbox.reader.take());
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let mut inbox = self.inbox.lock();
        if let Some(message) = inbox.messages.pop() {
            return Poll::Ready(Ok(message));
        }
        if let Some(outcome) = inbox.outcome.take() {
            return Poll::Ready(outcome.map(Message::Response));
        }
        inbox.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn wake(reader: Option<Waker>) {
    reader.into_iter().for_each(Waker::wake);
}

impl Ticket {
    /// The id of the request.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// It is for a `subscriptions/listen`, which the server may end by a cancel.
    pub fn is_for_a_listen(&self) {
        self.slot.listens.store(true, Ordering::Relaxed);
    }

    /// Waits for what comes next for this request: notifications in order, then how it ended.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        self.slot.poll(cx)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        match self.asked {
            true => self.pending.leave(self.id),
            false => self.pending.forget(self.id),
        }
        let dropped = self.slot.inbox.lock().dropped;
        if dropped > 0 {
            warn!(
                request_id = self.id,
                count = dropped,
                "messages were dropped: nobody read them in time"
            );
        }
    }
}

impl Answering for Attending {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        self.0.poll_next(cx)
    }

    fn cancel(self: Box<Self>, _: Reason) {}
}

impl<W: Withdraw> Waiting<W> {
    /// Waits at the place of a request that was sent; `withdraw` says how it is given up, where it can be.
    pub fn new(mut ticket: Ticket, withdraw: Option<Arc<W>>) -> Self {
        ticket.asked = true;
        Self {
            ticket,
            withdraw,
            done: false,
        }
    }

    /// Ends the exchange: nothing is left to give up.
    pub fn finish(&mut self) {
        self.done = true;
    }

    /// Gives the request up.
    pub fn give_up(&mut self, why: Reason) {
        if !std::mem::replace(&mut self.done, true) {
            self.withdraw
                .take()
                .into_iter()
                .for_each(|by| by.withdraw(self.ticket.id, why));
        }
    }
}

impl<W: Withdraw> Answering for Waiting<W> {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let next = self.ticket.poll_next(cx);
        if matches!(next, Poll::Ready(Ok(Message::Response(_)) | Err(_))) {
            self.finish();
        }
        next
    }

    fn cancel(mut self: Box<Self>, why: Reason) {
        self.give_up(why);
    }
}

impl<W: Withdraw> Drop for Waiting<W> {
    fn drop(&mut self) {
        self.give_up(Reason::Client);
    }
}

#[cfg(test)]
mod tests;
