//! Texts in arguments whose names say that they are secrets.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use mcpr_config::looks_secret;
use mcpr_protocol::RawJson;
use mcpr_telemetry::Secrets;
use mcpr_telemetry::redact::MARK;
use memchr::{memchr, memchr2};

/// The names under which a pair says what its `value` is, as in `{"name":"password","value":"…"}`.
const LABELS: [&str; 5] = ["name", "key", "header", "variable", "field"];

/// A JSON text with a mark in place of each value of a telling name, such as `password`, and in each text in place
/// of known secrets and of what looks like a credential, however it is escaped. Nothing else changes.
pub(super) fn veiled<'j>(json: &'j str, secrets: &Secrets) -> Cow<'j, str> {
    let mut veiled = String::new();
    let (mut copied, mut from) = (0, 0);
    let labelled = labelled(json);
    while let Some(text) = next_text(json, from) {
        from = text.end;
        // Where a value ends is looked for only if it goes: it may be long, and hold others.
        let hidden = value_start(json, text.end)
            .filter(|value| {
                let is_labelled = labelled.contains(&text.start) && may_be_secret(&json[*value..]);
                is_labelled || tells(&plain(json, &text), &json[*value..])
            })
            .and_then(|value| Some(value..value_end(json, value)?));
        let (hidden, shown) = match hidden {
            Some(value) => (value, RawJson::string(MARK)),
            None => match scrubbed(json, &text, secrets) {
                Some(shown) => (text, shown),
                None => continue,
            },
        };
        from = hidden.end;
        veiled.push_str(&json[copied..hidden.start]);
        veiled.push_str(shown.as_str());
        copied = hidden.end;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    veiled.push_str(&json[copied..]);
    Cow::Owned(veiled)
}

/// Where the names of values stand whose object says that they are secrets: found in one walk.
fn labelled(json: &str) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut around = vec![Pair::default()];
    let mut from = 0;
    while let Some(text) = next_text(json, from) {
        for byte in json.as_bytes()[from..text.start].iter() {
            match byte {
                b'{' => around.push(Pair::default()),
                b'}' => found.extend(around.pop().and_then(Pair::secret)),
                _ => {}
            }
        }
        from = text.end;
        if let (Some(value), Some(pair)) = (value_start(json, text.end), around.last_mut()) {
            pair.note(json, &text, value);
        }
    }
    found.extend(around.into_iter().filter_map(Pair::secret));
    found
}

/// What an object says of its `value`.
#[derive(Default)]
struct Pair {
    is_secret: bool,
    value: Option<usize>,
}

impl Pair {
    fn note(&mut self, json: &str, name: &Range<usize>, value: usize) {
        let spelled = plain(json, name);
        if spelled.eq_ignore_ascii_case("value") {
            self.value = Some(name.start);
        } else if LABELS.iter().any(|label| label.eq_ignore_ascii_case(&spelled))
            && json[value..].starts_with('"')
            && let Some(label) = next_text(json, value)
        {
            self.is_secret |= looks_secret(&plain(json, &label));
        }
    }

    fn secret(self) -> Option<usize> {
        self.value.filter(|_| self.is_secret)
    }
}

/// Whether a value of this name is usually a secret. How many tokens there are is none.
fn tells(name: &str, value: &str) -> bool {
    let counts = !value.starts_with(['"', '{', '[']) && name.to_ascii_lowercase().contains("tokens");
    may_be_secret(value) && !counts && looks_secret(name)
}

/// A yes or no is none, nor is nothing.
fn may_be_secret(value: &str) -> bool {
    matches!(
        value.as_bytes().first(),
        Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9')
    )
}

