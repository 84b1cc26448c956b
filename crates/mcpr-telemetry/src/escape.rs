//! Writes text so that it stays one value on one line.

use std::io::Write;

/// Appends `text` as a JSON string, quotes included. What could command the terminal of somebody who looks at
/// the file is escaped too.
pub(crate) fn json(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // Without a branch for each byte: nearly all texts are clear.
    let odd = |byte: u8| !byte.is_ascii() | (byte < b' ') | (byte == b'"') | (byte == b'\\');
    if !bytes.iter().fold(false, |any, byte| any | odd(*byte)) {
        out.reserve(bytes.len() + 2);
        out.push(b'"');
        out.extend_from_slice(bytes);
        return out.push(b'"');
    }
    if !text.is_ascii() {
        return json_chars(out, text);
    }
    out.push(b'"');
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            out.extend_from_slice(&bytes[copied..at]);
            json_byte(out, byte);
            copied = at + 1;
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// The same for a text with other characters than those of ASCII.
fn json_chars(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' | '\\' | '\0'..='\u{1f}' => json_byte(out, c as u8),
            _ if commands(c) => put(out, format_args!("\\u{:04x}", u32::from(c))),
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// Appends `text` as the value of a `key=value`: bare where that is clear, else in quotes.
pub(crate) fn value(out: &mut Vec<u8>, text: &str) {
    let clear = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'=';
    if !text.is_empty() && text.bytes().all(clear) {
        out.extend_from_slice(text.as_bytes());
    } else {
        out.push(b'"');
        text.chars().for_each(|c| quoted_char(out, c));
        out.push(b'"');
    }
}

/// Appends `text` as it is, but for characters that move the cursor or end the line.
///
/// Text from a server must not be able to forge a second line or to command a terminal.
pub(crate) fn prose(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        out.extend_from_slice(text.as_bytes());
    } else {
        text.chars().for_each(|c| tame_char(out, c));
    }
}

fn json_byte(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => put(out, format_args!("\\u{byte:04x}")),
    }
}

fn quoted_char(out: &mut Vec<u8>, c: char) {
    if matches!(c, '"' | '\\') {
        out.push(b'\\');
    }
    tame_char(out, c);
}

fn tame_char(out: &mut Vec<u8>, c: char) {
    if commands(c) {
        put(out, format_args!("{}", c.escape_default()));
    } else {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}
/// Appends a number in digits; the machinery of `format_args!` takes several times as long.
pub(crate) fn number(out: &mut Vec<u8>, number: u64) {
    let (mut digits, mut rest, mut at) = ([0; 20], number, 20);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}

/// The text with an escape for what a terminal or a page would obey ([`commands`]), line ends included.
///
/// ```
/// # use mcpr_telemetry::printable;
/// assert_eq!(printable("a\u{1b}[2Kb\u{202e}"), r"a\u{1b}[2Kb\u{202e}");
/// ```
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match commands(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

/// Whether a terminal or a page would obey the character: control characters, and those that are none: the separators
/// of lines and the marks that turn the direction of writing.
pub fn commands(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control()
}

/// Appends formatted text.
pub(crate) fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing into a vector does not fail; a `Display` that does leaves what it had written.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(&mut Vec<u8>, &str), text: &str) -> String {
        let mut out = Vec::new();
        write(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_reads_back_whatever_it_holds() {
        let text: String = (0..0x200)
            .filter_map(char::from_u32)
            .chain("é\u{2028}🖥".chars())
            .collect();

        let back: String = serde_json::from_str(&written(json, &text)).unwrap();

        assert_eq!(back, text);
    }

    #[test]
    fn a_number_has_all_its_digits() {
        for count in [0, 7, 10, 999, 1_000_000, u64::MAX] {
            let mut out = Vec::new();
            number(&mut out, count);
            assert_eq!(out, count.to_string().as_bytes());
        }
    }

    #[test]
    fn json_commands_no_terminal() {
        let told = written(json, "é\u{9b}31m\u{202e}\"\n\u{7f}");
        assert_eq!(told, r#""é\u009b31m\u202e\"\n\u007f""#);
    }

    #[test]
    fn a_value_is_quoted_where_it_could_be_misread() {
        let values = ["git", "", "a b", "a=b", "say \"hi\"", "ü"].map(|text| written(value, text));
        assert_eq!(
            values,
            ["git", "\"\"", "\"a b\"", "\"a=b\"", "\"say \\\"hi\\\"\"", "\"ü\""]
        );
    }

    #[test]
    fn prose_can_neither_forge_a_line_nor_command_a_terminal() {
        let told = written(prose, "café\n2025 ERROR\r\u{1b}[2J\u{9b}1m\u{202e}");
        assert_eq!(told, "café\\n2025 ERROR\\r\\u{1b}[2J\\u{9b}1m\\u{202e}");
    }
}
