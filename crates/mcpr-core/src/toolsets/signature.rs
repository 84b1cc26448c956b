//! How tools are told to models and people in short.

use mcpr_admin::Signature;
use mcpr_protocol::{Era, Object, RawJson};
use mcpr_registry::Tool;

/// The longest part of a description that is told.
const LONGEST: usize = 200;

/// How a tool is called.
pub(super) fn signature(tool: &Tool) -> Signature {
    let definition = Object::read(&tool.definition).ok();
    let schema = definition.and_then(|definition| definition.object("inputSchema"));
    Signature {
        name: tool.exposed.to_string(),
        namespaced_name: tool.origin.to_string(),
        signature: schema.as_ref().map(parameters).unwrap_or_default(),
        description: description(tool).map(|text| first_sentence(&text)),
    }
}

/// What clients are told that a tool does.
pub(crate) fn description(tool: &Tool) -> Option<String> {
    Object::read(tool.rendered(Era::Session))
        .ok()?
        .text("description")
}

/// `repo_path: string, max?: integer`.
fn parameters(schema: &Object) -> String {
    let required: Vec<String> = schema
        .get("required")
        .and_then(|required| required.elements())
        .unwrap_or_default()
        .iter()
        .filter_map(RawJson::to_text)
        .collect();
    let properties = schema.object("properties");
    let all = properties.iter().flat_map(Object::members);
    let parameter = |(name, schema): (&str, RawJson)| {
        let optional = if required.iter().any(|known| known == name) {
            ""
        } else {
            "?"
        };
        format!("{name}{optional}: {}", kind(&schema))
    };
    all.map(parameter).collect::<Vec<_>>().join(", ")
}

/// What a parameter takes, in a word or two.
fn kind(schema: &RawJson) -> String {
    let any = || "any".to_owned();
    let Ok(object) = Object::read(schema) else {
        return any();
    };
    if let Some(choices) = object.get("enum").and_then(|choices| choices.elements()) {
        let shown: Vec<&str> = choices.iter().take(6).map(RawJson::as_str).collect();
        let more = if choices.len() > shown.len() { "|…" } else { "" };
        return format!("{}{more}", shown.join("|"));
    }
    let named = object.get("type");
    let several = || named.as_ref()?.elements();
    let name = match object.text("type") {
        Some(name) => name,
        None => several()
            .map(|types| {
                types
                    .iter()
                    .filter_map(RawJson::to_text)
                    .collect::<Vec<_>>()
                    .join("|")
            })
            .unwrap_or_else(any),
    };
    match object.get("items").filter(|_| name == "array") {
        Some(items) => format!("{}[]", kind(&items)),
        None => name,
    }
}

/// The first sentence of a text, on one line.
pub(super) fn first_sentence(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line
        .match_indices(['.', '!', '?'])
        .find(|(index, _)| line[index + 1..].starts_with(' '))
        .map_or(line.len(), |(index, _)| index + 1);
    mcpr_telemetry::redact::cut(&line[..end], LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_03_a_signature_names_what_is_needed_and_what_is_not() {
        let schema = RawJson::from_static(
            r#"{"properties":{"path":{"type":"string"},"max":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},
                "mode":{"enum":["a","b"]},"odd":true,"id":{"type":["string","null"]}},"required":["path"]}"#,
        );
        let shown = parameters(&Object::read(&schema).unwrap());
        let expected =
            r#"path: string, max?: integer, tags?: string[], mode?: "a"|"b", odd?: any, id?: string|null"#;
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_description_is_told_to_the_end_of_its_first_sentence() {
        assert_eq!(
            first_sentence("Reads v1.2 files.\n  More here."),
            "Reads v1.2 files."
        );
        assert_eq!(first_sentence("no end"), "no end");
    }
}
