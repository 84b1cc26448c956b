//! JSON for people: short values on a line, long ones member by member, every number as it was written.

use mcpr_protocol::{Object, RawJson};

/// The longest value that stays on one line.
const WIDTH: usize = 100;

/// Lays a JSON text out.
pub(super) fn laid_out(text: &str) -> String {
    let raw = RawJson::parse(text.to_owned().into()).expect("what is on the wire is JSON");
    indented(&raw, 0)
}

fn indented(raw: &RawJson, depth: usize) -> String {
    let short = raw.as_str().chars().count() + 2 * depth <= WIDTH;
    let parts = if short { None } else { parts(raw, depth + 1) };
    let Some((open, parts, close)) = parts else {
        return raw.as_str().to_owned();
    };
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    let lines: Vec<_> = parts.into_iter().map(|part| format!("{inner}{part}")).collect();
    format!("{open}\n{}\n{outer}{close}", lines.join(",\n"))
}

/// The parts of an object or a list; nothing else has any.
fn parts(raw: &RawJson, depth: usize) -> Option<(char, Vec<String>, char)> {
    if let Some(elements) = raw.elements() {
        let parts = elements.iter().map(|element| indented(element, depth));
        return Some(('[', parts.collect(), ']'));
    }
    let object = Object::read(raw).ok()?;
    let part = |(key, value): (&str, RawJson)| {
        format!("{}: {}", RawJson::string(key).as_str(), indented(&value, depth))
    };
    Some(('{', object.members().map(part).collect(), '}'))
}

#[test]
fn long_json_is_broken_up_and_numbers_stay_as_they_were() {
    let long = format!(r#"{{"n":1E400,"list":["{}",{{"a":1}}]}}"#, "x".repeat(90));
    let expected = format!(
        "{{\n  \"n\": 1E400,\n  \"list\": [\n    \"{}\",\n    {{\"a\":1}}\n  ]\n}}",
        "x".repeat(90)
    );
    assert_eq!(laid_out(&long), expected);
    assert_eq!(laid_out(r#"{"a":1}"#), r#"{"a":1}"#);
}
