//! Texts in arguments whose names say that they are secrets.

mod told;

use std::borrow::Cow;
use std::ops::Range;

use mcpr_config::looks_secret;
use mcpr_protocol::RawJson;
use mcpr_telemetry::Secrets;
use mcpr_telemetry::redact::{self, MARK};
use memchr::{memchr, memchr2};
use serde_json::value::RawValue;

use self::told::{Hidden, told};

/// How deep JSON may stand in texts of JSON to be looked at too.
const DEPTH: usize = 3;

/// A JSON text with a mark in place of each value of a telling name, such as `password`, and in each text in place
/// of known secrets and of what looks like a credential, however it is escaped. Nothing else changes.
///
/// Of the result there are no more than its first `most` bytes, and how much is missing; what is cut off costs little.
pub(super) fn veiled<'j>(json: &'j str, secrets: &Secrets, most: usize) -> Cow<'j, str> {
    within(json, secrets, most, DEPTH)
}

fn within<'j>(json: &'j str, secrets: &Secrets, most: usize, depth: usize) -> Cow<'j, str> {
    let mut veiled = String::new();
    let (mut copied, mut from) = (0, 0);
    let told = told(json);
    while let Some(text) = next_text(json, from) {
        if veiled.len() + (text.start - copied) >= most {
            break;
        }
        from = text.end;
        // Where a value ends is looked for only if it goes: it may be long, and hold others.
        let hidden = value_start(json, text.end)
            .filter(|value| {
                let is_labelled = told
                    .get(&text.start)
                    .is_some_and(|hidden| *hidden == Hidden::Value);
                is_labelled && may_be_secret(&json[*value..]) || tells(&plain(json, &text), &json[*value..])
            })
            .and_then(|value| Some(value..value_end(json, value)?));
        let (hidden, shown) = match hidden {
            Some(value) => (value, RawJson::string(MARK)),
            None => match shown(json, &text, told.get(&text.start), secrets, most, depth) {
                Some(shown) => (text, shown),
                None => continue,
            },
        };
        from = hidden.end;
        veiled.push_str(&json[copied..hidden.start]);
        veiled.push_str(shown.as_str());
        copied = hidden.end;
    }
    let end = match next_text(json, from) {
        Some(unseen) => unseen.start,
        None => json.len(),
    };
    if copied == 0 && end == json.len() {
        return redact::cut(json, most);
    }
    veiled.push_str(&json[copied..end]);
    let cut = redact::cut_before(&veiled, most, json.len() - end);
    Cow::Owned(cut.into_owned())
}

