//! Times and sizes in a few letters.

use std::time::Duration;

use mcpr_auth::Timestamp;

use super::look::Look;

const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];

/// A duration in its two largest units, such as `3d 4h`; never shorter than a second.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_millis().div_ceil(1000).max(1);
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    let first = UNITS
        .iter()
        .position(|(unit, _)| seconds >= *unit)
        .unwrap_or(UNITS.len() - 1);
    let (unit, name) = UNITS[first];
    let large = format!("{}{name}", seconds / unit);
    match UNITS
        .get(first + 1)
        .map(|(next, name)| (seconds % unit / next, name))
    {
        Some((count, name)) if count > 0 => format!("{large} {count}{name}"),
        _ => large,
    }
}

/// A short time, such as `850µs`, `41ms` or `2.1s`.
pub(crate) fn took(micros: u64) -> String {
    match micros {
        0..1000 => format!("{micros}µs"),
        1000..1_000_000 => format!("{}ms", micros / 1000),
        _ => format!("{}.{}s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// A point in time as it is best read: on a terminal by its distance, elsewhere as it is.
pub(crate) fn time(rfc3339: &str, now: Timestamp, look: &Look) -> String {
    match rfc3339.parse::<Timestamp>() {
        Ok(time) if look.width.is_some() => distance(time, now),
        _ => rfc3339.to_owned(),
    }
}

fn distance(time: Timestamp, now: Timestamp) -> String {
    let seconds = time.unix() - now.unix();
    let away = rough(seconds.unsigned_abs());
    match seconds {
        ..0 => format!("{away} ago"),
        0 => "now".to_owned(),
        _ => format!("in {away}"),
    }
}

/// The largest unit alone.
fn rough(seconds: u64) -> String {
    let (unit, name) = UNITS
        .into_iter()
        .find(|(unit, _)| seconds >= *unit)
        .unwrap_or((1, "s"));
    format!("{}{name}", seconds / unit)
}

/// A number of bytes, such as `12 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes;
    let mut shown = "B";
    for unit in units {
        if size < 1024 {
            break;
        }
        (size, shown) = (size / 1024, unit);
    }
    format!("{size} {shown}")
}

/// A number of tokens, such as `92`, `1.9k` or `24k`.
pub(crate) fn tokens(count: u64) -> String {
    let tenths = |unit: u64| count.saturating_add(unit / 20) / (unit / 10);
    let short = |unit: u64, name: &str| match tenths(unit) {
        tenths @ ..100 => format!("{}.{}{name}", tenths / 10, tenths % 10),
        _ => format!("{}{name}", count.saturating_add(unit / 2) / unit),
    };
    match count {
        ..1000 => count.to_string(),
        1000..999_500 => short(1000, "k"),
        _ => short(1_000_000, "M"),
    }
}

/// How many of something, such as `1 tool` or `57 tools`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// Tools and what they cost, such as `57 tools ≈ 24k tokens`.
pub(crate) fn cost(tools: u64, estimate: u64) -> String {
    let counted = counted(tools, "tool");
    match estimate {
        0 => counted,
        _ => format!("{counted} ≈ {} tokens", tokens(estimate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_shows_its_two_largest_units() {
        let shown =
            [0, 400, 1000, 61_000, 3_600_000, 273_600_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(shown, ["1s", "1s", "1s", "1m 1s", "1h", "3d 4h"]);
    }

    #[test]
    fn short_times_have_a_unit_that_fits() {
        let shown = [0, 999, 1000, 41_900, 999_999, 1_000_000, 2_190_000, 61_000_000].map(took);
        assert_eq!(
            shown,
            ["0µs", "999µs", "1ms", "41ms", "999ms", "1.0s", "2.1s", "61.0s"]
        );
    }

    #[test]
    fn a_time_is_relative_on_a_terminal_only() {
        let now = Timestamp::from_unix(1_800_000_000);
        let on = |width| Look { width, color: false };
        let shown = |text| time(text, now, &on(Some(80)));

        assert_eq!(shown("2027-01-15T07:30:00Z"), "30m ago");
        assert_eq!(shown("2027-01-15T08:00:00Z"), "now");
        assert_eq!(shown("2027-04-15T08:00:00Z"), "in 90d");
        assert_eq!(shown("soon"), "soon");
        assert_eq!(
            time("2027-01-15T07:30:00Z", now, &on(None)),
            "2027-01-15T07:30:00Z"
        );
    }

    #[test]
    fn a_size_shows_its_largest_unit() {
        assert_eq!(
            [0, 1023, 1024, 12_900, 3 << 20].map(size),
            ["0 B", "1023 B", "1 KiB", "12 KiB", "3 MiB"]
        );
    }
    #[test]
    fn set_11_estimates_of_tokens_are_short() {
        let shown = [
            0, 92, 999, 1000, 1949, 1950, 9949, 9950, 24_499, 999_499, 999_500, 12_300_000,
        ]
        .map(tokens);
        assert_eq!(
            shown,
            [
                "0", "92", "999", "1.0k", "1.9k", "2.0k", "9.9k", "10k", "24k", "999k", "1.0M", "12M"
            ]
        );
        assert_eq!(cost(57, 24_100), "57 tools ≈ 24k tokens");
        assert_eq!(cost(1, 0), "1 tool");
    }
}
