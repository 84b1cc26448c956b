//! What a client takes as an answer, and what it says its body is.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};

use super::{Refusal, Verb};

/// What the clients of the SDKs send, which needs no reading.
const USUAL: &str = "application/json, text/event-stream";

/// Which kinds of answer a client takes.
///
/// A client without an `Accept` header, or with `*/*`, takes both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accepts {
    /// `application/json`.
    pub json: bool,
    /// `text/event-stream`.
    pub events: bool,
}

/// What the ranges seen so far say about one media type; the most exact range decides (RFC 9110 12.5.1).
#[derive(Clone, Copy, Default)]
struct Verdict {
    exactness: u8,
    wanted: bool,
}

impl Accepts {
    const ANYTHING: Self = Self {
        json: true,
        events: true,
    };

    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut lines = headers.get_all(ACCEPT).iter();
        if let (Some(line), None) = (lines.next(), lines.next())
            && line == USUAL
        {
            return Self::ANYTHING;
        }
        let mut ranges = ranges(headers).peekable();
        if ranges.peek().is_none() {
            return Self::ANYTHING;
        }
        let (mut json, mut events) = (Verdict::default(), Verdict::default());
        for (kind, wanted) in ranges {
            json.hear(kind, wanted, "application", "json");
            events.hear(kind, wanted, "text", "event-stream");
        }
        Self {
            json: json.wanted,
            events: events.wanted,
        }
    }

    /// Checks that there is an answer the client would take.
    pub(super) fn allow(self, verb: Verb) -> Result<(), Refusal> {
        let (fits, wanted) = match verb {
            Verb::Post => (self.json || self.events, "application/json, text/event-stream"),
            Verb::Get => (self.events, "text/event-stream"),
            Verb::Delete => (true, ""),
        };
        fits.then_some(()).ok_or(Refusal::NotAcceptable { wanted })
    }
}

impl Verdict {
    fn hear(&mut self, kind: &str, wanted: bool, of: &str, subtype: &str) {
        let exactness = exactness(kind, of, subtype);
        if exactness > self.exactness {
            *self = Self { exactness, wanted };
        } else if exactness > 0 && exactness == self.exactness {
            self.wanted |= wanted;
        }
    }
}

/// Whether a client asks for a stream of events by its name.
pub(super) fn names_events(headers: &HeaderMap) -> bool {
    ranges(headers).any(|(kind, wanted)| wanted && kind.eq_ignore_ascii_case("text/event-stream"))
}

/// The media ranges of the `Accept` header, each with whether it is wanted.
fn ranges(headers: &HeaderMap) -> impl Iterator<Item = (&str, bool)> {
    let lines = headers.get_all(ACCEPT).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let ranges = lines.flat_map(|line| line.split(',')).map(str::trim);
    ranges.filter(|range| !range.is_empty()).map(read_range)
}

/// How exactly a range names a media type; 0 when it does not.
fn exactness(range: &str, of: &str, subtype: &str) -> u8 {
    match range.split_once('/') {
        Some(("*", "*")) => 1,
        Some((kind, "*")) if kind.eq_ignore_ascii_case(of) => 2,
        Some((kind, sub)) if kind.eq_ignore_ascii_case(of) && sub.eq_ignore_ascii_case(subtype) => 3,
        _ => 0,
    }
}

/// The media range without its parameters, and whether its weight is above zero.
fn read_range(range: &str) -> (&str, bool) {
    let mut pieces = range.split(';').map(str::trim);
    let kind = pieces.next().unwrap_or_default();
    let weight = pieces.find_map(|piece| piece.strip_prefix("q=").or_else(|| piece.strip_prefix("Q=")));
    let wanted = weight.is_none_or(|weight| weight.trim().bytes().any(|digit| !matches!(digit, b'0' | b'.')));
    (kind, wanted)
}

/// Checks that the body is said to be JSON as it is, not compressed.
pub(super) fn body_is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name| {
        headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
    };
    if let Some(encoding) = text(CONTENT_ENCODING)
        && !encoding.eq_ignore_ascii_case("identity")
    {
        return Err(Refusal::Encoded(Refusal::shown(&encoding)));
    }
    if headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json")
    {
        return Ok(());
    }
    let kind = text(CONTENT_TYPE);
    let essence = kind.as_deref().and_then(|kind| kind.split(';').next());
    if essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    Err(Refusal::MediaType(kind.map(|kind| Refusal::shown(&kind))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(lines: &[&'static str]) -> (bool, bool) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, line.parse().unwrap());
        }
        let Accepts { json, events } = Accepts::of(&headers);
        (json, events)
    }

    #[test]
    fn nothing_said_and_everything_said_is_both() {
        for lines in [&[][..], &[""], &["*/*"], &["text/html, */*;q=0.8"]] {
            assert_eq!(accepts(lines), (true, true), "{lines:?}");
        }
        assert_eq!(accepts(&["application/json, text/event-stream"]), (true, true));
        assert_eq!(accepts(&["application/json", "text/event-stream"]), (true, true));
    }

    #[test]
    fn the_most_exact_range_decides() {
        assert_eq!(accepts(&["application/json"]), (true, false));
        assert_eq!(accepts(&["Text/Event-Stream; charset=utf-8"]), (false, true));
        assert_eq!(accepts(&["text/*"]), (false, true));
        assert_eq!(accepts(&["*/*, text/event-stream;q=0"]), (true, false));
        assert_eq!(
            accepts(&["application/json; q=0.0, application/*"]),
            (false, false)
        );
        assert_eq!(accepts(&["text/html, image/png;q=1.0"]), (false, false));
    }

    #[test]
    fn only_who_names_a_stream_asks_for_one() {
        let names = |line: &str| names_events(&HeaderMap::from_iter([(ACCEPT, line.parse().unwrap())]));
        assert!(names("text/event-stream") && names("application/json, Text/Event-Stream;q=0.5"));
        assert!(!names("*/*") && !names("text/*") && !names("text/event-stream;q=0"));
        assert!(!names_events(&HeaderMap::new()));
    }

    #[test]
    fn a_verb_needs_an_answer_it_can_have() {
        let only_json = Accepts {
            json: true,
            events: false,
        };
        let neither = Accepts {
            json: false,
            events: false,
        };
        assert!(only_json.allow(Verb::Post).is_ok());
        assert!(only_json.allow(Verb::Get).is_err());
        assert!(neither.allow(Verb::Post).is_err());
        assert!(neither.allow(Verb::Delete).is_ok());
    }

    #[test]
    fn a_json_body_may_have_parameters_and_any_case_but_no_compression() {
        let check = |name, value: &str| body_is_json(&HeaderMap::from_iter([(name, value.parse().unwrap())]));
        assert!(check(CONTENT_TYPE, "application/json").is_ok());
        assert!(check(CONTENT_TYPE, "Application/JSON ; charset=utf-8").is_ok());
        assert!(check(CONTENT_TYPE, "text/plain").is_err());
        assert!(check(CONTENT_TYPE, "application/jsonl").is_err());
        assert!(check(CONTENT_ENCODING, "gzip").is_err());
        assert!(body_is_json(&HeaderMap::new()).is_err());
    }
}
