//! Keeps secrets out of what mcpr tells: log lines, and error texts on their way to clients.
//!
//! Two things are taken out of every text: the values that were registered as [`Secrets`], and
//! what looks like a credential wherever it comes from (mcpr's own tokens and those of well-known issuers,
//! `Authorization`, `Bearer`, private keys, the query and user of a web address).

mod clear;
mod issued;
mod known;
mod pairs;
mod shapes;
mod spellings;
mod unescape;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::RwLock;

use self::unescape::{DEPTH, Kind, Plain, is_of_program};

pub(crate) use clear::is_known_plain;
pub(crate) use known::{Known, TELLING};

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";

/// The values that must not be told, shared by all clones.
///
/// A registered value stays registered: a server that left the configuration may still be quoted
/// in an error text.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Arc<Known>>>);

impl Secrets {
    /// Registers the value of a header, an environment variable or a token.
    ///
    /// Also registered are the ways in which the value is likely to be quoted: as the JSON of several
    /// languages, a URL and a form spell it, in small letters, without its scheme (`Bearer …`), and each long line of it;
    /// behind any other escapes it is found by what they mean. Values under six characters are
    /// ignored, since replacing every `1` or `true` would make the log unreadable.
    pub fn add(&self, value: &str) {
        Arc::make_mut(&mut self.0.write()).add(value);
    }

    /// Registers the user, the password and the query values of a URL.
    pub fn add_url(&self, url: &str) {
        let parts = parts(url);
        let pairs = parts.hidden.split(['?', '&', '#']);
        let values = pairs.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        let known = &mut *self.0.write();
        parts
            .user
            .split(':')
            .chain(values)
            .for_each(|value| Arc::make_mut(known).add(value));
    }

    /// Registers a name that everybody sees anyway, such as that of a server. Where it stands alone it is told, also if
    /// the value of a variable is the same: a record without it could not be found again.
    pub fn add_name(&self, name: &str) {
        if !self.known().is_name(name) {
            Arc::make_mut(&mut self.0.write()).add_name(name);
        }
    }

    /// The text without secrets; borrowed when there was nothing to take out.
    ///
    /// The cost is one pass over the text, however many values are registered.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        scrub(&self.known(), text)
    }

    /// The text without secrets, or its first `max` bytes and how much is missing. What is cut off costs nothing.
    pub fn scrub_within<'t>(&self, text: &'t str, max: usize) -> Cow<'t, str> {
        bounded(&self.known(), text, max, 0)
    }

    /// The values as they are now; held for the length of a log line.
    pub(crate) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.0.read())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// The URL without user, password, query and fragment.
///
/// ```
/// # use mcpr_telemetry::redact;
/// assert_eq!(redact::url("https://me:pw@example.com/mcp?key=1"), "https://example.com/mcp");
/// ```
pub fn url(url: &str) -> Cow<'_, str> {
    if !url.bytes().any(|byte| matches!(byte, b'?' | b'#' | b'@')) {
        return Cow::Borrowed(url);
    }
    let parts = parts(url);
    if parts.user.is_empty() {
        Cow::Borrowed(&url[..url.len() - parts.hidden.len()])
    } else {
        Cow::Owned([parts.scheme, parts.place].concat())
    }
}

/// The text, or its first `max` bytes and how much is missing.
///
/// The cut falls between characters, so a few bytes fewer may be left.
///
/// ```
/// # use mcpr_telemetry::redact;
/// assert_eq!(redact::cut("a long answer", 6), "a long… (7 bytes more)");
/// ```
pub fn cut(text: &str, max: usize) -> Cow<'_, str> {
    cut_before(text, max, 0)
}

/// [`cut`], for a text of which `missing` bytes are gone already.
pub fn cut_before(text: &str, max: usize, missing: usize) -> Cow<'_, str> {
    let kept = floor(text, max);
    let more = text.len() - kept + missing;
    if more == 0 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}… ({more} bytes more)", &text[..kept]))
}

/// The last boundary between characters at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// [`Secrets::scrub_within`], with the values at hand, for a text of which `missing` bytes are gone already. More is
/// looked at than is left: a secret that begins before the cut must be seen far enough to be known.
pub(crate) fn bounded<'t>(known: &Known, text: &'t str, max: usize, missing: usize) -> Cow<'t, str> {
    let seen = floor(text, max.saturating_add(TELLING));
    let missing = missing + text.len() - seen;
    match scrub(known, &text[..seen]) {
        Cow::Borrowed(text) => cut_before(text, max, missing),
        Cow::Owned(text) => Cow::Owned(cut_before(&text, max, missing).into_owned()),
    }
}

/// [`Secrets::scrub`], with the values at hand.
pub(crate) fn scrub<'t>(known: &Known, text: &'t str) -> Cow<'t, str> {
    clear::unless_known(known, text, || searched(known, text))
}

fn searched<'t>(known: &Known, text: &'t str) -> Cow<'t, str> {
    let told = match known.scrub(text) {
        Cow::Borrowed(text) => shapes::scrub(text),
        Cow::Owned(text) => Cow::Owned(shapes::scrub(&text).into_owned()),
    };
    let quoted = quoted(known, &told);
    match (told, quoted.is_empty()) {
        (Cow::Borrowed(text), true) => Cow::Borrowed(text),
        _ if known.is_name(text) => Cow::Borrowed(text),
        (told, true) => told,
        (told, false) => Cow::Owned(marked(&told, quoted).into_owned()),
    }
}

