//! Values out of texts, once.

use std::fs;
use std::io::{self, Read};
use std::time::Duration;

use bytes::Bytes;
use mcpr_admin::Scope;
use mcpr_auth::{InvalidRate, Rate, Timestamp};
use mcpr_protocol::RawJson;

/// When something ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// So long from now.
    After(Duration),
    /// At this time.
    At(Timestamp),
}

/// Keys that lead to a value, such as `mcpr.timeouts.call`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    keys: Vec<String>,
    typed: String,
}

/// A value that is to be set, or a key that is to be removed.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) path: Path,
    pub(crate) value: Option<RawJson>,
}

impl Path {
    /// The keys, the outermost first.
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.keys.iter().map(String::as_str).collect()
    }

    /// As it was typed.
    pub(crate) fn as_str(&self) -> &str {
        &self.typed
    }
}

impl Expiry {
    /// The time it means.
    pub(crate) fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::After(duration) => now.after(duration),
            Self::At(time) => time,
        }
    }
}

/// A time to wait.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    mcpr_config::duration(text).ok_or_else(|| "write it like 500ms, 30s, 5m or 1h30m".to_owned())
}

/// A time for which something is accepted yet, which may be none.
pub(super) fn grace(text: &str) -> Result<Duration, String> {
    let none = || (text.trim() == "0").then_some(Duration::ZERO);
    let time = mcpr_config::duration(text).or_else(none);
    time.ok_or_else(|| "write it like 30s, 5m, 1h30m or 7d, or 0 for no time at all".to_owned())
}

/// So many requests in such a time.
pub(super) fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error: InvalidRate| error.to_string())
}

/// A time from now, or a point in time.
pub(super) fn expiry(text: &str) -> Result<Expiry, String> {
    let after = mcpr_config::duration(text).map(Expiry::After);
    let at = || text.parse().ok().map(Expiry::At);
    after
        .or_else(at)
        .ok_or_else(|| "write it like 90d, 12h or 2027-04-15T08:00:00Z".to_owned())
}

/// A scope, by its name.
pub(super) fn scope(text: &str) -> Result<Scope, String> {
    text.trim()
        .parse()
        .map_err(|error: mcpr_admin::UnknownWord| error.to_string())
}

/// `KEY=VALUE`; the value may hold more equals signs.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or("write it like key=value")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// `NAME:VALUE`, as headers are written.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .map(|(name, value)| (name.trim(), value.trim()))
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .ok_or("write it like 'Authorization: Bearer ${TOKEN}'")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `KEY=VALUE`, the key with dots; the value is JSON or a text, and none removes the key.
pub(super) fn assignment(text: &str) -> Result<Assignment, String> {
    let (keys, rest) = keys(text)?;
    let value = rest
        .strip_prefix('=')
        .ok_or("write it like key=value, or key= to remove it")?;
    let typed = text[..text.len() - rest.len()].to_owned();
    Ok(Assignment {
        path: Path { keys, typed },
        value: value_or_none(value),
    })
}

/// Keys with dots between them; one that has dots itself stands in double quotes.
pub(super) fn path(text: &str) -> Result<Path, String> {
    match keys(text)? {
        (keys, "") => Ok(Path {
            keys,
            typed: text.to_owned(),
        }),
        _ => Err("write it like timeouts.call".to_owned()),
    }
}

/// JSON or a text; nothing is no value.
pub(crate) fn value_or_none(value: &str) -> Option<RawJson> {
    (!value.is_empty()).then(|| json_or_text(value))
}

/// The keys at the beginning of a text, and what follows them.
fn keys(text: &str) -> Result<(Vec<String>, &str), String> {
    let mut keys = Vec::new();
    let mut rest = text;
    loop {
        let (key, behind) = key(rest)?;
        keys.push(key.to_owned());
        match behind.strip_prefix('.') {
            Some(next) => rest = next,
            None => return Ok((keys, behind)),
        }
    }
}

fn key(text: &str) -> Result<(&str, &str), String> {
    let (key, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted
            .split_once('"')
            .ok_or("a key begins with \" and does not end")?,
        None => text.split_at(text.find(['.', '=']).unwrap_or(text.len())),
    };
    if key.is_empty() {
        return Err("a key is missing".to_owned());
    }
    Ok((key, rest))
}

