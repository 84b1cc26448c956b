//! Texts of servers, made harmless for a terminal.

use mcpr_telemetry::commands;

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

/// A JSON text with its lines, where what commands a terminal and what nobody sees is written as JSON escapes it:
/// for whoever has to judge what a server wrote.
pub(crate) fn visible(json: &str) -> String {
    escaped(json, |c| commands(c) || is_unseen(c))
}

/// A JSON text where what could command a terminal is written as JSON escapes it: it means the same.
pub(crate) fn tame_json(json: &str) -> String {
    escaped(json, commands)
}

/// A JSON text with some characters as JSON escapes them. Line ends aside, these must be within strings.
fn escaped(json: &str, is_meant: impl Fn(char) -> bool) -> String {
    let mut units = [0; 2];
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_meant(c) {
            text.push(c);
            continue;
        }
        let escapes = c.encode_utf16(&mut units).iter();
        text.extend(escapes.map(|unit| format!("\\u{unit:04x}")));
    }
    text
}

/// Characters without a shape, in which a text can hide that a model reads (Unicode 16, `Cf` and tags).
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    )
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
    fn ctl_04_what_cannot_be_seen_shows_as_json_escapes_it() {
        let text = "a\u{202e}b\u{200b}c\u{e0041}\td\ne\u{9b}é";
        assert_eq!(
            visible(text),
            "a\\u202eb\\u200bc\\udb40\\udc41\\u0009d\ne\\u009bé"
        );
    }

    #[test]
    fn ctl_04_json_on_a_terminal_means_the_same_and_commands_nothing() {
        let json = serde_json::json!({ "text": "a\u{9b}31m\u{202e}\u{7f}\u{2028}é🖥" });

        let tame = tame_json(&json.to_string());

        assert!(!tame.chars().any(commands), "{tame}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&tame).unwrap(), json);
    }

    #[test]
    fn a_long_text_is_cut_and_shows_it() {
        assert_eq!(cut("status", 6), "status");
        assert_eq!(cut("a status", 4), "a s…");
        assert_eq!(cut("a status", 3), "a…");
        assert_eq!(cut("äöü", 2), "ä…");
    }
}
