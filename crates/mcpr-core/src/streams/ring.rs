//! The last events of a stream, and the memory that all streams share for them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// How many events a stream keeps.
pub(super) const EVENTS: usize = 256;

/// How many bytes of them; one event alone may be larger.
pub(super) const BYTES: usize = 1024 * 1024;

/// The memory for what the streams of one gateway keep.
///
/// A stream that is being read may go over it by the one event that is on its way to its reader.
#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    limit: usize,
}

/// The last events of a stream, numbered from 1 on.
#[derive(Debug)]
pub(super) struct Ring {
    /// The number of the oldest event that is kept; that of the next when none is.
    oldest: u64,
    events: VecDeque<Bytes>,
    bytes: usize,
    budget: Arc<Budget>,
}

impl Budget {
    /// Memory of this many bytes.
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            used: AtomicUsize::new(0),
            limit,
        })
    }

    /// How many bytes are kept now.
    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.used.load(Ordering::Relaxed) + bytes <= self.limit
    }
}

impl Ring {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self {
            oldest: 1,
            events: VecDeque::new(),
            bytes: 0,
            budget,
        }
    }

    /// The number of the oldest event that is kept; that of the next when none is.
    pub(super) fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The number that the next event gets.
    pub(super) fn next(&self) -> u64 {
        self.oldest + self.events.len() as u64
    }

    /// The event of that number, if it is kept.
    pub(super) fn get(&self, number: u64) -> Option<&Bytes> {
        let index = number.checked_sub(self.oldest)?;
        self.events.get(usize::try_from(index).ok()?)
    }

    /// Whether it takes this much more without losing the event of that number or a later one.
    pub(super) fn has_room_for(&self, bytes: usize, number: u64) -> bool {
        let before = usize::try_from(number.saturating_sub(self.oldest)).unwrap_or(usize::MAX);
        let mut freed = 0;
        let with_less = |(dropped, event): (usize, &Bytes)| {
            freed += event.len();
            self.fits(bytes, dropped + 1, freed)
        };
        self.fits(bytes, 0, 0) || self.events.iter().take(before).enumerate().any(with_less)
    }

    /// Adds an event, and drops the oldest where it is one too many.
    pub(super) fn push(&mut self, event: Bytes) {
        while !self.fits(event.len(), 0, 0) {
            self.drop_oldest();
        }
        self.bytes += event.len();
        self.budget.used.fetch_add(event.len(), Ordering::Relaxed);
        self.events.push_back(event);
    }

    /// Whether what all streams keep is more than there is memory for.
    pub(super) fn is_over_budget(&self) -> bool {
        !self.budget.has_room_for(0)
    }

    /// Forgets all events; their numbers are not used again.
    pub(super) fn clear(&mut self) {
        while !self.events.is_empty() {
            self.drop_oldest();
        }
        self.events = VecDeque::new();
    }

    /// Whether so many bytes more fit once so many events with so many bytes are dropped.
    fn fits(&self, bytes: usize, dropped: usize, freed: usize) -> bool {
        let (count, kept) = (self.events.len() - dropped, self.bytes - freed);
        let alone = count == 0; // One event is kept whatever its size.
        alone
            || (count < EVENTS
                && kept + bytes <= BYTES
                && self.budget.has_room_for(bytes.saturating_sub(freed)))
    }

    fn drop_oldest(&mut self) {
        let Some(event) = self.events.pop_front() else {
            return;
        };
        self.oldest += 1;
        self.bytes -= event.len();
        self.budget.used.fetch_sub(event.len(), Ordering::Relaxed);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(budget: usize) -> Ring {
        Ring::new(Budget::new(budget))
    }

    /// An event of that many bytes.
    fn event(bytes: usize) -> Bytes {
        vec![b'x'; bytes].into()
    }

    #[test]
    fn the_oldest_of_too_many_events_are_dropped() {
        let mut ring = ring(usize::MAX);
        (0..EVENTS + 3).for_each(|_| ring.push(event(1)));

        assert_eq!((ring.oldest(), ring.next()), (4, EVENTS as u64 + 4));
        assert!(ring.get(3).is_none() && ring.get(4).is_some());
    }

    #[test]
    fn the_oldest_of_too_many_bytes_are_dropped_and_the_last_is_kept_whatever_its_size() {
        let mut ring = ring(usize::MAX);
        (0..3).for_each(|_| ring.push(event(BYTES / 2)));
        assert_eq!((ring.oldest(), ring.next()), (2, 4));

        ring.push(event(3 * BYTES));
        assert_eq!((ring.oldest(), ring.next()), (4, 5));
    }

    #[test]
    fn there_is_room_as_long_as_only_what_was_read_must_go() {
        let mut ring = ring(usize::MAX);
        (0..EVENTS).for_each(|_| ring.push(event(1)));
        assert!(!ring.has_room_for(1, 1) && ring.has_room_for(1, 2));
        assert!(!ring.has_room_for(BYTES - 1, EVENTS as u64 - 1));
        assert!(ring.has_room_for(BYTES - 1, EVENTS as u64));
        assert!(ring.has_room_for(2 * BYTES, EVENTS as u64 + 1));
    }

    #[test]
    fn sec_05_rings_share_one_budget_and_give_back_what_they_drop() {
        let budget = Budget::new(100);
        let (mut one, mut other) = (Ring::new(budget.clone()), Ring::new(budget.clone()));
        (0..3).for_each(|_| one.push(event(30)));
        (0..3).for_each(|_| other.push(event(10)));
        assert_eq!(
            (budget.used(), other.oldest()),
            (100, 3),
            "only its own are dropped"
        );

        one.clear();
        assert_eq!((budget.used(), one.oldest(), one.next()), (10, 4, 4));
        drop(other);
        assert_eq!(budget.used(), 0);
    }
}