/// A text without the secrets in it, where there are any.
fn shown(
    json: &str,
    text: &Range<usize>,
    hidden: Option<&Hidden>,
    secrets: &Secrets,
    most: usize,
    depth: usize,
) -> Option<RawJson> {
    let plain = plain(json, text);
    let told = match hidden {
        Some(Hidden::Parts(parts)) => Cow::Owned(without(&plain, parts)),
        _ => Cow::Borrowed(&*plain),
    };
    let inner = match depth > 0 && is_json(&told) {
        true => within(&told, secrets, most, depth - 1),
        false => secrets.scrub_within(&told, most),
    };
    (*inner != *plain).then(|| RawJson::string(&inner))
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The text with a mark in place of its secret parts, which are in their order.
fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut shown = String::new();
    let mut copied = 0;
    for part in parts {
        shown.push_str(&text[copied..part.start]);
        shown.push_str(MARK);
        copied = part.end;
    }
    shown + &text[copied..]
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
            assert_eq!(veiled(json, &Secrets::default(), usize::MAX), shown);
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
            assert_eq!(veiled(json, &Secrets::default(), usize::MAX), shown);
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
            assert_eq!(veiled(json, &Secrets::default(), usize::MAX), shown);
        }
    }

    #[test]
    fn log_06_values_are_veiled_in_every_usual_shape() {
        for (json, shown) in [
            (
                r#"{"body":"{\"password\":\"x\",\"n\":1}"}"#,
                r#"{"body":"{\"password\":\"[redacted]\",\"n\":1}"}"#,
            ),
            (
                r#"{"args":["--password","x","--level","info","--token=y","DB_PASSWORD=z"]}"#,
                r#"{"args":["--password","[redacted]","--level","info","--token=[redacted]","DB_PASSWORD=[redacted]"]}"#,
            ),
            (
                r#"{"cmd":"API_KEY=x srv --token 'y z' -H \"X-Api-Key: k\" -v","a":"note: b"}"#,
                r#"{"cmd":"API_KEY=[redacted] srv --token '[redacted]' -H \"X-Api-Key: [redacted]\" -v","a":"note: b"}"#,
            ),
            (
                "{\"a\":[\"b=1\u{a0}password=\u{df}\u{df}\u{3000}c=d\"]}",
                "{\"a\":[\"b=1\u{a0}password=[redacted]\u{3000}c=d\"]}",
            ),
            (
                r#"[["X-Api-Key","x"],["a","b"]]"#,
                r#"[["X-Api-Key","[redacted]"],["a","b"]]"#,
            ),
            (
                r#"[{"id":"password","value":"x"},{"key":"pw","val":"y"},{"label":"a","value":"b"}]"#,
                r#"[{"id":"password","value":"[redacted]"},{"key":"pw","val":"[redacted]"},{"label":"a","value":"b"}]"#,
            ),
        ] {
            assert_eq!(veiled(json, &Secrets::default(), usize::MAX), shown);
        }
    }

    #[test]
    fn log_06_what_is_cut_off_is_not_looked_at_and_told() {
        let secrets = Secrets::default();
        secrets.add("S3CRET1");
        let json = format!(r#"{{"a":"S3CRET1","b":[{}1]}}"#, r#""S3CRET1","#.repeat(1000));
        let shown = veiled(&json, &secrets, 30);
        assert!(shown.starts_with(r#"{"a":"[redacted]","b":["[redac… ("#) && shown.ends_with(" bytes more)"));
        let long = format!(r#"{{"a":"{}"}}"#, "S3CRET1 ".repeat(1000));
        assert!(veiled(&long, &secrets, 30).starts_with(r#"{"a":"[redacted] [redacted] ["#));
        assert_eq!(veiled("{}", &secrets, 30), "{}");
    }

    #[test]
    fn sec_05_many_values_in_one_object_are_looked_at_once() {
        let many = format!(r#"{{"a":{{{}"z":2}}}}"#, r#""value":1,"#.repeat(300_000));
        assert_eq!(veiled(&many, &Secrets::default(), usize::MAX), many);
        let names = format!(r#"{{"a":["{}"]}}"#, "=".repeat(16_000));
        assert_eq!(veiled(&names, &Secrets::default(), usize::MAX), names);
        let deep = r#"{"name":"x","value":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
        assert_eq!(veiled(&deep, &Secrets::default(), usize::MAX), deep);
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
            assert_eq!(veiled(json, &Secrets::default(), usize::MAX), shown);
        }
    }

    #[test]
    fn log_06_a_known_secret_is_found_however_it_is_escaped() {
        let secrets = Secrets::default();
        secrets.add("aGVsbG8/d29y+zz==");
        let json = r#"{"a":"x aGVsbG8\/d29y\u002Bzz== \"y\"","b\n":1E400,"c":"\ud83d\ude00"}"#;
        assert_eq!(
            veiled(json, &secrets, usize::MAX),
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
                matches!(veiled(json, &Secrets::default(), usize::MAX), Cow::Borrowed(same) if same == json),
                "{json}"
            );
        }
    }

    #[test]
    fn log_06_any_arguments_can_be_veiled() {
        const PIECES: [&str; 24] = [
            "a", "\u{df}", " ", "\u{a0}", "\u{3000}", "=", ": ", ":", "'", "\"", "\\", ";", "&", "{", "}",
            "[", "]", "password", "--token", "-c", "-H", "eyJ", "%ff", "://a:b@",
        ];
        let secrets = Secrets::default();
        secrets.add("b@\u{df}a=");
        let mut drawn = 1_u64;
        let mut draw = |below: usize| {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (drawn >> 33) as usize % below
        };
        for _ in 0..1_000 {
            let mut text = || {
                (0..draw(12))
                    .map(|_| PIECES[draw(PIECES.len())])
                    .collect::<String>()
            };
            let texts: [String; 3] = std::array::from_fn(|_| text());
            let nested = serde_json::json!({ "name": texts[0], "value": texts }).to_string();
            let json = serde_json::json!({ "a": texts, "b": nested, "c": [texts, [nested]] }).to_string();

            let shown = veiled(&json, &secrets, usize::MAX);

            assert!(
                serde_json::from_str::<&RawValue>(&shown).is_ok(),
                "{json} {shown}"
            );
            let most = draw(300);
            assert!(veiled(&json, &secrets, most).len() <= most + 40, "{json} {most}");
        }
    }
}
