//! The words of a command line that is one text.

use std::ops::Range;

/// A word as its program gets it.
#[derive(Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// Where each of its bytes stands in the line.
    places: Vec<usize>,
}

impl Word {
    /// Where a part of it, which is not empty, stands in the line.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        self.places[part.start]..self.places[part.end - 1] + 1
    }

    fn push(&mut self, at: usize, c: char) {
        self.text.push(c);
        self.places.extend(at..at + c.len_utf8());
    }

    fn of(line: &str, word: &str) -> Self {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        Self {
            text: word.to_owned(),
            places: (at..at + word.len()).collect(),
        }
    }
}

/// The words as a shell parts them, without their quotes; one of which the quotes do not end is not for a shell.
pub(super) fn of(line: &str) -> Vec<Word> {
    quoted(line).unwrap_or_else(|| {
        let words = line.split_whitespace();
        words.map(|word| Word::of(line, word)).collect()
    })
}

fn quoted(line: &str) -> Option<Vec<Word>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Word>, None);
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(quote_now), c) if c == quote_now => quote = None,
            (None | Some('"'), '\\') => {
                let (at, c) = chars.next()?;
                word.get_or_insert_default().push(at, c);
            }
            (_, c) => word.get_or_insert_default().push(at, c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        of(line).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn log_04_a_line_has_the_words_that_a_shell_makes_of_it() {
        for (line, expected) in [
            ("a  b\u{3000}c", &["a", "b", "c"][..]),
            (
                r#"a='b c' "d \"e\"" f\ g '' h"i"'j'"#,
                &["a=b c", "d \"e\"", "f g", "", "hij"],
            ),
            ("it's a b", &["it's", "a", "b"]),
            (r"a b\", &["a", r"b\"]),
            ("", &[]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn log_04_a_part_of_a_word_is_found_again_where_it_was() {
        let line = "a 'b=\u{df} c'\\d";
        let word = &of(line)[1];
        assert_eq!(word.text, "b=\u{df} cd");
        assert_eq!(&line[word.place(2..7)], "\u{df} c'\\d");
        assert_eq!(&line[word.place(2..4)], "\u{df}");
    }
}
