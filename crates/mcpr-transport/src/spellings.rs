//! How a text that must not be told is likely to be quoted.

use std::fmt::Write as _;

use mcpr_protocol::RawJson;

/// The text itself, in small letters, as JSON and JSON within JSON have it, and as a part of a URL.
pub(crate) fn of(text: &str) -> Vec<String> {
    let json = json(text);
    let mut all = vec![
        text.to_owned(),
        text.to_lowercase(),
        self::json(&json),
        json,
        percent(text),
    ];
    all.sort_unstable();
    all.dedup();
    all
}

fn json(text: &str) -> String {
    let quoted = RawJson::string(text);
    let quoted = quoted.as_str();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => out.push(char::from(byte)),
            // Writing into a text cannot fail.
            false => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}
