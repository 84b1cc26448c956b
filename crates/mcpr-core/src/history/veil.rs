//! Texts in arguments whose names say that they are secrets.

use std::borrow::Cow;
use std::ops::Range;

use mcpr_config::looks_secret;
use mcpr_protocol::RawJson;
use mcpr_telemetry::Secrets;
use mcpr_telemetry::redact::MARK;
use memchr::{memchr, memchr2};

/// A JSON text with a mark in place of each text that is the value of a telling name, such as
/// `password`, and of each known secret, however it is escaped. Nothing else changes.
pub(super) fn veiled<'j>(json: &'j str, secrets: &Secrets) -> Cow<'j, str> {
    let mut veiled = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(text) = next_text(json, from) {
        from = text.end;
        let value = text_value(json, text.end).filter(|_| looks_secret(&plain(json, &text)));
        let (hidden, shown) = match value {
            Some(value) => (value, MARK.into()),
            None => match unescaped(json, &text, secrets) {
                Some(shown) => (text, shown),
                None => continue,
            },
        };
        from = hidden.end;
        veiled.push_str(&json[copied..=hidden.start]);
        veiled.push_str(&shown);
        copied = hidden.end - 1;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    veiled.push_str(&json[copied..]);
    Cow::Owned(veiled)
}

/// A text with escapes that hide a secret, without it and as it stands in JSON. One without escapes is found as it is.
fn unescaped(json: &str, text: &Range<usize>, secrets: &Secrets) -> Option<String> {
    let Cow::Owned(plain) = plain(json, text) else {
        return None;
    };
    let Cow::Owned(scrubbed) = secrets.scrub(&plain) else {
        return None;
    };
    let quoted = RawJson::string(&scrubbed);
    let quoted = quoted.as_str();
    Some(quoted[1..quoted.len() - 1].to_owned())
}

/// What a text means.
fn plain<'j>(json: &'j str, text: &Range<usize>) -> Cow<'j, str> {
    let inside = &json[text.start + 1..text.end - 1];
    match memchr(b'\\', inside.as_bytes()) {
        None => Cow::Borrowed(inside),
        Some(_) => serde_json::from_str(&json[text.clone()]).map_or(Cow::Borrowed(inside), Cow::Owned),
    }
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
            (r#"{"pass\u0077ord":"a"}"#, r#"{"pass\u0077ord":"[redacted]"}"#),
        ] {
            assert_eq!(veiled(json, &Secrets::default()), shown);
        }
    }

    #[test]
    fn log_06_a_known_secret_is_found_however_it_is_escaped() {
        let secrets = Secrets::default();
        secrets.add("aGVsbG8/d29y+zz==");
        let json = r#"{"a":"x aGVsbG8\/d29y\u002Bzz== \"y\"","b\n":1E400,"c":"\ud83d\ude00"}"#;
        assert_eq!(
            veiled(json, &secrets),
            r#"{"a":"x [redacted] \"y\"","b\n":1E400,"c":"\ud83d\ude00"}"#
        );
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
                matches!(veiled(json, &Secrets::default()), Cow::Borrowed(same) if same == json),
                "{json}"
            );
        }
    }
}
