//! One text for all ways to write the same JSON.

use mcpr_protocol::{Object, RawJson};

/// How deep arrays and objects are put in order; deeper ones count as they are written.
const DEPTH: usize = 64;

/// The text without blanks, with one way to write strings, and with members in the order of their
/// names. Two such texts are equal if they say the same, but that numbers count as they are written.
pub(super) fn canonical(raw: &RawJson) -> RawJson {
    let mut out = Vec::with_capacity(raw.as_bytes().len());
    write(raw, DEPTH, &mut out);
    RawJson::trusted(out)
}

fn write(raw: &RawJson, depth: usize, out: &mut Vec<u8>) {
    let written = match raw.as_bytes().first() {
        Some(b'[') if depth > 0 => write_array(raw, depth - 1, out),
        Some(b'{') if depth > 0 => write_object(raw, depth - 1, out),
        Some(b'"') => write_string(raw, out),
        _ => None,
    };
    if written.is_none() {
        out.extend_from_slice(raw.as_bytes());
    }
}

fn write_array(raw: &RawJson, depth: usize, out: &mut Vec<u8>) -> Option<()> {
    let elements = raw.elements()?;
    out.push(b'[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(element, depth, out);
    }
    out.push(b']');
    Some(())
}

/// Nothing where a name is there twice: which of the two counts is not for us to say.
fn write_object(raw: &RawJson, depth: usize, out: &mut Vec<u8>) -> Option<()> {
    let object = Object::read(raw).ok()?;
    let mut members: Vec<(&str, RawJson)> = object.members().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    out.push(b'{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(RawJson::string(name).as_bytes());
        out.push(b':');
        write(value, depth, out);
    }
    out.push(b'}');
    Some(())
}

/// Nothing where the string is no text, such as half of a surrogate pair.
fn write_string(raw: &RawJson, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(RawJson::string(&raw.to_text()?).as_bytes());
    Some(())
}
