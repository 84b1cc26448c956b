//! One of the streams on which a stateless server tells of resources, or of tasks.
//!
//! What a stream is about cannot be changed, so a change is a new stream. The old one gives way
//! once the server has taken note of the new one.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpr_protocol::Notification;
use mcpr_transport::{Failed, FailedKind};
use tokio::time::Instant;

use super::overlap::{Names, Open, Overlap};
use super::stream::Said;
use super::wanted::Desk;
use super::{Hearer, Pauses};
use crate::wishes::Refusal;

/// How long the server may take to take note of a stream.
const ACK: Duration = Duration::from_secs(5);

/// How many names one stream is about.
const MOST: usize = 256;

/// How long they are together.
const BYTES: usize = 256 * 1024;

/// A stream, or the attempt at one.
pub(super) struct Part {
    /// What is wanted of it.
    names: Names,
    bytes: usize,
    /// How many names it may be about.
    most: usize,
    /// How often its names were refused in the company of others.
    pub(super) refusals: u32,
    /// The part with whose names they were refused.
    beside: Option<u64>,
    /// What other parts call it.
    pub(super) id: u64,
    now: Option<Open>,
    next: Option<Open>,
    overlap: Option<Overlap>,
    /// What was asked for last, which is not asked for again before this time.
    tried: (Names, Instant),
    pauses: Pauses,
}

/// Which of the streams of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    Old,
    Now,
    Next,
}

/// What follows from what a part was told.
#[derive(Default)]
pub(super) struct After {
    /// A way to the server broke.
    pub(super) lost: bool,
    /// Names that are to be tried without the others.
    pub(super) apart: Vec<Apart>,
    /// The part that has as many names as the server takes in one list.
    pub(super) full: Option<u64>,
}

/// Names that were refused in the company of others, which may be what was wrong with them.
pub(super) struct Apart {
    pub(super) names: Names,
    refusals: u32,
    beside: Option<u64>,
}

impl Part {
    pub(super) fn new(id: u64) -> Self {
        Self {
            names: Names::new(),
            bytes: 0,
            most: MOST,
            refusals: 0,
            beside: None,
            id,
            now: None,
            next: None,
            overlap: None,
            tried: (Names::new(), Instant::now()),
            pauses: Pauses::new(),
        }
    }

    /// One that tries names without those that they were refused with.
    pub(super) fn of(id: u64, apart: Apart) -> Self {
        let mut part = Self {
            refusals: apart.refusals,
            beside: apart.beside,
            ..Self::new(id)
        };
        apart.names.into_iter().for_each(|name| part.put(name));
        part
    }

    /// Whether one more name may join: not where it would be on trial with others.
    pub(super) fn has_room_for(&self, name: &str) -> bool {
        let is_on_trial = self.refusals > 0 && self.now.is_none();
        let fits = self.names.len() < self.most && self.bytes + name.len() <= BYTES;
        fits && !is_on_trial
    }

    pub(super) fn put(&mut self, name: Arc<str>) {
        self.bytes += name.len();
        self.names.insert(name);
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn keep(&mut self, wanted: impl Fn(&Arc<str>) -> bool) {
        self.names.retain(wanted);
        self.bytes = self.names.iter().map(|name| name.len()).sum();
    }

    /// The server takes no more names in one list than these.
    pub(super) fn is_full(&mut self) {
        self.most = self.names.len().clamp(1, self.most);
    }

    /// Whether it is there for nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.names.is_empty() && self.now.is_none() && self.next.is_none() && self.overlap.is_none()
    }

    /// Whether the server is being asked for a stream.
    pub(super) fn is_opening(&self) -> bool {
        self.next.is_some()
    }

    /// Whether this is heard of.
    pub(super) fn hears(&self, name: &Arc<str>) -> bool {
        self.now.as_ref().is_some_and(|now| now.names.contains(name))
    }

