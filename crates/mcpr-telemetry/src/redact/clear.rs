//! Remembers short texts in which there was nothing to hide: the same names stand in line after line.

use std::borrow::Cow;
use std::cell::RefCell;

use super::Known;

/// Longer texts are looked through each time.
const LONGEST: usize = 45;
/// How many texts a thread remembers; one takes the place of another.
const PLACES: usize = 64;

/// A text that is clear, by the values of one edition.
#[derive(Clone, Copy)]
struct Clear {
    edition: u64,
    /// None for a place without one.
    length: Option<u8>,
    /// Whether it stands in JSON as it is.
    plain: bool,
    text: [u8; LONGEST],
}

const NOTHING: Clear = Clear {
    edition: 0,
    length: None,
    plain: false,
    text: [0; LONGEST],
};

thread_local! {
    static SEEN: RefCell<[Clear; PLACES]> = const { RefCell::new([NOTHING; PLACES]) };
}

/// The text as it is, if it is known to be clear; else what `search` makes of it, which is remembered if it is
/// the same text.
pub(super) fn unless_known<'t>(
    known: &Known,
    text: &'t str,
    search: impl FnOnce() -> Cow<'t, str>,
) -> Cow<'t, str> {
    if text.len() > LONGEST {
        return search();
    }
    let place = place(text.as_bytes());
    // Fails only for an ending thread, which looks again.
    let seen = SEEN.try_with(|seen| seen.borrow()[place].is(known, text));
    if seen == Ok(true) {
        return Cow::Borrowed(text);
    }
    let told = search();
    if matches!(told, Cow::Borrowed(_)) {
        let _ = SEEN.try_with(|seen| seen.borrow_mut()[place] = Clear::of(known, text));
    }
    told
}

/// Whether the text is known to be clear, and stands in JSON as it is.
pub(crate) fn is_known_plain(known: &Known, text: &str) -> bool {
    let is_it = |seen: &RefCell<[Clear; PLACES]>| {
        let seen = &seen.borrow()[place(text.as_bytes())];
        seen.plain && seen.is(known, text)
    };
    text.len() <= LONGEST && SEEN.try_with(is_it) == Ok(true)
}

/// Whether a text of these bytes stands in JSON, and in a line, as it is.
fn is_plain(text: &[u8]) -> bool {
    let odd = |byte: u8| !(b' '..=b'~').contains(&byte) | (byte == b'"') | (byte == b'\\');
    !text.iter().fold(false, |any, byte| any | odd(*byte))
}

impl Clear {
    fn of(known: &Known, text: &str) -> Self {
        let mut clear = Self {
            edition: known.edition,
            length: Some(text.len() as u8),
            plain: is_plain(text.as_bytes()),
            ..NOTHING
        };
        clear.text[..text.len()].copy_from_slice(text.as_bytes());
        clear
    }

    fn is(&self, known: &Known, text: &str) -> bool {
        self.edition == known.edition
            && self.length == Some(text.len() as u8)
            && self.text[..text.len()] == *text.as_bytes()
    }
}

/// Where a text would stand; by its length and its ends, in which names differ.
fn place(text: &[u8]) -> usize {
    let (first, last) = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
    };
    let mixed = (first ^ last.rotate_left(29) ^ text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 58) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use crate::redact::Secrets;

    #[test]
    fn log_04_a_text_that_was_clear_is_looked_at_again_when_there_is_a_new_secret() {
        let (secrets, others) = (Secrets::default(), Secrets::default());
        for _ in 0..2 {
            assert_eq!(secrets.scrub("tool S3CRET1"), "tool S3CRET1");
            assert_eq!(secrets.scrub(""), "");
        }
        secrets.add("S3CRET1");
        for _ in 0..2 {
            assert_eq!(secrets.scrub("tool S3CRET1"), "tool [redacted]");
            assert_eq!(others.scrub("tool S3CRET1"), "tool S3CRET1");
        }
    }

    #[test]
    fn log_03_what_was_clear_and_needs_no_escape_is_known_for_it() {
        let secrets = Secrets::default();
        for (text, plain) in [
            ("my git", true),
            ("a\"b", false),
            ("é", false),
            ("a\u{7f}b", false),
        ] {
            assert!(!super::is_known_plain(&secrets.known(), text));
            secrets.scrub(text);
            assert_eq!(super::is_known_plain(&secrets.known(), text), plain, "{text:?}");
        }
        secrets.add("my git");
        assert!(!super::is_known_plain(&secrets.known(), "my git"));
    }

    #[test]
    fn log_04_texts_that_share_a_place_are_told_apart() {
        let secrets = Secrets::default();
        secrets.add("S3CRET77");
        let texts: Vec<_> = (0..500).map(|number| format!("name S3CRET{number}")).collect();
        for text in texts.iter().chain(&texts) {
            let expected = text.replace("S3CRET77", "[redacted]");
            assert_eq!(secrets.scrub(text), expected);
        }
    }
}
