//! Words that are looked for in texts which nobody has taken apart.

use std::sync::OnceLock;

use memchr::memmem::Finder;

/// A word to look for. What searches for it is made once: that costs more than to look through a
/// short text.
#[derive(Debug)]
pub struct Word {
    text: &'static str,
    finder: OnceLock<Finder<'static>>,
}

impl Word {
    /// A word to keep in a `static`.
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            finder: OnceLock::new(),
        }
    }

    /// Whether a text holds it.
    pub fn is_in(&self, text: &[u8]) -> bool {
        text.len() >= self.text.len() && self.finder().find(text).is_some()
    }

    /// Whether it stands in a text as a name, in its quotes, with the value `true`.
    pub fn is_told_true_in(&self, text: &[u8]) -> bool {
        let mut found = self.finder().find_iter(text);
        found.any(|at| {
            let behind = text[at + self.text.len()..].trim_ascii_start();
            let value = behind.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
            value.is_some_and(|value| value.starts_with(b"true"))
        })
    }

    fn finder(&self) -> &Finder<'static> {
        self.finder.get_or_init(|| Finder::new(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_stands_and_not_in_a_part_of_it() {
        static WORD: Word = Word::new("\"isError\"");
        let texts = [
            r#"{"isError":true}"#,
            r#""isError""#,
            r#"{"isErro":1}"#,
            "",
            "\"isError",
        ];
        assert_eq!(
            texts.map(|text| WORD.is_in(text.as_bytes())),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn only_a_name_with_that_value_is_told_true() {
        static WORD: Word = Word::new("\"isError\"");
        let texts = [
            r#"{"isError":true}"#,
            "{\"isError\" : \n true }",
            r#"{"isError":false,"x":{"isError":true}}"#,
            r#"{"isError":false}"#,
            r#"["isError",true]"#,
            r#"{"isError":"#,
        ];
        assert_eq!(
            texts.map(|text| WORD.is_told_true_in(text.as_bytes())),
            [true, true, true, false, false, false]
        );
    }
}
