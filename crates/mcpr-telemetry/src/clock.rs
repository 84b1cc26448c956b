//! The time as log lines and log files spell it.

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;

/// Where the time comes from; tests hold it still.
pub(crate) type Clock = fn() -> SystemTime;

/// The length of what [`stamp`] writes.
pub(crate) const STAMP: usize = "2025-01-15T10:30:45.123Z".len();

const SECOND: StaticFormatDescription = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
const FILE: StaticFormatDescription = format_description!("[year]-[month]-[day]T[hour]-[minute]-[second]");

/// One second since the epoch, and its text.
type Second = (u64, [u8; 19]);

thread_local! {
    // Formatting a date costs more than the rest of a line, and it changes once a second.
    static LATEST: Cell<Second> = const { Cell::new((u64::MAX, [b'0'; 19])) };
}

/// Appends the time in UTC with milliseconds, as RFC 3339 has it.
pub(crate) fn stamp(now: SystemTime, out: &mut Vec<u8>) {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = since.subsec_millis();
    out.extend_from_slice(&second(since.as_secs()));
    out.push(b'.');
    out.extend([millis / 100, millis / 10 % 10, millis % 10].map(|digit| b'0' + digit as u8));
    out.push(b'Z');
}

/// The time in UTC with milliseconds, as RFC 3339 has it: `2027-01-15T08:00:00.123Z`.
pub fn rfc3339(time: SystemTime) -> String {
    let mut text = Vec::with_capacity(STAMP);
    stamp(time, &mut text);
    String::from_utf8(text).expect("digits and marks are UTF-8")
}

/// The time in UTC as it stands in the name of a run file.
pub(crate) fn file_stamp(now: SystemTime) -> String {
    // A year of more than four digits cannot be formatted; nothing then tells the runs apart but the suffix.
    OffsetDateTime::from(now)
        .format(FILE)
        .unwrap_or_else(|_| "0000-00-00T00-00-00".to_owned())
}

fn second(secs: u64) -> [u8; 19] {
    let (cached, text) = LATEST.get();
    if cached == secs {
        return text;
    }
    let text = spell(secs);
    LATEST.set((secs, text));
    text
}

fn spell(secs: u64) -> [u8; 19] {
    let mut text = [b'0'; 19];
    let date = i64::try_from(secs)
        .ok()
        .and_then(|secs| OffsetDateTime::from_unix_timestamp(secs).ok());
    if let Some(date) = date {
        // Fails only for years that do not fit; the zeros are then as good as any other text.
        let _ = date.format_into(&mut text.as_mut_slice(), SECOND);
    }
    text
}

/// The moment at which tests stand still: 2025-01-15T10:30:45.123Z.
#[cfg(test)]
pub(crate) fn fixed() -> SystemTime {
    UNIX_EPOCH + std::time::Duration::from_millis(1_736_937_045_123)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_stamp_follows_the_second_and_the_millisecond() {
        let stamps = [0, 900, 4_877].map(|later| {
            let mut out = Vec::new();
            stamp(fixed() + Duration::from_millis(later), &mut out);
            String::from_utf8(out).unwrap()
        });

        let expected = [
            "2025-01-15T10:30:45.123Z",
            "2025-01-15T10:30:46.023Z",
            "2025-01-15T10:30:50.000Z",
        ];
        assert_eq!(stamps, expected);
        assert_eq!(stamps[0].len(), STAMP);
    }

    #[test]
    fn a_time_is_told_as_lines_have_it() {
        assert_eq!(rfc3339(fixed()), "2025-01-15T10:30:45.123Z");
    }

    #[test]
    fn log_02_a_file_is_stamped_without_colons() {
        assert_eq!(file_stamp(fixed()), "2025-01-15T10-30-45");
    }
}
