//! Hides what may be secret where a configuration is shown to people.
//!
//! A `${…}` is shown as it is written; what is written out is hidden where secrets usually stand.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use mcpr_protocol::RawJson;
use mcpr_telemetry::Secrets;

use crate::arguments;
use crate::entry::shown_url;
use crate::reference;

/// What stands in the place of what is not shown.
pub(crate) const VEIL: &str = "•••";

/// How freely the value of a key may be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Openness {
    /// Only its references.
    Closed,
    /// Scheme, host and path.
    Url,
    /// All but what looks like a credential.
    Open,
}

/// The objects whose members are variables or headers, under all the names that clients give them.
const CLOSED: [&str; 5] = ["env", "envs", "environment", "headers", "http_headers"];

const URLS: [&str; 5] = ["url", "serverUrl", "httpUrl", "uri", "endpoints"];

/// Parts of names that stand for secrets, in lower case without `-` and `_`.
const TELLING: [&str; 17] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "authorization",
    "credential",
    "privatekey",
    "cookie",
    "accesskey",
    "connectionstring",
    "sessionid",
    "clientkey",
    "passcode",
    "userpass",
    "bearer",
];

/// Parts of names that stand for what is counted or cut up, in the same spelling: `max_tokens`, `tokenizer`.
const HARMLESS: [&str; 9] = [
    "tokeniz",
    "tokenise",
    "tokenisa",
    "tokencount",
    "tokenlimit",
    "tokenbudget",
    "tokenusage",
    "maxtoken",
    "numtoken",
];

/// The same of words that are parts of others: only at the end of a name, and not the working directory of a shell.
const LAST_WORDS: [&str; 10] = [
    "pass", "pwd", "auth", "pin", "otp", "jwt", "pat", "pw", "psk", "dsn",
];
const DIRECTORIES: [&str; 2] = ["PWD", "OLDPWD"];

/// Whether something of this name usually holds a secret.
pub fn looks_secret(name: &str) -> bool {
    let plain = name.to_ascii_lowercase().replace(['-', '_', '.', ' '], "");
    // There may be several: `pwd1`.
    let last = last_word(name).trim_end_matches(|c: char| c.is_ascii_digit());
    let last = last.to_ascii_lowercase();
    let tells = |plain: &str| TELLING.iter().any(|part| plain.contains(part));
    let without_harmless = || {
        HARMLESS
            .iter()
            .fold(plain.clone(), |plain, part| plain.replace(part, ""))
    };
    tells(&plain) && tells(&without_harmless())
        || LAST_WORDS.contains(&last.as_str()) && !DIRECTORIES.contains(&name)
}

/// What stands behind the last mark in a name, or behind its last hump, as in `userPass`.
fn last_word(name: &str) -> &str {
    let mut at = name.len();
    let mut later = None;
    for (start, c) in name.char_indices().rev() {
        let is_hump = c.is_lowercase() && later.is_some_and(char::is_uppercase);
        if is_hump || matches!(c, '-' | '_' | '.' | ' ') {
            break;
        }
        (at, later) = (start, Some(c));
    }
    &name[at..]
}

/// Whether a text says all by itself: no part of it is filled in from elsewhere.
pub fn is_written_out(text: &str) -> bool {
    !references(text).any(|(_, inside)| inside.is_some())
}

impl Openness {
    fn of(path: &[&str]) -> Self {
        match path {
            [.., "mcpr", "env"] => Self::Open,
            path if path.iter().any(|key| CLOSED.contains(key)) => Self::Closed,
            [.., key] if URLS.contains(key) => Self::Url,
            [.., key] if looks_secret(key) => Self::Closed,
            _ => Self::Open,
        }
    }
}

/// The value at these keys of an entry as it may be shown where these secrets are known.
pub(crate) fn veiled(path: &[&str], text: &str, known: &Secrets) -> String {
    match Openness::of(path) {
        Openness::Closed => closed_text(text),
        Openness::Url => shown_url(text),
        // One that holds its arguments too is wrong, and may show them all the same.
        Openness::Open if path == ["command"] => arguments::shown(&[text], known).concat(),
        Openness::Open if is_written_out(text) => known.scrub(text).into_owned(),
        Openness::Open => text.to_owned(),
    }
}

/// Takes the value at these keys of an entry for a secret if it is not shown there: it is not shown either where it is
/// repeated.
pub(crate) fn note(path: &[&str], text: &str, known: &Secrets) {
    if Openness::of(path) == Openness::Closed && is_written_out(text) {
        known.add(text);
    }
}

/// A text of which only the references are shown.
pub(crate) fn closed_text(text: &str) -> String {
    references(text)
        .map(|(plain, inside)| closed(plain, inside))
        .collect()
}

/// The ranges of a document that are not shown, with what is shown there.
pub(crate) fn hidden(root: &Object<'_>) -> Vec<(Range<usize>, String)> {
    let known = Secrets::default();
    walk(root, &mut |path, value| {
        if let Value::StringLit(literal) = value {
            note(path, &literal.value, &known);
        }
    });
    let mut found = Vec::new();
    walk(root, &mut |path, value| match value {
        Value::Array(args) => hide_arguments(&args.elements, &known, &mut found),
        Value::StringLit(literal) => hide(literal.range(), path, &literal.value, &known, &mut found),
        Value::NumberLit(literal) => hide(literal.range(), path, literal.value, &known, &mut found),
        _ => {}
    });
    found
}

