//! Reads the lines for people: time, level, where from, message, then `key=value`.

use mcpr_telemetry::printable;

use super::entry::Facts;

/// How long the time is: `2025-01-15T10:30:45.123Z`.
const TIME: usize = 24;
/// How long the longest level is.
const LEVEL: usize = 5;

/// What a line says; nothing if it is no such line.
pub(super) fn facts(line: &str) -> Option<Facts> {
    let (time, rest) = line.split_at_checked(TIME)?;
    let (level, rest) = rest.strip_prefix(' ')?.split_at_checked(LEVEL)?;
    let level = level.trim_start().parse().ok()?;
    let (heading, rest) = heading(rest);
    let (message, fields) = said(rest);
    is_time(time).then(|| Facts {
        time: time.to_owned(),
        level: Some(level),
        heading: heading.map(str::to_owned),
        message: message.trim_start().to_owned(),
        fields,
    })
}

/// A value as it stands behind a key: bare where that is clear, else in quotes.
pub(super) fn value(text: &str) -> String {
    let clear = |c: char| c.is_ascii_graphic() && c != '"' && c != '=';
    if !text.is_empty() && text.chars().all(clear) {
        return text.to_owned();
    }
    let escaped = text.replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{}\"", printable(&escaped))
}

/// A text as it is, but for what could command a terminal or end the line.
pub(super) fn prose(text: &str) -> String {
    printable(text)
}

fn is_time(text: &str) -> bool {
    let shape = text
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq(*b"0000-00-00T00:00:00.000Z")
}

/// The word that leads the line and ends with a colon, and what follows it.
fn heading(rest: &str) -> (Option<&str>, &str) {
    let found = || {
        let text = rest.strip_prefix(' ')?;
        let word = text.split(' ').next()?;
        Some((word.strip_suffix(':')?, &text[word.len()..]))
    };
    match found() {
        Some((heading, rest)) => (Some(heading), rest),
        None => (None, rest),
    }
}

/// The message, and the fields behind it: they begin where everything that follows is a field.
fn said(rest: &str) -> (&str, Vec<(String, String)>) {
    let spaces = rest.match_indices(' ').map(|(at, _)| at);
    let mut begins = spaces.filter_map(|at| Some((&rest[..at], fields(&rest[at..])?)));
    begins.next().unwrap_or((rest, Vec::new()))
}

/// All of the text as fields, each with a space before it.
fn fields(mut rest: &str) -> Option<Vec<(String, String)>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix(' ')?.split_once('=')?;
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if key.is_empty() || !key.chars().all(legal) {
            return None;
        }
        let (value, after) = read_value(after)?;
        fields.push((key.to_owned(), value));
        rest = after;
    }
    Some(fields)
}

/// A value, and what follows it.
fn read_value(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return read_quoted(quoted);
    }
    let (value, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let clear = !value.is_empty() && !value.contains(['"', '=']);
    clear.then(|| (value.to_owned(), rest))
}

/// A value whose opening quote has been read.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut rest) = (String::new(), text.chars());
    loop {
        match rest.next()? {
            '"' => return Some((value, rest.as_str())),
            '\\' => value.push(read_escaped(&mut rest)?),
            c => value.push(c),
        }
    }
}

/// A letter whose backslash has been read.
fn read_escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let (code, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
            *rest = after.chars();
            char::from_u32(u32::from_str_radix(code, 16).ok()?)
        }
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(said: &str) -> Facts {
        facts(&format!("2025-01-15T10:30:45.123Z  INFO mcpr_core::x: {said}")).unwrap()
    }

    fn pairs(facts: &Facts) -> Vec<(&str, &str)> {
        let pairs = facts.fields.iter();
        pairs.map(|(key, value)| (key.as_str(), value.as_str())).collect()
    }

    #[test]
    fn a_message_ends_where_only_fields_follow() {
        let facts = read(r#"a=b is no field, and c="d e" server="my git" n=1"#);

        assert_eq!(
            facts.message,
            r#"a=b is no field, and c="d e""#.split(" c=").next().unwrap()
        );
        assert_eq!(pairs(&facts), [("c", "d e"), ("server", "my git"), ("n", "1")]);
    }

    #[test]
    fn quoted_values_read_back_as_they_were() {
        for text in ["", "a b", "\"", "\\n", "a\nb\t\u{1b}[31m", "x=y", "ü", "\u{202e}"] {
            let facts = read(&format!("m k={}", value(text)));
            assert_eq!(pairs(&facts), [("k", text)]);
        }
    }

    #[test]
    fn a_message_may_be_all_there_is_or_missing() {
        assert_eq!(read("it has: started").message, "it has: started");
        assert_eq!(read("k=v").message, "");
        assert_eq!(facts("2025-01-15T10:30:45.123Z ERROR odd").unwrap().heading, None);
    }

    #[test]
    fn what_is_no_such_line_is_not_taken_for_one() {
        for line in [
            "",
            "2025-01-15T10:30:45.123Z",
            "yesterday, as it were...... INFO x: y",
            "ü2025-01-15T10:30:45.12Z  INFO",
        ] {
            assert_eq!(facts(line), None, "{line}");
        }
    }
}
