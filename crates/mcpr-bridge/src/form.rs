//! Forms, for clients that know only those of 2025-06-18.

use bytes::Bytes;
use mcpr_protocol::{Edit, Object, RawJson, Rope};

/// The form's schema in the words of 2025-06-18; `None` if it can stay.
///
/// Defaults were for switches only, choices with titles were written as `enum` and `enumNames`,
/// and there was no way to choose several things: that is the error.
pub(crate) fn older(schema: &Object) -> Result<Option<Rope>, &'static str> {
    let Some(properties) = schema.object("properties") else {
        return Ok(None);
    };
    let names: Vec<(String, RawJson)> = properties
        .members()
        .map(|(name, field)| (name.to_owned(), field))
        .collect();
    let mut edit = Edit::new(&properties);
    for (name, field) in &names {
        if let Some(changed) = older_field(field)? {
            edit.set(name, changed);
        }
    }
    if edit.is_empty() {
        return Ok(None);
    }
    let changed = edit.finish();
    Ok(Some(Edit::new(schema).set("properties", changed).finish()))
}

fn older_field(field: &RawJson) -> Result<Option<Rope>, &'static str> {
    let Ok(field) = Object::read(field) else {
        return Ok(None);
    };
    let kind = field.text("type");
    if kind.as_deref() == Some("array") {
        return Err("a choice of several things");
    }
    let mut edit = Edit::new(&field);
    if kind.as_deref() != Some("boolean") {
        edit.remove("default");
    }
    if let Some((values, titles)) = field.get("oneOf").and_then(|choices| titled(&choices)) {
        edit.remove("oneOf").set("enum", values).set("enumNames", titles);
    }
    Ok((!edit.is_empty()).then(|| edit.finish()))
}

/// The values and the titles of `[{"const":…,"title":…}, …]`.
fn titled(choices: &RawJson) -> Option<(Rope, Rope)> {
    let (mut values, mut titles) = (Vec::new(), Vec::new());
    for choice in choices.elements()? {
        let choice = Object::read(&choice).ok()?;
        let value = choice.get("const")?;
        titles.push(choice.get("title").unwrap_or_else(|| value.clone()));
        values.push(value);
    }
    Some((array(values), array(titles)))
}

fn array(elements: Vec<RawJson>) -> Rope {
    let mut text = Rope::from(Bytes::from_static(b"["));
    for (index, element) in elements.into_iter().enumerate() {
        text.push_static(if index == 0 { "" } else { "," });
        text.append(element.into());
    }
    text.push_static("]");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn downgraded(text: &'static str) -> Result<Option<String>, &'static str> {
        let schema = Object::read(&RawJson::from_static(text)).unwrap();
        let text_of = |rope: Rope| String::from_utf8(rope.into_bytes().to_vec()).unwrap();
        older(&schema).map(|changed| changed.map(text_of))
    }

    #[test]
    fn defaults_go_except_of_switches() {
        let text = r#"{"properties":{"s":{"type":"string","default":"d","x":1},"b":{"type":"boolean","default":true},"n":{"type":"number","default":1}},"required":["s"]}"#;
        let expected = r#"{"properties":{"s":{"type":"string","x":1},"b":{"type":"boolean","default":true},"n":{"type":"number"}},"required":["s"]}"#;
        assert_eq!(downgraded(text).unwrap().unwrap(), expected);
        assert_eq!(downgraded(expected).unwrap(), None);
        assert_eq!(downgraded("{}").unwrap(), None);
    }

    #[test]
    fn choices_with_titles_become_names() {
        let text = r#"{"properties":{"c":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g"}],"default":"r"}}}"#;
        assert_eq!(
            downgraded(text).unwrap().unwrap(),
            r#"{"properties":{"c":{"type":"string","enum":["r","g"],"enumNames":["Red","g"]}}}"#
        );
    }

    #[test]
    fn a_choice_of_several_cannot_be_shown() {
        let text = r#"{"properties":{"c":{"type":"array","items":{"type":"string","enum":["r"]}}}}"#;
        assert_eq!(downgraded(text).unwrap_err(), "a choice of several things");
    }
}