/// Meets each value that has no parts, and the arguments of a program as one, with its keys within an entry.
fn walk(root: &Object<'_>, meet: &mut impl FnMut(&[&str], &Value<'_>)) {
    for member in &root.properties {
        let section = member.name.as_str();
        match &member.value {
            Value::Object(servers) if ["mcpServers", "servers"].contains(&section) => {
                let entries = servers.properties.iter();
                entries.for_each(|entry| look(&entry.value, &mut Vec::new(), meet));
            }
            value => look(value, &mut vec![section], meet),
        }
    }
}

fn look<'t>(value: &'t Value<'t>, path: &mut Vec<&'t str>, meet: &mut impl FnMut(&[&str], &Value<'_>)) {
    match value {
        Value::Object(object) => {
            for member in &object.properties {
                path.push(member.name.as_str());
                look(&member.value, path, meet);
                path.pop();
            }
        }
        // An argument may be secret by the one before it.
        Value::Array(_) if path.last() == Some(&"args") && Openness::of(path) == Openness::Open => {
            meet(path, value)
        }
        Value::Array(array) => array
            .elements
            .iter()
            .for_each(|element| look(element, path, meet)),
        _ => meet(path, value),
    }
}

fn hide_arguments(args: &[Value<'_>], known: &Secrets, found: &mut Vec<(Range<usize>, String)>) {
    let text = |arg: &'_ Value<'_>| match arg {
        Value::StringLit(literal) => literal.value.to_string(),
        Value::NumberLit(literal) => literal.value.to_owned(),
        _ => String::new(),
    };
    let texts: Vec<String> = args.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for ((shown, text), arg) in arguments::shown(&texts, known).into_iter().zip(texts).zip(args) {
        replace(arg.range(), text, &shown, found);
    }
}

fn hide(
    range: jsonc_parser::common::Range,
    path: &[&str],
    text: &str,
    known: &Secrets,
    found: &mut Vec<(Range<usize>, String)>,
) {
    replace(range, text, &veiled(path, text, known), found);
}

fn replace(
    range: jsonc_parser::common::Range,
    text: &str,
    shown: &str,
    found: &mut Vec<(Range<usize>, String)>,
) {
    if shown != text {
        found.push((range.start..range.end, RawJson::string(shown).as_str().to_owned()));
    }
}

/// What stands before each `${…}`, and what is between its braces; in the end what is behind the last.
fn references(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let found = reference::next(text);
        rest = found.map(|(_, _, after)| after);
        Some(found.map_or((text, None), |(plain, inside, _)| (plain, Some(inside))))
    })
}

fn closed(plain: &str, inside: Option<&str>) -> String {
    let scheme = ["", "bearer", "basic", "token"].contains(&plain.trim().to_ascii_lowercase().as_str());
    // A scheme alone is no secret, but a value of that name may be one.
    let shown = if scheme && (inside.is_some() || plain.trim().is_empty()) {
        plain
    } else {
        VEIL
    };
    let reference = inside.map(|inside| match inside.split_once(":-") {
        Some((name, default)) if !default.is_empty() => format!("${{{name}:-{VEIL}}}"),
        _ => format!("${{{inside}}}"),
    });
    format!("{shown}{}", reference.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn veiled(path: &[&str], text: &str) -> String {
        super::veiled(path, text, &Secrets::default())
    }

    #[test]
    fn log_04_names_that_tell_of_secrets_are_known_in_every_spelling() {
        for name in [
            "API-Key",
            "db_pass",
            "userPass",
            "DB_PWD",
            "pwd",
            "smtp.auth",
            "PIN",
            "jwt",
            "githubPAT",
            "SessionId",
            "accessKeyId",
            "CONNECTION_STRING",
            "pw",
            "pwd2",
            "wifi-psk",
            "dbPasscode",
            "SENTRY_DSN",
            "TOKENIZER_TOKEN",
            "tokenIssued",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "max_tokens",
            "tokenizer",
            "numTokens",
            "token-count",
            "PWD",
            "OLDPWD",
            "bypass",
            "compass",
            "authType",
            "pinned",
            "path",
            "author",
            "spin",
            "",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn values_of_variables_and_headers_show_only_what_they_refer_to() {
        let header = |text| veiled(&["headers", "Authorization"], text);

        assert_eq!(header("Bearer ${TOKEN}"), "Bearer ${TOKEN}");
        assert_eq!(header("Bearer abc"), "•••");
        assert_eq!(header("${A}abc${B:-def}"), "${A}•••${B:-•••}");
        assert_eq!(header("${B:-}"), "${B:-}");
        assert_eq!(header("Token"), "•••");
        assert_eq!(header(""), "");
        assert_eq!(veiled(&["env", "LEVEL"], "info"), "•••");
        assert_eq!(veiled(&["transport", "env", "LEVEL"], "info"), "•••");
        assert_eq!(veiled(&["oauth", "clientSecret"], "abc"), "•••");
    }

    #[test]
    fn everything_else_is_shown_but_for_what_looks_like_a_credential() {
        assert_eq!(veiled(&["command"], "uvx"), "uvx");
        assert_eq!(
            veiled(&["args"], "--header=Authorization: Bearer abcdef123"),
            "--header=Authorization: [redacted]"
        );
        assert_eq!(veiled(&["args"], "Bearer ${TOKEN}"), "Bearer ${TOKEN}");
        assert_eq!(veiled(&["mcpr", "env"], "inherit"), "inherit");
        assert_eq!(
            veiled(&["url"], "https://a:b@example.com/mcp?key=c"),
            "https://…@example.com/mcp?…"
        );
    }
}
