//! What of a command line is secret by what stands before it.

use std::ops::Range;

use mcpr_protocol::RawJson;
use mcpr_telemetry::Secrets;
use serde_json::Value;

use crate::veil::{self, is_written_out, looks_secret};

/// The arguments as they may be shown where these secrets are known.
pub(crate) fn shown(args: &[&str], known: &Secrets) -> Vec<String> {
    let parts = secret_parts(args).into_iter().zip(args);
    parts.map(|(parts, arg)| hide(arg, &parts, known)).collect()
}

fn hide(arg: &str, parts: &[Range<usize>], known: &Secrets) -> String {
    let mut shown = String::new();
    let mut copied = 0;
    for part in parts {
        shown.push_str(&arg[copied..part.start]);
        shown.push_str(&veil::closed_text(&arg[part.clone()]));
        copied = part.end;
    }
    shown.push_str(&arg[copied..]);
    match is_written_out(arg) && (parts.is_empty() || arg.contains(['?', '#'])) {
        true => known.scrub(&shown).into_owned(),
        false => shown,
    }
}

/// Of each argument the parts that are secret: the values of options, variables and headers with telling names, and
/// passwords in addresses.
pub(crate) fn secret_parts(args: &[&str]) -> Vec<Vec<Range<usize>>> {
    let before = std::iter::once("").chain(args.iter().copied());
    let pairs = before.zip(args.iter().copied());
    pairs.map(|(before, arg)| parts_behind(before, arg)).collect()
}

fn parts_behind(before: &str, arg: &str) -> Vec<Range<usize>> {
    let whole = |value: &str| Vec::from_iter(Some(arg.len() - value.len()..arg.len()));
    if arg.is_empty() {
        return Vec::new();
    }
    if before.starts_with('-') && tells(before) && !arg.starts_with('-') {
        return whole(arg);
    }
    let header = ["-H", "--header", "--headers"]
        .contains(&before)
        .then(|| arg.split_once(':'));
    match header.flatten() {
        Some((name, value)) if tells(name) && !value.trim().is_empty() => whole(value.trim_start()),
        _ => told_value(arg).map_or_else(|| parts_of(arg), whole),
    }
}

/// The parts of a value that are secret by themselves, such as the password in an address of a database, in their
/// order and apart from each other.
pub(crate) fn parts_of(value: &str) -> Vec<Range<usize>> {
    apart(match value.trim_start().starts_with('{') {
        true => parts_of_json(value),
        false => parts_of_text(value),
    })
}

/// What begins inside another part only makes that longer.
fn apart(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_by_key(|part| part.start);
    parts.dedup_by(|later, earlier| {
        let overlaps = later.start < earlier.end;
        if overlaps {
            earlier.end = earlier.end.max(later.end);
        }
        overlaps
    });
    parts
}

fn parts_of_text(value: &str) -> Vec<Range<usize>> {
    let mut parts: Vec<_> = password(value).into_iter().collect();
    if value.contains("://") || value.contains(';') {
        let mut at = 0;
        for piece in value.split(['?', '&', ';', '#']) {
            if let Some((name, told)) = piece.split_once('=')
                && tells(name.trim())
                && !told.is_empty()
            {
                parts.push(at + piece.len() - told.len()..at + piece.len());
            }
            at += piece.len() + 1;
        }
    }
    parts
}

/// The texts under telling names in JSON.
fn parts_of_json(json: &str) -> Vec<Range<usize>> {
    let value = serde_json::from_str(json).unwrap_or_default();
    let mut texts = Vec::new();
    collect(&value, false, &mut texts);
    let quoted = texts.iter().map(|text| RawJson::string(text));
    let found = quoted.flat_map(|quoted| {
        let places = json.match_indices(quoted.as_str());
        places
            .map(|(at, text)| at + 1..at + text.len() - 1)
            .collect::<Vec<_>>()
    });
    found.filter(|part| !part.is_empty()).collect()
}

fn collect<'v>(value: &'v Value, told: bool, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if told => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, told, texts)),
        Value::Object(members) => members
            .iter()
            .for_each(|(name, value)| collect(value, told || tells(name), texts)),
        _ => {}
    }
}

