//! What tells a request that is tried again from another one.

use mcpr_protocol::{Method, Object, RawJson};
use sha2::{Digest, Sha256};

use crate::input::{INPUT_RESPONSES, REQUEST_STATE};

/// Below this depth the text itself counts: nobody's arguments are so deep, and the stack is not.
const DEPTH: usize = 64;

/// A digest of what is asked and with which arguments, so that a handle is good only for the
/// request it was given for.
///
/// The order of members and white space do not matter; the text of numbers does. Not part of it:
/// `_meta` and what a retry brings.
pub fn digest(method: &Method, params: Option<&Object>) -> [u8; 32] {
    let mut hash = Sha256::new();
    text(&mut hash, b'm', method.as_str());
    if let Some(params) = params {
        let counts = |(name, _): &(&str, RawJson)| !["_meta", INPUT_RESPONSES, REQUEST_STATE].contains(name);
        members(&mut hash, params.members().filter(counts), DEPTH);
    }
    hash.finalize().into()
}

/// Every part begins with what it is and how long, so that no two values read as the same bytes.
fn text(hash: &mut Sha256, kind: u8, text: &str) {
    hash.update([kind]);
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text);
}

fn members<'a>(hash: &mut Sha256, members: impl Iterator<Item = (&'a str, RawJson)>, depth: usize) {
    let mut sorted: Vec<_> = members.collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    hash.update([b'{']);
    hash.update((sorted.len() as u64).to_be_bytes());
    for (name, member) in sorted {
        text(hash, b'k', name);
        value(hash, &member, depth);
    }
}

fn value(hash: &mut Sha256, raw: &RawJson, depth: usize) {
    if let Some(string) = raw.to_text() {
        return text(hash, b's', &string);
    }
    if depth > 0 {
        if let Ok(object) = Object::read(raw) {
            return members(hash, object.members(), depth - 1);
        }
        if let Some(elements) = raw.is_array().then(|| raw.elements()).flatten() {
            hash.update([b'[']);
            hash.update((elements.len() as u64).to_be_bytes());
            return elements
                .iter()
                .for_each(|element| value(hash, element, depth - 1));
        }
    }
    text(hash, b't', raw.as_str()); // Numbers and words, and what is too deep or ambiguous.
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> [u8; 32] {
        let raw = RawJson::trusted(text.to_owned());
        digest(&Method::ToolsCall, Some(&Object::read(&raw).unwrap()))
    }

    const CALL: &str = r#"{"name":"x","arguments":{"a":[1,{"b":"é","c":null}]}}"#;

    #[test]
    fn order_white_space_and_escapes_do_not_matter() {
        let other = r#"{ "arguments" : {"a":[1, {"c":null,"b":"\u00e9"}]}, "name":"x",
            "_meta":{"progressToken":1},"inputResponses":{"a":{}},"requestState":"s"}"#;
        assert_eq!(of(CALL), of(other));
    }

    #[test]
    fn everything_else_does() {
        for other in [
            CALL.replace('1', "1.0"),
            CALL.replace("null", "\"null\""),
            CALL.replace("[1,", "[[1],"),
            CALL.replace("\"x\"", "\"y\""),
            CALL.replace("\"b\"", "\"B\""),
            CALL.replace("arguments", "argument"),
        ] {
            assert_ne!(of(CALL), of(&other), "{other}");
        }
        let raw = RawJson::from_static(CALL);
        let object = Object::read(&raw).unwrap();
        assert_ne!(of(CALL), digest(&Method::PromptsGet, Some(&object)));
        assert_ne!(digest(&Method::ToolsCall, None), of("{\"a\":1}"));
    }

    #[test]
    fn the_deepest_arguments_are_taken_too() {
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(of(&deep), of(&deep));
    }
}