/// A text without the secrets in it, where there are any.
fn scrubbed(json: &str, text: &Range<usize>, secrets: &Secrets) -> Option<RawJson> {
    match secrets.scrub(&plain(json, text)) {
        Cow::Borrowed(_) => None,
        Cow::Owned(scrubbed) => Some(RawJson::string(&scrubbed)),
    }
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

/// Where the value of the name begins that ends here, if a name does.
fn value_start(json: &str, end: usize) -> Option<usize> {
    let value = json[end..].trim_start().strip_prefix(':')?.trim_start();
    (!value.is_empty()).then_some(json.len() - value.len())
}

fn value_end(json: &str, start: usize) -> Option<usize> {
    let value = &json[start..];
    match value.as_bytes().first()? {
        b'"' => Some(next_text(json, start)?.end),
        b'{' | b'[' => end_of_nest(json, start),
        _ => Some(start + value.find([',', '}', ']']).unwrap_or(value.len())),
    }
}

/// Where the object or the array ends that begins here.
fn end_of_nest(json: &str, start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, start);
    loop {
        match json.as_bytes().get(at)? {
            b'"' => {
                at = next_text(json, at)?.end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
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
    fn log_06_what_a_telling_name_holds_is_veiled_whatever_it_is() {
        for (json, shown) in [
            (
                r#"{"tokens":["c17","]"],"a":1}"#,
                r#"{"tokens":"[redacted]","a":1}"#,
            ),
            (
                r#"{"token":{"a":{"b":"}"}},"a":1}"#,
                r#"{"token":"[redacted]","a":1}"#,
            ),
            (
                r#"{"password": 123456 , "a":1}"#,
                r#"{"password": "[redacted]", "a":1}"#,
            ),
            (r#"{"token":123456}"#, r#"{"token":"[redacted]"}"#),
            (
                r#"{"maxTokens":12,"secret":null,"password":true}"#,
                r#"{"maxTokens":12,"secret":null,"password":true}"#,
            ),
        ] {
            assert_eq!(veiled(json, &Secrets::default()), shown);
        }
    }

    #[test]
    fn log_06_a_value_whose_name_stands_beside_it_is_veiled() {
        for (json, shown) in [
            (
                r#"{"env":[{"name":"DB_PASSWORD","value":"a}"},{"name":"LEVEL","value":"b"}]}"#,
                r#"{"env":[{"name":"DB_PASSWORD","value":"[redacted]"},{"name":"LEVEL","value":"b"}]}"#,
            ),
            (
                r#"{"value":{"a":["b"]},"key":"api_key","value2":1}"#,
                r#"{"value":"[redacted]","key":"api_key","value2":1}"#,
            ),
            (
                r#"{"value":{"name":"password"},"x":{"value":"c"}}"#,
                r#"{"value":{"name":"password"},"x":{"value":"c"}}"#,
            ),
            (
                r#"[{"Name":"Production","KEY":"db password","Value":"a"},{"value":1,"name":"pin"}]"#,
                r#"[{"Name":"Production","KEY":"db password","Value":"[redacted]"},{"value":"[redacted]","name":"pin"}]"#,
            ),
        ] {
            assert_eq!(veiled(json, &Secrets::default()), shown);
        }
    }

    #[test]
    fn sec_05_many_values_in_one_object_are_looked_at_once() {
        let many = format!(r#"{{"a":{{{}"z":2}}}}"#, r#""value":1,"#.repeat(300_000));
        assert_eq!(veiled(&many, &Secrets::default()), many);
        let deep = r#"{"name":"x","value":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
        assert_eq!(veiled(&deep, &Secrets::default()), deep);
    }

    #[test]
    fn log_06_what_looks_like_a_credential_ends_with_its_text() {
        for (json, shown) in [
            (
                r#"{"text":"what is the authorization: of x","path":"/keep"}"#,
                r#"{"text":"what is the authorization: [redacted]","path":"/keep"}"#,
            ),
            (
                r#"{"q":"authorization = 'x","b":"it's","path":"/keep"}"#,
                r#"{"q":"authorization = '[redacted]","b":"it's","path":"/keep"}"#,
            ),
            (r#"["Bearer abcdef","b"]"#, r#"["Bearer [redacted]","b"]"#),
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
