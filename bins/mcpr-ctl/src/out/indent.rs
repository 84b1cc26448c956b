//! JSON over several lines, with every number and string as it was.

use mcpr_protocol::RawJson;

use super::text::tame_json;

/// Spreads a JSON text over indented lines. Only white space changes: reading the numbers and
/// writing them again could round them. What could command a terminal is escaped.
pub(crate) fn indent(raw: &RawJson) -> String {
    let mut lines = Lines::default();
    for c in raw.as_str().chars() {
        lines.take(c);
    }
    tame_json(&lines.text)
}

#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// A bracket was opened and nothing came yet.
    empty: bool,
}

impl Lines {
    fn take(&mut self, c: char) {
        if self.in_string {
            return self.within_string(c);
        }
        match c {
            '}' | ']' => self.close(c),
            _ if c.is_ascii_whitespace() => {}
            _ => self.structure(c),
        }
    }

    fn within_string(&mut self, c: char) {
        self.text.push(c);
        self.in_string = self.escaped || c != '"';
        self.escaped = c == '\\' && !self.escaped;
    }

    fn structure(&mut self, c: char) {
        if std::mem::take(&mut self.empty) {
            self.new_line();
        }
        self.text.push(c);
        match c {
            '{' | '[' => {
                self.depth += 1;
                self.empty = true;
            }
            ',' => self.new_line(),
            ':' => self.text.push(' '),
            '"' => self.in_string = true,
            _ => {}
        }
    }

    fn close(&mut self, c: char) {
        self.depth = self.depth.saturating_sub(1);
        if !std::mem::take(&mut self.empty) {
            self.new_line();
        }
        self.text.push(c);
    }

    fn new_line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_changes() {
        let raw = RawJson::from_static(
            r#"{"a":{},"b":[ ],"c":[1E400,{"d":"x,\"}\\"}], "n" : 123456789012345678901234567890}"#,
        );
        insta::assert_snapshot!(indent(&raw));
    }
}
