//! Words that tell whether a text needs a closer look.

use std::sync::OnceLock;

use memchr::memmem::Finder;

/// A word to look for. What searches for it is made once: that costs more than to look through a
/// short text.
#[derive(Debug)]
pub struct Word {
    text: &'static str,
    finder: OnceLock<Finder<'static>>,
}

/// Which of the words that are asked for often begin a string of a text.
///
/// It is found out while a message is parsed, so that large results need not be read again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks(u8);

/// A word that is asked for often, with the quote that it begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A resource, or a link to one.
    Resource,
    /// The block of a sound.
    Audio,
    /// A name that says with the value `true` that a tool failed.
    Failure,
    /// What says that a server wants to know something first.
    InputRequired,
    /// What every task has.
    TaskId,
    /// What names a resource.
    Uri,
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
    fn is_told_true_in(&self, text: &[u8]) -> bool {
        let mut found = self.finder().find_iter(text);
        found.any(|at| is_true(&text[at + self.text.len()..]))
    }

    fn finder(&self) -> &Finder<'static> {
        self.finder.get_or_init(|| Finder::new(self.text))
    }
}

/// Whether what follows a name is the value `true`.
fn is_true(behind: &[u8]) -> bool {
    let value = behind.trim_ascii_start().strip_prefix(b":");
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
}

impl Mark {
    /// The word.
    pub(crate) fn word(self) -> &'static Word {
        static RESOURCE: Word = Word::new("\"resource");
        static AUDIO: Word = Word::new("\"audio\"");
        static IS_ERROR: Word = Word::new("\"isError\"");
        static INPUT_REQUIRED: Word = Word::new("\"input_required\"");
        static TASK_ID: Word = Word::new("\"taskId\"");
        static URI: Word = Word::new("\"uri\"");
        match self {
            Self::Resource => &RESOURCE,
            Self::Audio => &AUDIO,
            Self::Failure => &IS_ERROR,
            Self::InputRequired => &INPUT_REQUIRED,
            Self::TaskId => &TASK_ID,
            Self::Uri => &URI,
        }
    }

    /// Whether a text holds it, wherever.
    pub(crate) fn is_in(self, text: &[u8]) -> bool {
        match self {
            Self::Failure => self.word().is_told_true_in(text),
            other => other.word().is_in(text),
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Marks {
    /// Notes what begins here, behind a quote.
    pub(crate) fn note(&mut self, text: &[u8]) {
        let mark = match text {
            [b'r', b'e', ..] => Mark::Resource,
            [b'a', b'u', ..] => Mark::Audio,
            [b'i', b's', ..] => Mark::Failure,
            [b'i', b'n', ..] => Mark::InputRequired,
            [b't', b'a', ..] => Mark::TaskId,
            [b'u', b'r', ..] => Mark::Uri,
            _ => return,
        };
        let rest = text.strip_prefix(&mark.word().text.as_bytes()[1..]);
        let counts = rest.is_some_and(|rest| mark != Mark::Failure || is_true(rest));
        self.0 |= if counts { mark.bit() } else { 0 };
    }

    pub(crate) fn has(self, mark: Mark) -> bool {
        self.0 & mark.bit() != 0
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
