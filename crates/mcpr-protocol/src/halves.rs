//! Halves of characters: escapes that JSON's grammar allows and that are no text.

use memchr::memchr;

/// How long an escape of one unit of UTF-16 is, such as `\ud83d`.
const ESCAPE: usize = 6;

/// The first half of a surrogate pair that stands alone, as it is written. The text must be JSON.
pub(crate) fn first(text: &str) -> Option<&str> {
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &text.as_bytes()[at..]) {
        let start = at + found;
        let Some(unit) = unit_at(text, start) else {
            at = start + 2; // The escape of a single character, such as `\"`.
            continue;
        };
        at = start + ESCAPE;
        let follows = || unit_at(text, at).is_some_and(|next| (0xdc00..0xe000).contains(&next));
        match unit {
            0xd800..0xdc00 if follows() => at += ESCAPE,
            0xd800..0xe000 => return text.get(start..start + ESCAPE),
            _ => {}
        }
    }
    None
}

/// The unit of UTF-16 that is escaped here.
fn unit_at(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_characters_and_what_only_looks_like_an_escape_are_none() {
        for text in [
            r#""a""#,
            r#""\ud83d\udda5é🖥\n\"""#,
            r#""\\ud800""#,
            r#""\u0041\/""#,
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }

    #[test]
    fn a_half_is_found_wherever_it_stands() {
        for text in [r#""\ud800""#, r#""é\uD800x""#, r#"{"\ud800\ud800\udc00":1}"#] {
            assert!(
                first(text).is_some_and(|half| half.eq_ignore_ascii_case("\\ud800")),
                "{text}"
            );
        }
        assert_eq!(first(r#""\udc00\ud800""#), Some("\\udc00"));
    }

    proptest! {
        #[test]
        fn what_serde_reads_as_text_has_no_halves(text in r#"(\\u(d83d|dda5|0041)|\\\\|\\"|a){0,8}"#) {
            let json = format!("\"{text}\"");
            let read = serde_json::from_str::<String>(&json);
            prop_assert_eq!(first(&json).is_none(), read.is_ok(), "{}", json);
        }
    }
}
