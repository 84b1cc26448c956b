//! What time it is, as an answer tells it (RFC 9110, section 6.6.1).

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long such a date is.
const LENGTH: usize = 29;

/// A date in the form of RFC 9110, section 5.6.7.
pub(super) type Date = [u8; LENGTH];

thread_local! {
    /// What was written last on this thread, and for which second.
    static LAST: Cell<(u64, Date)> = const { Cell::new((u64::MAX, [b' '; LENGTH])) };
}

/// The date of now; it is written once a second.
pub(super) fn now() -> Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let second = since.as_secs();
    LAST.with(|last| {
        let (of, date) = last.get();
        if of == second {
            return date;
        }
        let date = write(second);
        last.set((second, date));
        date
    })
}

fn write(second: u64) -> Date {
    let at = UNIX_EPOCH + Duration::from_secs(second.min(LAST_SECOND));
    let text = httpdate::fmt_http_date(at);
    text.as_bytes().try_into().unwrap_or([b' '; LENGTH])
}

/// The end of the year 9999, up to which that form goes.
const LAST_SECOND: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_rfc_9110_wants_it() {
        assert_eq!(&write(784_111_777), b"Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(&write(u64::MAX), b"Fri, 31 Dec 9999 23:59:59 GMT");
        assert!(now().ends_with(b" GMT") && now() <= [b'z'; LENGTH]);
    }
}
