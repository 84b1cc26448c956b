//! Takes registered values out of a text.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pairs::Pairs;
use super::spellings;
use super::{floor, marked};

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
    /// In their order, by their first two bytes.
    values: HashMap<[u8; 2], Vec<Box<str>>>,
    /// What is told where it stands alone.
    names: HashSet<Box<str>>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            edition: 0,
            begins: Pairs::none(),
            values: HashMap::new(),
            names: HashSet::new(),
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

    /// Adds a name that everybody sees.
    pub(super) fn add_name(&mut self, name: &str) {
        self.names.insert(name.into());
    }

    pub(super) fn is_name(&self, text: &str) -> bool {
        self.names.contains(text)
    }

    /// The text with a mark in the place of every value.
    pub(super) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        marked(text, self.gaps(text))
    }

    /// Where the values stand, in their order. One that begins inside another makes that longer.
    pub(super) fn gaps<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let at = self.begins.find(text.as_bytes(), from)?;
                from = at + 1;
                if let Some(length) = self.longest_at(&text.as_bytes()[at..]) {
                    return Some(at..at + floor(&text[at..], length));
                }
            }
        })
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
        if let Err(place) = values.binary_search_by(|known| (**known).cmp(value)) {
            values.insert(place, value.into());
            self.begins.insert(*begin);
        }
    }

    /// How many bytes the longest value takes that begins here.
    ///
    /// Those that begin as the text does are fewer with each byte, and are found without a look at the others: many
    /// that begin alike (`Bearer …`) make a text that repeats their beginning no dearer.
    fn longest_at(&self, text: &[u8]) -> Option<usize> {
        let mut like: &[Box<str>] = self.values.get(text.first_chunk::<2>()?)?;
        let mut longest = None;
        for at in 2..TELLING {
            // The shortest is the first of those that begin alike.
            if like.first().is_some_and(|value| value.len() == at) {
                longest = Some(at);
                like = &like[1..];
            }
            let Some(&byte) = text.get(at).filter(|_| !like.is_empty()) else {
                return longest;
            };
            let from = like.partition_point(|value| value.as_bytes()[at] < byte);
            let to = like.partition_point(|value| value.as_bytes()[at] <= byte);
            like = &like[from..to];
            match like {
                [] => return longest,
                [value] => return length_at(text, value.as_bytes()).or(longest),
                _ => {}
            }
        }
        let lengths = like.iter().filter_map(|value| length_at(text, value.as_bytes()));
        lengths.max().or(longest)
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
    use proptest::prelude::*;

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
            "Gr\u{c3}\u{b6}\u{c3}\u{9f}e/x+y=='&z 1".to_owned(),
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
    fn log_04_a_value_is_known_as_a_shell_a_table_and_a_query_quote_it() {
        let value = "pa'ss\"w";
        for said in [
            r#"'pa''ss"w'"#,
            r#"'pa'\''ss"w'"#,
            r#"'pa'"'"'ss"w'"#,
            r#""pa'ss""w""#,
        ] {
            let quote = &said[..1];
            assert_eq!(
                told(&[value], said),
                format!("{quote}[redacted]{quote}"),
                "{said}"
            );
        }
    }

    #[test]
    fn log_04_a_value_is_known_by_what_its_escapes_mean() {
        let secrets = crate::redact::Secrets::default();
        secrets.add("a<b>&c/d\\e==");
        for said in [
            r"a\u003cb\u003e\u0026c/d\\e==",      // Go's JSON.
            "a&lt;b&gt;&amp;c/d\\e==",            // HTML.
            "a%3Cb%3E&c/d%5Ce==",                 // Most of a URL as it is.
            r"a\\u003cb\\u003e\\u0026c/d\\\\e==", // JSON in JSON.
            r"a\x3cb\x3e\x26c/d\x5ce\x3d\x3d",    // A program's string.
            r"a\<b\>\&c/d\\e\=\=",                // A shell's word.
            r"a\074b\076&c/d\134e==",             // C, with octal numbers.
        ] {
            assert_eq!(
                secrets.scrub(&format!("k={said}, no")),
                "k=[redacted], no",
                "{said}"
            );
        }
    }

    #[test]
    fn log_04_a_backslash_of_the_value_itself_hides_no_escape_behind_it() {
        let secrets = crate::redact::Secrets::default();
        secrets.add("a<b'\\&c/\\\"d");
        for said in [
            "a&lt;b&#x27;\\&amp;c/\\&quot;d",
            r#"a<b'\\&c/\\\"d"#,
            "a%3Cb'%5C%26c/%5C%22d",
        ] {
            assert_eq!(secrets.scrub(said), "[redacted]", "{said}");
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
    fn sec_05_many_values_that_begin_alike_make_no_text_dear() {
        let values: Vec<String> = (0..500)
            .map(|number| format!("Bearer token-{number:03}-S3CRET"))
            .collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        // Each beginning is looked up once; it was compared with all values.
        for text in [
            "Be".repeat(200_000),
            "Bearer ".repeat(50_000),
            "Bearer token-4".repeat(20_000),
        ] {
            assert_eq!(told(&values, &text), text);
        }
    }

    proptest! {
        #[test]
        fn log_04_the_longest_value_is_found_among_all(
            values in prop::collection::vec("[ab]{6,9}", 1..12),
            text in "[ab]{0,40}",
        ) {
            let mut known = Known::default();
            values.iter().for_each(|value| known.insert(value));
            for at in 0..text.len() {
                let longest = values.iter().filter(|value| text[at..].starts_with(value.as_str()));
                prop_assert_eq!(known.longest_at(&text.as_bytes()[at..]), longest.map(String::len).max());
            }
        }
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
