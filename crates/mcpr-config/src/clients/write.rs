//! Values as JSON, TOML and YAML.

use super::Value;

impl Value {
    /// The value as JSON over several lines, indented by two blanks, with a line break at its end.
    pub fn json(&self) -> String {
        let mut text = String::new();
        lines(self, 0, &mut text);
        text + "\n"
    }

    /// The value as JSON in one line, with blanks where people put them.
    pub fn json_line(&self) -> String {
        match self {
            Self::List(items) => enclosed("[", items.iter().map(Self::json_line).collect(), "]"),
            Self::Object(members) => enclosed("{ ", members.iter().map(member).collect(), " }"),
            plain => atom(plain),
        }
    }

    /// The object as the TOML table of this name, with the objects in it on lines of their own.
    pub(super) fn toml_table(&self, name: &str) -> String {
        let line = |(key, value): &(String, Self)| format!("{} = {}\n", toml_key(key), toml_inline(value));
        format!("[{name}]\n") + &self.members().iter().map(line).collect::<String>()
    }

    /// The object as YAML.
    pub(super) fn yaml(&self) -> String {
        let mut text = String::new();
        yaml_members(self, 0, &mut text);
        text
    }
}

fn lines(value: &Value, depth: usize, text: &mut String) {
    let parts: Vec<(String, &Value)> = match value {
        Value::List(items) => items.iter().map(|item| (String::new(), item)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (format!("{}: ", quoted(key)), value))
            .collect(),
        _ => Vec::new(),
    };
    // Lists of plain values read best in one line, as people write arguments.
    if parts.is_empty() || matches!(value, Value::List(items) if items.iter().all(is_plain)) {
        *text += &value.json_line();
        return;
    }
    let [open, close] = if value.is_object() { ['{', '}'] } else { ['[', ']'] };
    text.push(open);
    for (index, (head, part)) in parts.iter().enumerate() {
        *text += if index == 0 { "\n" } else { ",\n" };
        *text += &"  ".repeat(depth + 1);
        *text += head;
        lines(part, depth + 1, text);
    }
    *text += &format!("\n{}{close}", "  ".repeat(depth));
}

fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Object(_))
}

fn member((key, value): &(String, Value)) -> String {
    format!("{}: {}", quoted(key), value.json_line())
}

fn enclosed(open: &str, parts: Vec<String>, close: &str) -> String {
    if parts.is_empty() {
        return format!("{}{}", open.trim(), close.trim());
    }
    format!("{open}{}{close}", parts.join(", "))
}

fn atom(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Null => "null".to_owned(),
        other => other.scalar().unwrap_or_default().to_owned(),
    }
}

/// A text in quotes: a string of JSON, which is one of TOML and YAML as well.
fn quoted(text: &str) -> String {
    // TOML alone does not take this character as it is; everybody takes its escape.
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

fn toml_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(bare) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

fn toml_inline(value: &Value) -> String {
    match value {
        Value::List(items) => enclosed("[", items.iter().map(toml_inline).collect(), "]"),
        Value::Object(members) => {
            let member = |(key, value): &(String, Value)| format!("{} = {}", quoted(key), toml_inline(value));
            enclosed("{ ", members.iter().map(member).collect(), " }")
        }
        plain => atom(plain),
    }
}

fn yaml_members(value: &Value, depth: usize, text: &mut String) {
    for (key, value) in value.members() {
        *text += &format!("{}{}:", "  ".repeat(depth), yaml_text(key));
        match value {
            Value::Object(members) if !members.is_empty() => {
                text.push('\n');
                yaml_members(value, depth + 1, text);
            }
            Value::List(_) | Value::Object(_) => *text += &format!(" {}\n", value.json_line()),
            Value::Text(plain) => *text += &format!(" {}\n", yaml_text(plain)),
            plain => *text += &format!(" {}\n", atom(plain)),
        }
    }
}

/// A text bare where no reader of YAML could take it for anything else.
fn yaml_text(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(bare);
    let taken = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    if word && !taken.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        Value::object()
            .with("b", "x \"y\"\n\u{7f}")
            .with("a", vec!["1", "no"])
            .with("n", 3600_u64)
            .with("e", Value::object())
            .with(
                "o",
                Value::object()
                    .with("on", true)
                    .with("X-Y", "~")
                    .with("z", "plain"),
            )
    }

    #[test]
    fn members_keep_their_order_and_texts_are_quoted() {
        insta::assert_snapshot!(sample().json());
        insta::assert_snapshot!(sample().json_line());
    }

    #[test]
    fn toml_takes_what_is_written_for_it() {
        insta::assert_snapshot!(sample().toml_table("a.b"));
    }

    #[test]
    fn yaml_takes_no_text_for_something_else() {
        insta::assert_snapshot!(sample().yaml());
    }
}