/// Where secrets stand that are told only by what the escapes around and in them mean.
fn quoted(known: &Known, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for kind in [Kind::Usual, Kind::Program] {
        if kind == Kind::Program && !is_of_program(text) {
            continue;
        }
        let mut plain = Plain::of(text).and_then(|plain| plain.unescaped(kind));
        for _ in 0..DEPTH {
            let Some(once) = &plain else { break };
            let gaps = known.gaps(&once.text).chain(shapes::gaps(&once.text));
            found.extend(gaps.map(|gap| once.place(gap)).filter(|gap| !gap.is_empty()));
            plain = once.unescaped(Kind::Usual);
        }
    }
    found.sort_by_key(|gap| gap.start);
    found
}

/// The text with a mark in the place of every gap; of those that overlap there is one.
fn marked(text: &str, gaps: impl IntoIterator<Item = Range<usize>>) -> Cow<'_, str> {
    let mut told = String::new();
    let mut copied = 0;
    for gap in gaps {
        if told.is_empty() || gap.start >= copied {
            told.push_str(&text[copied..gap.start]);
            told.push_str(MARK);
        }
        copied = copied.max(gap.end);
    }
    if told.is_empty() {
        return Cow::Borrowed(text);
    }
    told.push_str(&text[copied..]);
    Cow::Owned(told)
}

/// A URL in pieces that lie one after the other.
struct Parts<'u> {
    /// Up to and with `//`.
    scheme: &'u str,
    /// User and password, without the `@` that follows.
    user: &'u str,
    /// Host and path.
    place: &'u str,
    /// Query and fragment, from the `?` or `#` on.
    hidden: &'u str,
}

fn parts(url: &str) -> Parts<'_> {
    let (open, hidden) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let (scheme, rest) = open.split_at(open.find("://").map_or(0, |at| at + 3));
    let host_end = rest.find('/').unwrap_or(rest.len());
    let user_end = if scheme.is_empty() {
        None
    } else {
        rest[..host_end].rfind('@')
    };
    let (user, place) = user_end.map_or(("", rest), |at| (&rest[..at], &rest[at + 1..]));
    Parts {
        scheme,
        user,
        place,
        hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn b26_a_url_is_told_without_its_keys() {
        let told = [
            "https://h/p?key=S3CRET3#S3CRET3",
            "https://u:S3CRET3@h:81/p",
            "/mcp?token=S3CRET3",
            "https://h/@scope/p",
        ]
        .map(url);
        assert_eq!(
            told,
            ["https://h/p", "https://h:81/p", "/mcp", "https://h/@scope/p"]
        );
    }

    #[test]
    fn b26_the_keys_of_a_configured_url_are_secrets_by_themselves() {
        let secrets = Secrets::default();
        secrets.add_url("https://robot:S3CRET1@h/p?v=2&key=S3CRET3");

        let told = secrets.scrub("401 for robot: S3CRET1 and S3CRET3 are refused");

        assert_eq!(told, "401 for robot: [redacted] and [redacted] are refused");
    }

    #[test]
    fn log_04_a_cut_never_splits_a_character() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("ééé", 3), "é… (4 bytes more)");
        assert_eq!(cut("ééé", 0), "… (6 bytes more)");
    }

    #[test]
    fn log_04_a_clone_knows_what_is_added_later() {
        let secrets = Secrets::default();
        let clone = secrets.clone();
        secrets.add("S3CRET2");

        assert_eq!(clone.scrub("K=S3CRET2"), "K=[redacted]");
        assert_eq!(format!("{clone:?}"), "Secrets(..)");
    }

    #[test]
    fn log_03_a_name_that_everybody_sees_is_told_where_it_stands_alone() {
        let secrets = Secrets::default();
        secrets.add("postgres");
        secrets.add_name("postgres");
        secrets.add("hunter2");
        for _ in 0..2 {
            assert_eq!(secrets.scrub("postgres"), "postgres");
            assert_eq!(secrets.scrub("no postgres"), "no [redacted]");
            assert_eq!(secrets.scrub("hunter2"), "[redacted]");
        }
    }

    proptest! {
        #[test]
        fn log_04_no_registered_value_survives(
            values in prop::collection::vec("[A-Z0-9é\"\\\\ ]{6,12}", 1..4),
            noise in "\\PC{0,12}",
        ) {
            let secrets = Secrets::default();
            values.iter().for_each(|value| secrets.add(value));
            let text = values.iter().fold(noise.clone(), |text, value| text + value + &noise);

            let told = secrets.scrub(&text);

            for value in values.iter().map(|value| value.trim()).filter(|value| value.chars().count() >= 6) {
                prop_assert!(!told.contains(value), "{value:?} is in {told:?}");
            }
        }

        #[test]
        fn log_04_any_text_can_be_scrubbed_and_cut(text in "(\\PC|Bearer |Authorization:|https://|mcpr_pat_|[?#@\"'=]){0,40}") {
            let once = Secrets::default().scrub(&text).into_owned();
            prop_assert_eq!(&Secrets::default().scrub(&once), &once);
            prop_assert!(cut(&text, 7).len() <= 7 + "… (000 bytes more)".len());
        }
    }
}
