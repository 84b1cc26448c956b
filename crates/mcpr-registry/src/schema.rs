//! Whether a tool's `inputSchema` is one that clients accept, and the one repair (AGG-03, B11).

use mcpr_protocol::{Edit, Object, ObjectError, RawJson};

/// How deep unions in unions are looked into.
const DEPTH: usize = 8;

/// What is to be done about an `inputSchema`.
#[derive(Debug)]
pub(crate) enum Finding {
    /// It stays as it is.
    Fine,
    /// It is replaced by this text: the same with `"type":"object"`.
    Repaired(RawJson),
    /// The tool cannot be shown.
    Hopeless(SchemaFault),
}

/// Why a schema cannot be the schema of a tool's arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum SchemaFault {
    /// It is no JSON object.
    #[error("it must be an object")]
    NotAnObject,
    /// A member is there twice, so that two readers could understand two things.
    #[error("member `{0}` is there twice")]
    Duplicate(String),
    /// Its `type` is something else.
    #[error("its `type` must be \"object\", it is {0}")]
    OtherType(String),
    /// Its union has no branch for objects.
    #[error("no branch of its union takes an object")]
    NoObjectBranch,
}

/// Looks at the `inputSchema` of a tool.
pub(crate) fn examine(schema: Option<&RawJson>) -> Finding {
    let Some(schema) = schema.filter(|schema| !schema.is_null()) else {
        return Finding::Repaired(RawJson::from_static(r#"{"type":"object"}"#));
    };
    let object = match Object::read(schema) {
        Ok(object) => object,
        Err(ObjectError::NotAnObject) => return Finding::Hopeless(SchemaFault::NotAnObject),
        Err(ObjectError::Duplicate(key)) => return Finding::Hopeless(SchemaFault::Duplicate(key)),
    };
    match object.get("type") {
        Some(kind) if kind.as_str() == "\"object\"" => Finding::Fine,
        Some(kind) if !names_object(&kind) => {
            Finding::Hopeless(SchemaFault::OtherType(kind.as_str().to_owned()))
        }
        _ if !takes_object(&object, DEPTH) => Finding::Hopeless(SchemaFault::NoObjectBranch),
        _ => Finding::Repaired(typed(&object)),
    }
}

/// Whether the root type of a schema is `object`, as the session era demands of an `outputSchema`.
pub(crate) fn is_object_schema(schema: &RawJson) -> bool {
    let object = Object::read(schema).ok();
    object.and_then(|object| object.text("type")).as_deref() == Some("object")
}

fn typed(object: &Object) -> RawJson {
    let mut edit = Edit::new(object);
    edit.set("type", RawJson::from_static("\"object\""));
    RawJson::trusted(edit.finish().into_bytes())
}

/// Whether a `type` leaves room for objects; `null` says as little as no `type`.
fn names_object(kind: &RawJson) -> bool {
    let is_object = |text: Option<String>| text.as_deref() == Some("object");
    let one_of = kind.elements().unwrap_or_default();
    kind.is_null() || is_object(kind.to_text()) || one_of.iter().any(|kind| is_object(kind.to_text()))
}

fn takes_object(schema: &Object, depth: usize) -> bool {
    if depth == 0 {
        return true;
    }
    let branches = |key| schema.get(key).and_then(|branches| branches.elements());
    let fits = |branch: &RawJson| branch_takes_object(branch, depth - 1);
    let some = |key| branches(key).is_none_or(|branches| branches.iter().any(fits));
    let every = |key| branches(key).is_none_or(|branches| branches.iter().all(fits));
    some("anyOf") && some("oneOf") && every("allOf")
}

fn branch_takes_object(branch: &RawJson, depth: usize) -> bool {
    match Object::read(branch) {
        Ok(schema) => {
            schema.get("type").is_none_or(|kind| names_object(&kind)) && takes_object(&schema, depth)
        }
        Err(_) => branch.as_str() == "true",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(schema: &'static str) -> Option<String> {
        match examine(Some(&RawJson::from_static(schema))) {
            Finding::Repaired(text) => Some(text.as_str().to_owned()),
            _ => None,
        }
    }

    fn fault(schema: &'static str) -> Option<SchemaFault> {
        match examine(Some(&RawJson::from_static(schema))) {
            Finding::Hopeless(fault) => Some(fault),
            _ => None,
        }
    }

    #[test]
    fn b11_a_missing_type_is_put_in_and_all_else_stays() {
        let cases = [
            ("null", r#"{"type":"object"}"#),
            ("{}", r#"{"type":"object"}"#),
            (
                r#"{ "anyOf" : [{}], "n":1E400 }"#,
                r#"{ "anyOf" : [{}], "n":1E400,"type":"object" }"#,
            ),
            (
                r##"{"$ref":"#/$defs/a","$defs":{"a":{}}}"##,
                r##"{"$ref":"#/$defs/a","$defs":{"a":{}},"type":"object"}"##,
            ),
            (r#"{"type":null,"x":1}"#, r#"{"type":"object","x":1}"#),
            (r#"{"type":["object","null"]}"#, r#"{"type":"object"}"#),
        ];
        for (schema, expected) in cases {
            assert_eq!(repaired(schema).as_deref(), Some(expected), "{schema}");
        }
        assert!(matches!(examine(None), Finding::Repaired(_)));
    }

    #[test]
    fn b14_an_object_schema_is_not_touched() {
        let schema = RawJson::from_static(r#"{"z":1,"type":"object","a":{"$ref":"x"},"m":0}"#);
        assert!(matches!(examine(Some(&schema)), Finding::Fine));
    }

    #[test]
    fn b11_what_takes_no_object_is_hopeless() {
        assert_eq!(
            fault(r#"{"type":"string"}"#),
            Some(SchemaFault::OtherType("\"string\"".into()))
        );
        assert_eq!(
            fault(r#"{"type":["string","null"]}"#),
            Some(SchemaFault::OtherType(r#"["string","null"]"#.into()))
        );
        assert_eq!(fault("true"), Some(SchemaFault::NotAnObject));
        assert_eq!(fault("[]"), Some(SchemaFault::NotAnObject));
        assert_eq!(
            fault(r#"{"a":1,"a":2}"#),
            Some(SchemaFault::Duplicate("a".into()))
        );
        assert_eq!(
            fault(r#"{"anyOf":[{"type":"string"},false]}"#),
            Some(SchemaFault::NoObjectBranch)
        );
        assert_eq!(
            fault(r#"{"allOf":[{},{"oneOf":[{"type":"null"}]}]}"#),
            Some(SchemaFault::NoObjectBranch)
        );
    }

    #[test]
    fn one_branch_for_objects_is_enough() {
        assert!(repaired(r#"{"oneOf":[{"type":"string"},{"type":"object"}]}"#).is_some());
        assert!(repaired(r#"{"anyOf":[{"type":"null"},true]}"#).is_some());
    }
}
