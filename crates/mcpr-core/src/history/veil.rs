//! Texts in arguments whose names say that they are secrets.

use std::borrow::Cow;
use std::ops::Range;

use mcpr_config::looks_secret;
use mcpr_telemetry::redact::MARK;
use memchr::{memchr, memchr2};

/// A JSON text with a mark in place of each text that is the value of a telling name, such as
/// `password`. Nothing else changes.
pub(super) fn veiled(json: &str) -> Cow<'_, str> {
    let mut veiled = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(text) = next_text(json, from) {
        from = text.end;
        let Some(value) = text_value(json, text.end) else {
            continue;
        };
        from = value.end;
        if looks_secret(inside(json, &text)) {
            veiled.push_str(&json[copied..=value.start]);
            veiled.push_str(MARK);
            copied = value.end - 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    veiled.push_str(&json[copied..]);
    Cow::Owned(veiled)
}

/// The next text with its quotes.
fn next_text(json: &str, from: usize) -> Option<Range<usize>> {
    let start = from + memchr(b'"', &json.as_bytes()[from..])?;
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', json.as_bytes().get(at..)?)?;
        match json.as_bytes()[at] {
            b'"' => return Some(start..at + 1),
            _ => at += 2,
        }
    }
}

/// The text that is the value of the name that ends here, if a name does and its value is a text.
fn text_value(json: &str, end: usize) -> Option<Range<usize>> {
    let value = json[end..].trim_start().strip_prefix(':')?.trim_start();
    value.starts_with('"').then_some(())?;
    next_text(json, json.len() - value.len())
}

fn inside<'j>(json: &'j str, text: &Range<usize>) -> &'j str {
    &json[text.start + 1..text.end - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_06_texts_of_telling_names_are_veiled_wherever_they_stand() {
        for (json, shown) in [
            (r#"{"password":"a"}"#, r#"{"password":"[redacted]"}"#),
            (
                r#"{ "a":[{"API-Key" : "x\"y\\"}], "b":"password" }"#,
                r#"{ "a":[{"API-Key" : "[redacted]"}], "b":"password" }"#,
            ),
            (
                r#"{"token":"","next":{"secret":"é"}}"#,
                r#"{"token":"[redacted]","next":{"secret":"[redacted]"}}"#,
            ),
        ] {
            assert_eq!(veiled(json), shown);
        }
    }

    #[test]
    fn what_is_no_secret_stays_byte_for_byte() {
        for json in [
            r#"{"maxTokens":100,"path":".","n":1E400}"#,
            r#"{"say":"\"password\":\"a\"","list":["password","b"]}"#,
            r#""password""#,
            "{}",
        ] {
            assert!(
                matches!(veiled(json), Cow::Borrowed(same) if same == json),
                "{json}"
            );
        }
    }
}
