//! What stands between the values of a document: white space, comments and commas.

use std::ops::Range;

/// One piece of what stands between values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Space,
    Break,
    Comment,
    Comma,
}

/// The pieces from `at` on, up to what is none.
fn pieces(text: &str, at: usize) -> impl Iterator<Item = (Kind, Range<usize>)> {
    let mut at = at;
    std::iter::from_fn(move || {
        let (kind, length) = piece(&text[at..])?;
        let range = at..at + length;
        at = range.end;
        Some((kind, range))
    })
}

fn piece(rest: &str) -> Option<(Kind, usize)> {
    let first = rest.chars().next()?;
    match first {
        '\n' | '\r' => Some((Kind::Break, 1)),
        ',' => Some((Kind::Comma, 1)),
        // The break that ends it is a piece of its own; a carriage return alone is one too.
        '/' if rest.starts_with("//") => {
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            Some((Kind::Comment, length))
        }
        '/' if rest.starts_with("/*") => Some((Kind::Comment, block(rest))),
        _ if first.is_whitespace() => Some((Kind::Space, first.len_utf8())),
        _ => None,
    }
}

/// Where the comma behind `at` stands, if that is what comes next.
pub(super) fn comma_after(text: &str, at: usize) -> Option<usize> {
    let comma = pieces(text, at).find(|(kind, _)| *kind == Kind::Comma);
    comma.map(|(_, range)| range.start)
}

/// The end of the last comment that begins on the line of `at`, or else `at`.
pub(super) fn after_comments(text: &str, at: usize) -> usize {
    let on_line = pieces(text, at).take_while(|(kind, _)| matches!(kind, Kind::Space | Kind::Comment));
    let comments = on_line.filter(|(kind, _)| *kind == Kind::Comment);
    comments.last().map_or(at, |(_, range)| range.end)
}

/// Where a line can be put in below that of `at`: behind its comments, and behind white space if
/// nothing else follows.
pub(super) fn below(text: &str, at: usize) -> usize {
    let at = after_comments(text, at);
    let rest = &text[at..];
    let behind = rest.trim_start_matches([' ', '\t']);
    let ends = behind.starts_with(['\r', '\n']);
    at + if ends { rest.len() - behind.len() } else { 0 }
}

/// The end of the last comment behind `at`, on whatever line, or else `at`.
pub(super) fn after_all_comments(text: &str, at: usize) -> usize {
    let comments = pieces(text, at).filter(|(kind, _)| *kind == Kind::Comment);
    comments.last().map_or(at, |(_, range)| range.end)
}

/// Whether a line ends between `at` and the next value or bracket.
pub(super) fn breaks_after(text: &str, at: usize) -> bool {
    pieces(text, at).any(|(kind, range)| kind == Kind::Break || text[range].contains('\n'))
}

/// Where the white space before `at` begins, no earlier than `from`; the break that ends a comment
/// is none of it.
pub(super) fn before_space(text: &str, from: usize, at: usize) -> usize {
    let kept = from + text[from..at].trim_end().len();
    let comments = pieces(text, from).filter(|(kind, range)| *kind == Kind::Comment && range.end <= at);
    match comments.last() {
        Some((_, range)) if text[range.clone()].starts_with("//") && range.end >= kept => at,
        _ => kept,
    }
}

/// Where the line of `at` begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// The white space with which the line of `at` begins.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let start = line_start(text, at);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start().len()]
}

/// Whether nothing but white space is before `at` on its line, and there is a line before it.
pub(super) fn starts_line(text: &str, at: usize) -> bool {
    let start = line_start(text, at);
    start > 0 && text[start..at].trim().is_empty()
}

/// Where the next line begins, if nothing but white space is left on this one.
pub(super) fn rest_of_blank_line(text: &str, at: usize) -> Option<usize> {
    let end = at + text[at..].find('\n')?;
    text[at..end].trim().is_empty().then_some(end + 1)
}

/// How long the comment is that begins here. The star that begins it does not end it: `/*/` is no whole one.
fn block(text: &str) -> usize {
    text[2..].find("*/").map_or(text.len(), |end| 2 + end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_is_found_behind_comments_only() {
        let text = "1 /* , */ // ,\n , 2";
        assert_eq!(comma_after(text, 1), Some(16));
        assert_eq!(comma_after("1 2", 1), None);
        assert_eq!(comma_after("1 ]", 1), None);
    }

    #[test]
    fn comments_on_a_line_belong_to_what_is_before_them() {
        let text = "1 /* a */ // b\r\n // c\n}";
        assert_eq!(&text[..after_comments(text, 1)], "1 /* a */ // b");
        assert_eq!(&text[..after_all_comments(text, 1)], "1 /* a */ // b\r\n // c");
        assert_eq!(after_comments("1  ,", 1), 1);
    }

    #[test]
    fn b61_a_carriage_return_ends_a_comment_too() {
        let text = "1 // a\r }";
        assert_eq!(&text[..after_comments(text, 1)], "1 // a");
        assert!(breaks_after(text, 1));
    }

    #[test]
    fn b61_the_star_that_begins_a_comment_does_not_end_it() {
        let text = "{ /*/ a, */ }";
        assert_eq!(&text[..after_all_comments(text, 1)], "{ /*/ a, */");
        assert_eq!(after_all_comments("{ /*/", 1), 5);
    }

    #[test]
    fn a_break_is_seen_in_a_comment_too() {
        assert!(breaks_after("1 /* \n */ }", 1));
        assert!(!breaks_after("1 /* a */ }\n", 1));
    }
}