/// A JSON object: the text itself, `@FILE`, or `-` for standard input.
pub(super) fn object(text: &str) -> Result<RawJson, String> {
    let json = content(text)?;
    let raw = RawJson::parse(json.into()).map_err(|error| match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    })?;
    if raw.is_object() {
        Ok(raw)
    } else {
        Err("it must be a JSON object, such as {\"path\":\".\"}".to_owned())
    }
}

fn content(text: &str) -> Result<Vec<u8>, String> {
    if text == "-" {
        return standard_input().map_err(|error| format!("standard input cannot be read: {error}"));
    }
    match text.strip_prefix('@') {
        Some(path) => fs::read(path).map_err(|error| format!("`{path}` cannot be read: {error}")),
        None => Ok(text.as_bytes().to_vec()),
    }
}

fn standard_input() -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    io::stdin().lock().read_to_end(&mut content)?;
    Ok(content)
}

/// The value of `--arg`: JSON if it is JSON, else a text.
pub(crate) fn json_or_text(value: &str) -> RawJson {
    RawJson::parse(Bytes::copy_from_slice(value.as_bytes())).unwrap_or_else(|_| RawJson::string(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json_if_it_is_json() {
        let values = [
            "5",
            "true",
            "null",
            "[1, 2]",
            "\"5\"",
            "1E400",
            "123456789012345678901234567890",
        ];
        for value in values {
            assert_eq!(json_or_text(value).as_str(), value);
        }
    }

    #[test]
    fn any_other_value_is_a_text() {
        for (value, json) in [
            (".", r#"".""#),
            ("", r#""""#),
            ("it's \"5\"", r#""it's \"5\"""#),
            ("[1", r#""[1""#),
            ("NaN", r#""NaN""#),
        ] {
            assert_eq!(json_or_text(value).as_str(), json);
        }
    }

    #[test]
    fn a_pair_is_cut_at_the_first_equals_sign() {
        assert_eq!(pair("q=a=b").unwrap(), ("q".to_owned(), "a=b".to_owned()));
        assert_eq!(pair("q=").unwrap(), ("q".to_owned(), String::new()));
        assert!(pair("q").is_err() && pair("=b").is_err());
    }

    #[test]
    fn keys_are_separated_by_dots_and_may_be_quoted() {
        let read = |text| {
            assignment(text).map(|set| (set.path.keys, set.value.map(|value| value.as_str().to_owned())))
        };
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();

        assert_eq!(
            read("mcpr.timeouts.call=5m"),
            Ok((keys(&["mcpr", "timeouts", "call"]), Some("\"5m\"".into())))
        );
        assert_eq!(read("lazy="), Ok((keys(&["lazy"]), None)));
        assert_eq!(
            read("env.\"a.b=c\"=d=e.f"),
            Ok((keys(&["env", "a.b=c"]), Some("\"d=e.f\"".into())))
        );
        assert_eq!(path("a.\"b.c\"").unwrap().keys(), ["a", "b.c"]);
        for text in ["", "a", "=1", "a..b=1", "a.=1", "\"a=1", "\"a\"b=1"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(path("a=b").is_err() && path("a.").is_err());
    }

    #[test]
    fn a_header_is_written_as_in_http() {
        let read = |text| header(text).map(|(name, value)| format!("{name}|{value}"));

        assert_eq!(
            read("Authorization: Bearer a:b").unwrap(),
            "Authorization|Bearer a:b"
        );
        assert_eq!(read("X:1").unwrap(), "X|1");
        assert!(read("X").is_err() && read(":1").is_err() && read("X:").is_err());
    }

    #[test]
    fn an_end_is_a_time_from_now_or_a_date() {
        let now = Timestamp::from_unix(1_800_000_000);
        let end = |text| expiry(text).map(|expiry| expiry.from(now).to_string());

        assert_eq!(end("90d").unwrap(), "2027-04-15T08:00:00Z");
        assert_eq!(end("2027-04-15T08:00:00Z").unwrap(), "2027-04-15T08:00:00Z");
        assert!(end("soon").is_err());
    }
}
