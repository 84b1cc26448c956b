//! Takes registered values out of a text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pairs::Pairs;
use super::spellings;
use super::{MARK, floor};

/// Shorter values are everyday words and numbers; no other credential that is taken out is as short either.
const SHORTEST: usize = 6;
/// A line of a longer value is a secret by itself from this length on.
const SHORTEST_LINE: usize = 16;
/// So much of a long value is enough to know it by.
///
/// A log value is read in a window that exceeds its limit by this much, so a secret that the
/// window cuts is still known.
pub(crate) const TELLING: usize = 1024;

/// The next edition of any values in this process.
static EDITION: AtomicU64 = AtomicU64::new(1);

/// The registered values, ordered for search.
#[derive(Clone)]
pub(crate) struct Known {
    /// Another number whenever a value was added; 0 without values.
    pub(super) edition: u64,
    begins: Pairs,
    values: HashMap<[u8; 2], Vec<Box<str>>>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            edition: 0,
            begins: Pairs::none(),
            values: HashMap::new(),
        }
    }
}

impl Known {
    /// Adds a value and the ways in which it is likely to be quoted.
    pub(super) fn add(&mut self, value: &str) {
        self.edition = EDITION.fetch_add(1, Ordering::Relaxed);
        let value = value.trim();
        self.add_spellings(value);
        self.add_spellings(without_scheme(value));
        let lines = value.lines().map(str::trim);
        // The frame of a PEM block is no secret.
        lines
            .filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----"))
            .for_each(|line| {
                self.add_spellings(line);
            });
    }

    /// The text with a mark in the place of every value.
    pub(super) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut told = String::new();
        let (mut copied, mut from) = (0, 0);
        while let Some(at) = self.begins.find(text.as_bytes(), from) {
            from = at + 1;
            let Some(length) = self.longest_at(&text.as_bytes()[at..]) else {
                continue;
            };
            // One that begins inside another only makes the gap longer.
            if at >= copied {
                told.push_str(&text[copied..at]);
                told.push_str(MARK);
            }
            copied = copied.max(at + floor(&text[at..], length));
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        told.push_str(&text[copied..]);
        Cow::Owned(told)
    }

    fn add_spellings(&mut self, value: &str) {
        self.insert(value);
        // A host is written in small letters.
        self.insert(&value.to_lowercase());
        self.insert(&value.escape_debug().to_string());
        for spelling in spellings::of(value) {
            self.insert(&spelling);
        }
    }

    fn insert(&mut self, value: &str) {
        let Some(begin) = value.as_bytes().first_chunk::<2>() else {
            return;
        };
        if value.chars().count() < SHORTEST {
            return;
        }
        let values = self.values.entry(*begin).or_default();
        if !values.iter().any(|known| **known == *value) {
            values.push(value.into());
            self.begins.insert(*begin);
        }
    }

    /// How many bytes the longest value takes that begins here.
    fn longest_at(&self, text: &[u8]) -> Option<usize> {
        let values = self.values.get(text.first_chunk::<2>()?)?;
        values
            .iter()
            .filter_map(|value| length_at(text, value.as_bytes()))
            .max()
    }
}

/// How much of the value stands at the beginning of the text, if that is enough to know it by.
fn length_at(text: &[u8], value: &[u8]) -> Option<usize> {
    let telling = value.len().min(TELLING);
    if !text.starts_with(&value[..telling]) {
        return None;
    }
    let rest = text[telling..].iter().zip(&value[telling..]);
    Some(telling + rest.take_while(|(a, b)| a == b).count())
}

/// The credentials of a header value such as `Bearer …` or `Basic …`; else the value.
fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, credentials)) if scheme.bytes().all(|b| b.is_ascii_alphabetic()) => credentials.trim(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[&str], text: &str) -> String {
        let mut known = Known::default();
        values.iter().for_each(|value| known.add(value));
        known.scrub(text).into_owned()
    }

    #[test]
    fn b26_header_and_environment_values_are_taken_out() {
        let text = "sent Bearer S3CRET1, then S3CRET1 and K=S3CRET2";
        assert_eq!(
            told(&["Bearer S3CRET1", "S3CRET2"], text),
            "sent [redacted], then [redacted] and K=[redacted]"
        );
    }

    #[test]
    fn log_04_a_value_is_known_as_json_and_debug_quote_it() {
        let value = "pa\"ss\\wo\trd";
        let text = format!("{} {value:?}", serde_json::Value::from(value));
        assert_eq!(told(&[value], &text), "\"[redacted]\" \"[redacted]\"");
    }

    #[test]
    fn log_04_a_value_is_known_as_programs_of_other_languages_spell_it() {
        let value = "Grö\u{df}e/x+y=='&z 1";
        for said in [
            r"Grö\u{df}e\/x+y=='&z 1".replace(r"\u{df}", "\u{df}"),
            r"Gr\u00f6\u00dfe/x+y=='&z 1".to_owned(),
            r"Gr\u00f6\u00dfe\/x+y=='&z 1".to_owned(),
            r"Gr\u00F6\u00DFe/x\u002By==\u0027\u0026z 1".to_owned(),
            "Gr%C3%B6%C3%9Fe%2Fx%2By%3D%3D%27%26z%201".to_owned(),
            "gr%c3%b6%c3%9fe%2fx%2by%3d%3d%27%26z%201".to_owned(),
            "Gr%C3%B6%C3%9Fe%2Fx%2By%3D%3D%27%26z+1".to_owned(),
        ] {
            assert_eq!(told(&[value], &format!("a {said} b")), "a [redacted] b", "{said}");
        }
    }

    #[test]
    fn log_04_a_value_is_known_as_python_shows_it() {
        for (value, said) in [
            ("pa\"ss\\wo".to_owned(), r#"'pa"ss\\wo'"#.to_owned()),
            ("pa\"s's\\wo".to_owned(), r#"'pa"s\'s\\wo'"#.to_owned()),
            ("pa's\\wo".to_owned(), r#""pa's\\wo""#.to_owned()),
        ] {
            let quote = &said[..1];
            assert_eq!(
                told(&[&value], &said),
                format!("{quote}[redacted]{quote}"),
                "{said}"
            );
        }
    }

    #[test]
    fn log_04_of_values_that_begin_alike_the_longest_goes() {
        assert_eq!(
            told(&["secret", "secret-two"], "secret-two, secret-one"),
            "[redacted], [redacted]-one"
        );
    }

    #[test]
    fn log_04_of_values_that_overlap_nothing_is_left() {
        assert_eq!(told(&["abcdef", "defghi"], "an abcdefghi"), "an [redacted]");
    }

    #[test]
    fn log_04_a_line_of_a_key_file_is_a_secret_by_itself() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nshort\n-----END KEY-----";
        assert_eq!(
            told(&[key], "read MIIEvQIBADANBgkqhkiG, short"),
            "read [redacted], short"
        );
    }

    #[test]
    fn log_04_a_long_value_is_known_by_its_beginning() {
        let value = "k".repeat(TELLING) + &"v".repeat(3000);
        assert_eq!(told(&[&value], &format!("{}…", &value[..2000])), "[redacted]…");
    }

    #[test]
    fn short_values_are_left_alone_and_nothing_is_copied() {
        let mut known = Known::default();
        ["true", "", "  1234 "]
            .into_iter()
            .for_each(|value| known.add(value));
        assert!(matches!(known.scrub("true 1234"), Cow::Borrowed("true 1234")));
    }
}