    /// Opens another stream if this one is about something else than what is wanted. One stream
    /// gives way at a time, so that changes in a row become few.
    pub(super) fn adjust(&mut self, hearer: &Hearer) {
        let waits = self.names == self.tried.0 && Instant::now() < self.tried.1;
        if self.next.is_some() || self.overlap.is_some() || waits {
            return;
        }
        if self.names.is_empty() {
            self.now = None;
        } else if self.now.as_ref().is_none_or(|now| now.names != self.names) {
            self.tried.0.clone_from(&self.names);
            self.next = Some(Open::new(hearer, self.names.clone()));
            self.overlap = self.now.is_some().then(Overlap::before);
        }
    }

    /// What comes next on any of its streams. Cancel-safe.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<(Which, Result<Said, Failed>)> {
        let old = self.overlap.as_mut().and_then(|overlap| overlap.old.as_mut());
        let streams = [
            (Which::Old, old),
            (Which::Now, self.now.as_mut()),
            (Which::Next, self.next.as_mut()),
        ];
        for (which, open) in streams {
            if let Some(open) = open
                && let Poll::Ready(said) = pin!(open.stream.next()).poll(cx)
            {
                return Poll::Ready((which, said));
            }
        }
        Poll::Pending
    }

    pub(super) fn take(&mut self, which: Which, said: Result<Said, Failed>, desk: &mut Desk) -> After {
        match which {
            Which::Old => self.take_from_old(said, desk),
            Which::Now => return self.take_from_now(said, desk),
            Which::Next => return self.take_from_next(said, desk),
        }
        After::default()
    }

    fn take_from_old(&mut self, said: Result<Said, Failed>, desk: &mut Desk) {
        match said {
            Ok(Said::Note(note)) => self.note(note, true, desk),
            _ => self.end_overlap(desk),
        }
    }

    fn take_from_now(&mut self, said: Result<Said, Failed>, desk: &mut Desk) -> After {
        let mut after = After::default();
        match said {
            Ok(Said::Note(note)) => self.note(note, self.next.is_some(), desk),
            Ok(Said::Accepted(_)) => {}
            Ok(Said::Ended | Said::Refused(_)) => self.lose(desk),
            Err(failed) => {
                tracing::debug!(server = %desk.hearer.replica.server, reason = %failed, "the stream of updates broke");
                self.lose(desk);
                after.lost = true;
            }
        }
        after
    }

    fn take_from_next(&mut self, said: Result<Said, Failed>, desk: &mut Desk) -> After {
        match said {
            Ok(Said::Note(note)) => {
                self.note(note, false, desk);
                After::default()
            }
            Ok(Said::Accepted(filter)) => self.change_over(&desk.hearer.feed.names_in(filter), desk),
            Ok(Said::Refused(error)) => self.refused(&Refusal::Error(error), desk),
            Ok(Said::Ended) => self.refused(&ended(), desk),
            Err(failed) => {
                self.fail(&Refusal::Failed(failed), desk);
                After {
                    lost: true,
                    ..After::default()
                }
            }
        }
    }

    /// The server has taken note of the next stream.
    fn change_over(&mut self, accepted: &BTreeSet<String>, desk: &mut Desk) -> After {
        let mut after = After::default();
        let Some(mut open) = self.next.take() else {
            return after;
        };
        let told = |name: &Arc<str>| accepted.contains(&**name);
        let (heard, left_out): (Names, Names) = open.names.into_iter().partition(told);
        heard.iter().for_each(|name| desk.settle(name, Ok(())));
        if !left_out.is_empty() {
            self.pause(Duration::ZERO);
            if heard.is_empty() {
                left_out
                    .iter()
                    .for_each(|name| desk.settle(name, Err(Refusal::NotOffered)));
            } else {
                // There may have been too many beside them.
                desk.lose(&left_out);
                after.apart.push(Apart {
                    beside: Some(self.id),
                    ..self.part_with(left_out)
                });
            }
        }
        after.full = self.beside.take().filter(|_| !heard.is_empty());
        open.names = heard;
        if let Some(old) = self.now.replace(open) {
            let before = self.overlap.take();
            self.overlap = Some(Overlap::after(before, old));
        }
        after
    }

    /// The stream is lost: what happens from now on goes unheard.
    fn lose(&mut self, desk: &mut Desk) {
        let Some(lost) = self.now.take() else { return };
        self.pause(lost.since.elapsed());
        self.end_overlap(desk);
        desk.lose(&lost.names);
    }

    /// The server does not want the next stream. It does not say which of the names is to blame, or whether they
    /// are too many: those that are new are tried without the others, until one of them is refused alone.
    fn refused(&mut self, why: &Refusal, desk: &mut Desk) -> After {
        let new = self.new_names();
        let asked = self.next.as_ref().map_or(0, |next| next.names.len());
        let mut after = After::default();
        if new.is_empty() || (new.len() == 1 && asked == 1) {
            self.fail(why, desk);
        } else if new.len() < asked {
            self.give_up_next(desk);
            after.apart.push(Apart {
                beside: Some(self.id),
                ..self.part_with(new)
            });
        } else {
            self.give_up_next(desk);
            // Which of them is wrong says nothing of how many there may be.
            self.beside = None;
            let halves = halves(new).map(|half| self.part_with(half));
            after.apart.extend(halves);
        }
        after
    }

    /// The next stream did not come about.
    fn fail(&mut self, why: &Refusal, desk: &mut Desk) {
        let new = self.new_names();
        self.give_up_next(desk);
        new.iter().for_each(|name| desk.settle(name, Err(why.clone())));
    }

    fn give_up_next(&mut self, desk: &mut Desk) {
        if let Some(open) = self.next.take() {
            self.end_overlap(desk);
            self.pause(open.since.elapsed());
        }
    }

    /// What the next stream is about and this one is not.
    fn new_names(&self) -> Names {
        let asked = self.next.iter().flat_map(|next| &next.names);
        asked.filter(|name| !self.hears(name)).cloned().collect()
    }

    fn part_with(&mut self, names: Names) -> Apart {
        self.keep(|name| !names.contains(name));
        Apart {
            names,
            refusals: self.refusals + 1,
            beside: self.beside,
        }
    }

    fn pause(&mut self, lasted: Duration) {
        self.tried.1 = Instant::now() + self.pauses.after(lasted);
    }

    fn note(&mut self, note: Notification, is_old: bool, desk: &mut Desk) {
        let Some(name) = desk.hearer.feed.named_by(&note) else {
            return;
        };
        desk.looks.heard(&name);
        let Some(overlap) = &mut self.overlap else {
            return desk.hearer.herald.note(&note);
        };
        if overlap.keep(name, note, is_old) {
            self.end_overlap(desk);
        }
    }

    fn end_overlap(&mut self, desk: &Desk) {
        if let Some(overlap) = self.overlap.take() {
            overlap.notes().for_each(|note| desk.hearer.herald.note(note));
        }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        let overlap = self.overlap.as_ref().map(|overlap| overlap.until);
        let acknowledged = self.next.as_ref().map(|next| next.since + ACK);
        let again = Some(self.tried.1).filter(|again| *again > Instant::now());
        [overlap, acknowledged, again].into_iter().flatten().min()
    }

    pub(super) fn ring(&mut self, desk: &mut Desk) {
        let now = Instant::now();
        if self.overlap.as_ref().is_some_and(|overlap| now >= overlap.until) {
            self.end_overlap(desk);
        }
        if self.next.as_ref().is_some_and(|next| now >= next.since + ACK) {
            let detail = format!("`subscriptions/listen` was not acknowledged within {ACK:?}");
            self.fail(
                &Refusal::Failed(Failed::maybe_sent(FailedKind::TimedOut, detail)),
                desk,
            );
        }
    }
}

fn halves(names: Names) -> [Names; 2] {
    let mut first = names;
    let middle = first.iter().nth(first.len() / 2).cloned();
    let second = middle.map_or_else(Names::new, |middle| first.split_off(&middle));
    [first, second]
}

fn ended() -> Refusal {
    Refusal::Failed(Failed::maybe_sent(
        FailedKind::Malformed,
        "the server ended `subscriptions/listen` before it acknowledged it",
    ))
}