/// The value behind a telling name, as in `--token=…`, `--env=TOKEN=…` and `X-Api-Key: …`.
fn told_value(arg: &str) -> Option<&str> {
    let (name, value) = match (arg.split_once('='), arg.split_once(": ")) {
        (Some(pair), Some(other)) if other.0.len() < pair.0.len() => other,
        (Some(pair), _) | (None, Some(pair)) => pair,
        (None, None) => return None,
    };
    match tells(name) {
        true => (!value.is_empty()).then_some(value),
        false if is_name(name) => told_value(value),
        false => None,
    }
}

/// Whether an option or a variable of this name holds a secret, and not where one is or how many there are.
fn tells(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let about_it = ["file", "path", "dir", "url", "env"]
        .iter()
        .any(|end| small.ends_with(end));
    is_name(name) && looks_secret(name) && !about_it && !small.contains("max")
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.bytes().all(fits)
}

/// The password in an address (RFC 3986, section 3.2.1).
fn password(arg: &str) -> Option<Range<usize>> {
    let start = arg.find("://")? + "://".len();
    let rest = &arg[start..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let user = &authority[..authority.rfind('@')?];
    let colon = user.find(':')?;
    (colon + 1 < user.len()).then(|| start + colon + 1..start + user.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets<'a>(args: &[&'a str]) -> Vec<&'a str> {
        let parts = secret_parts(args).into_iter().zip(args);
        let texts = parts.flat_map(|(parts, arg)| parts.into_iter().map(|part| &arg[part]));
        texts.filter(|text| is_written_out(text)).collect()
    }

    #[test]
    fn log_04_values_of_telling_names_and_passwords_in_addresses_are_secret() {
        let args = [
            "run",
            "--api-key",
            "k1",
            "--token=t2",
            "-e",
            "GITHUB_TOKEN=g3",
            "--env",
            "LEVEL=info",
            "postgresql://me:p4@h:5/db?x=y",
            "--password",
            "p5",
            "--env=GITHUB_TOKEN=g6",
            "-eDB_PASSWORD=p7=",
            "--header=X-Api-Key: k8",
            "X-Auth-Token: t9",
            "-p",
            "DB_PWD=p10",
            "--userPass",
            "p11",
        ];
        let found = [
            "k1", "t2", "g3", "p4", "p5", "g6", "p7=", "k8", "t9", "p10", "p11",
        ];
        assert_eq!(secrets(&args), found);
    }

    #[test]
    fn log_04_a_known_secret_is_hidden_wherever_it_is_repeated() {
        let known = Secrets::default();
        known.add("S3CRET1");
        let args = ["--key-id", "S3CRET1", "${S3CRET1}", "--token=abc"];
        let expected = ["--key-id", "[redacted]", "${S3CRET1}", "--token=•••"];
        assert_eq!(shown(&args, &known), expected);
        let args = [
            "--token",
            "${A:-abc}",
            "--api-key=${A}abc",
            "https://me:p@h/p?key=abc",
        ];
        let expected = [
            "--token",
            "${A:-•••}",
            "--api-key=${A}•••",
            "https://[redacted]@h/p?[redacted]",
        ];
        assert_eq!(shown(&args, &known), expected);
    }

    #[test]
    fn log_04_parts_that_overlap_are_one() {
        let json = r#"{"token":["b\\","a\"b\\"],"c":1}"#;
        for (arg, expected) in [
            ("https://u:a;token=b@h;token=c", "https://u:•••;token=•••"),
            (json, r#"{"token":["•••","•••"],"c":1}"#),
        ] {
            assert_eq!(shown(&[arg], &Secrets::default()), [expected]);
        }
    }

    #[test]
    fn log_04_everything_else_is_not() {
        let args = [
            "--token-file",
            "/run/token",
            "--max-tokens",
            "4096",
            "--password",
            "--verbose",
            "--token=${TOKEN}",
            "https://h/a?b=c@d:e",
            "ssh://git@h",
            "--secret",
            "",
            "a b=password: c",
            "--label=app=web",
            "token-server:latest",
            "--auth-type=bearer",
            "PWD=/home/me",
            "--compass",
            "north",
        ];
        assert_eq!(secrets(&args), Vec::<&str>::new());
    }
}
