//! How deep a JSON text is nested.

use memchr::memchr2;

/// Whether objects and arrays stand within each other more than `most` deep. The text must be JSON;
/// of any other the answer means nothing.
///
/// Reading it needs no stack and no memory, however deep it is.
pub(crate) fn exceeds(text: &[u8], most: usize) -> bool {
    if text.len() <= 2 * most {
        return false; // Each level has its two brackets.
    }
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'{' | b'[' if depth == most => return true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => rest = after_string(rest),
            _ => {}
        }
    }
    false
}

/// What follows a string, from behind its first quote on.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        let escaped = usize::from(rest[at] == b'\\');
        let (found, end) = (rest[at], at + 1 + escaped);
        rest = rest.get(end..).unwrap_or_default();
        if found == b'"' {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize) -> String {
        (0..depth).fold("7".to_owned(), |inner, level| match level % 2 {
            0 => format!(r#"{{"a\"[{{":{inner}}}"#),
            _ => format!("[{inner}]"),
        })
    }

    #[test]
    fn sec_05_levels_are_counted_whatever_they_are_and_strings_are_none() {
        for depth in [0, 1, 2, 7, 128] {
            assert!(!exceeds(nested(depth).as_bytes(), depth), "{depth}");
            assert!(
                depth == 0 || exceeds(nested(depth).as_bytes(), depth - 1),
                "{depth}"
            );
        }
        let flat = format!("[{}]", vec!["[{}]"; 1000].join(","));
        assert!(!exceeds(flat.as_bytes(), 3) && exceeds(flat.as_bytes(), 2));
        let text = format!(r#""{}""#, r#"[[[\\\"[[["#.repeat(100));
        assert!(!exceeds(text.as_bytes(), 1));
    }

    #[test]
    fn a_text_of_brackets_alone_takes_neither_stack_nor_time() {
        let text = "[".repeat(4 << 20);
        assert!(exceeds(text.as_bytes(), 128));
        assert!(!exceeds(text.as_bytes(), 4 << 20));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_looked_at(text in prop::collection::vec(prop::sample::select(b"[]{}\"\\a".to_vec()), 0..80), most in 0usize..4) {
            let _ = exceeds(&text, most);
        }
    }
}
