//! Durations and sizes as people write them.

use std::time::Duration;

/// Longer waits are slips of the pen, and could overflow a clock.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

const DURATION_UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Reads `90s`, `1h30m` or `1h 30m`; `None` for anything else, zero included.
pub fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (number, unit, after) = part(rest)?;
        let (_, factor) = DURATION_UNITS.into_iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = after.trim_start();
    }
    milliseconds(total)
}

/// A duration of so many milliseconds, unless it is none or beyond reason.
pub(crate) fn milliseconds(count: u64) -> Option<Duration> {
    let duration = Duration::from_millis(count);
    (!duration.is_zero() && duration <= LONGEST).then_some(duration)
}

/// Reads `4MiB`, `512 KiB` or `100kB` as bytes.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (number, unit, after) = part(text.trim())?;
    let (_, factor) = SIZE_UNITS
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    after.is_empty().then(|| number.checked_mul(factor))?
}

/// Splits off a number and its unit.
fn part(text: &str) -> Option<(u64, &str, &str)> {
    let (number, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let rest = rest.trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let (unit, after) = rest.split_at(end);
    Some((number.parse().ok()?, unit, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_as_people_write_it() {
        let millis = |text| duration(text).map(|duration| duration.as_millis());

        assert_eq!(millis("250ms"), Some(250));
        assert_eq!(millis("60m"), Some(3_600_000));
        assert_eq!(millis("1h30m"), Some(5_400_000));
        assert_eq!(millis(" 1h 30m "), Some(5_400_000));
        assert_eq!(millis("30d"), Some(2_592_000_000));
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in [
            "",
            "5",
            "m",
            "-5s",
            "1.5h",
            "5 parsecs",
            "0s",
            "99999999999999999999s",
            "9999999d",
            "5s!",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn a_size_is_read_as_people_write_it() {
        assert_eq!(size("4MiB"), Some(4 << 20));
        assert_eq!(size("512 kib"), Some(512 << 10));
        assert_eq!(size("100kB"), Some(100_000));
        for text in ["", "4", "MiB", "4 apples", "-1B", "4MiB 2B", "99999999999999GiB"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
