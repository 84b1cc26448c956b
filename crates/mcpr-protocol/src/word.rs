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
}
