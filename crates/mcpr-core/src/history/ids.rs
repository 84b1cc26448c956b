//! Ids that sort by time.

use std::hash::{BuildHasher, RandomState};

/// Letters and digits in the order in which texts sort, without those that look alike.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many letters there are behind the `h_`.
const LETTERS: u32 = 13;
/// How much of an id tells apart what ended in the same millisecond. What is left for the time lasts
/// until the year 2109.
const NUMBER_BITS: u32 = 22;

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Id([u8; 2 + LETTERS as usize]);

/// Makes the ids of calls, each greater than the one before, whatever the clock does.
#[derive(Debug, Default)]
pub(super) struct Ids {
    last: u64,
    /// Tells where the numbers of a millisecond begin; no two processes have the same.
    beginnings: RandomState,
}

impl Ids {
    /// An id for what ended at this time, in milliseconds since 1970-01-01 UTC.
    ///
    /// The numbers of a millisecond begin anywhere, because another process may write to the same
    /// database.
    pub(super) fn next(&mut self, ended_ms: i64) -> Id {
        let millis = u64::try_from(ended_ms).unwrap_or_default();
        self.last = match millis > self.last >> NUMBER_BITS {
            true => millis << NUMBER_BITS | u64::from(self.beginning(millis)),
            false => self.last + 1,
        };
        spelled(self.last)
    }

    /// Anywhere in the first half of the numbers of a millisecond.
    fn beginning(&self, millis: u64) -> u32 {
        (self.beginnings.hash_one(millis) as u32) >> (u32::BITS - NUMBER_BITS + 1)
    }
}

/// An id before those of all that began then or later.
pub(crate) fn id_before(at_ms: i64) -> String {
    let begin = u64::try_from(at_ms).unwrap_or_default() << NUMBER_BITS;
    spelled(begin.saturating_sub(1)).as_str().to_owned()
}

impl Id {
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("letters and digits are UTF-8")
    }
}

fn spelled(value: u64) -> Id {
    let mut id = *b"h_0000000000000";
    for (place, letter) in (0..LETTERS).rev().zip(&mut id[2..]) {
        *letter = ALPHABET[(value >> (5 * place) & 31) as usize];
    }
    Id(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_06_what_began_at_a_time_has_a_later_id_than_the_one_before_it() {
        let mut ids = Ids::default();
        for at in [0, 1, 1_700_000_000_000] {
            let id = ids.next(at);
            assert!(at == 0 || id.as_str() > id_before(at).as_str(), "{at}");
            assert!(id.as_str() < id_before(at + 2).as_str(), "{at}");
        }
        assert!(id_before(-5) <= id_before(0));
    }

    #[test]
    fn log_06_ids_are_short_and_sort_by_time_even_if_the_clock_goes_back() {
        let mut ids = Ids::default();
        let now = 1_800_000_000_000;
        let times = [0, 1, now, now, now - 1000, now + 1];

        let made = times.map(|time| ids.next(time));

        assert!(made.is_sorted_by(|one, other| one < other), "{made:?}");
        let fits = |id: &Id| id.as_str().len() == 15 && id.as_str().starts_with("h_");
        assert!(made.iter().all(fits), "{made:?}");
    }

    #[test]
    fn an_id_is_spelled_in_letters_that_sort_like_numbers() {
        assert_eq!(spelled(0).as_str(), "h_0000000000000");
        assert_eq!(spelled(31).as_str(), "h_000000000000z");
        assert_eq!(spelled(u64::MAX).as_str(), "h_fzzzzzzzzzzzz");
    }
}
