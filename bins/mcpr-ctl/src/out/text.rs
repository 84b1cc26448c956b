//! Texts of servers, made harmless for a terminal.

/// The text in one line: runs of white space become one space, what could command a terminal is left out.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !commands(*c)).collect()
}

/// The text with its lines, without what could command a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !commands(*c))
        .collect()
}

/// Control characters move the cursor and more; bidirectional marks show a text as another one.
fn commands(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most `width` letters of the text; what was cut off shows as `…`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_left_out() {
        let text = "a\x1b[31mb\u{7}\n c\u{202e}d\r\te";

        assert_eq!(one_line(text), "a[31mb cd e");
        assert_eq!(printable(text), "a[31mb\n cd\te");
    }

    #[test]
    fn a_long_text_is_cut_and_shows_it() {
        assert_eq!(cut("status", 6), "status");
        assert_eq!(cut("a status", 4), "a s…");
        assert_eq!(cut("a status", 3), "a…");
        assert_eq!(cut("äöü", 2), "ä…");
    }
}
