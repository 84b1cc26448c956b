//! The beginning of what a peer has said, for people.

/// How many letters are shown.
pub(crate) const SHOWN: usize = 200;

/// How many bytes are looked at for that.
pub(crate) const LOOKED_AT: usize = 4096;

/// The beginning of a text, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control());
    let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown + "…"
    } else {
        line
    }
}

/// The same of bytes that may be no text.
pub(crate) fn excerpt_of(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_05_of_a_long_text_the_beginning_is_shown_on_one_line() {
        assert_eq!(
            excerpt_of(b" it\tis \x1b[1m\xffbold\r\n"),
            "it is [1m\u{fffd}bold"
        );
        let shown = excerpt_of(&vec![b'a'; 8 << 20]);
        assert_eq!(shown.chars().count(), SHOWN + 1);
    }
}
