//! The envelope of JSON-RPC: what is taken for a message is one, byte for byte.

use std::collections::BTreeMap;

use bytes::Bytes;
use mcpr_protocol::{Fault, Message, RawJson};
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::value::RawValue;

/// Levels that a message may have in this test.
const LEVELS: usize = 12;

const WORDS: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "123456789012345678901234567890",
    "\"\"",
    "\"x\"",
    "{}",
    "[]",
    "[[[[[[[[",
    "}",
    "{\"a\":",
    "\\u0000",
    "\\ud800",
    "\u{feff}",
    "\"jsonrpc\":\"2.0\"",
    "\"id\":1",
    "\"id\":null",
    "\"method\":\"ping\"",
    "\"params\":{}",
    "\"result\":null",
    "\"error\":{}",
    "\"\\u0069d\":2",
];

/// The members of an object, each once, as serde reads them into another shape than the envelope does.
fn members(text: &[u8]) -> Option<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_slice(text).ok()
}

/// How deep brackets stand within each other.
fn depth(text: &[u8]) -> usize {
    let (mut deepest, mut depth, mut quoted, mut escaped) = (0, 0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// What a message carries: the names of its members and their texts.
fn carried(message: &Message) -> Vec<(&'static str, Option<RawJson>)> {
    match message {
        Message::Request(request) => {
            vec![
                ("id", Some(request.id.raw().clone())),
                ("params", request.params.clone()),
            ]
        }
        Message::Notification(notification) => vec![("params", notification.params.clone())],
        Message::Response(response) => {
            let (member, text) = match &response.outcome {
                Ok(result) => ("result", result),
                Err(error) => ("error", error),
            };
            let id = response.id.as_ref().map(|id| id.raw().clone());
            vec![("id", id), (member, Some(text.clone()))]
        }
    }
}

/// Whether everything that the message carries stands in the text that it was read from, and is a slice of it.
fn is_of(message: &Message, text: &Bytes) -> Verdict {
    let members = members(text);
    prop_assert!(members.is_some(), "a message that is no object");
    let members = members.unwrap_or_default();
    prop_assert_eq!(
        members.get("jsonrpc").map(|version| version.get()),
        Some("\"2.0\"")
    );
    for (name, carried) in carried(message) {
        let there = members
            .get(name)
            .map(|text| text.get())
            .filter(|text| *text != "null" || name == "result");
        prop_assert_eq!(carried.as_ref().map(RawJson::as_str), there, "{}", name);
        let bytes = carried.as_ref().map_or(&[][..], RawJson::as_bytes).as_ptr_range();
        prop_assert!(
            carried.is_none() || text.as_ptr_range().contains(&bytes.start),
            "{name} was copied"
        );
    }
    Ok(())
}

/// Whether what is written of a message reads as the same message.
fn comes_back(message: &Message) -> Verdict {
    let written = message.to_rope().into_bytes();
    let again = Message::parse(&written);
    prop_assert!(again.is_ok(), "{:?} is written and not read", written);
    let again = again.map(|again| carried(&again)).unwrap_or_default();
    prop_assert_eq!(again, carried(message));
    prop_assert_eq!(
        Message::parse(&written)
            .map(|again| again.to_rope().into_bytes())
            .ok(),
        Some(written)
    );
    Ok(())
}

fn property(bytes: &[u8], _: Dice) -> Verdict {
    let text = Bytes::copy_from_slice(bytes);
    match Message::parse(&text) {
        Ok(message) => {
            is_of(&message, &text)?;
            comes_back(&message)?;
        }
        Err(broken) => {
            let is_json = serde_json::from_slice::<&RawValue>(bytes).is_ok();
            let not_json = matches!(broken.fault, Fault::NotJson(_));
            prop_assert!(is_json || not_json, "{}", broken);
            // Names with half a character in them are JSON (RFC 8259, section 8.2), and nobody can read them.
            prop_assert!(!is_json || !not_json || members(bytes).is_none(), "{}", broken);
        }
    }
    let within = Message::parse_within(&text, LEVELS);
    let too_deep = matches!(&within, Err(broken) if matches!(broken.fault, Fault::TooDeep { .. }));
    prop_assert_eq!(too_deep, Message::parse(&text).is_ok() && depth(bytes) > LEVELS);
    Ok(())
}

#[test]
fn sec_05_any_bytes_are_one_message_as_they_stand_or_none() {
    Target::new("envelope").words(WORDS).holds(property);
}
