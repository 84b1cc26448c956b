//! Arguments that a stateless call over HTTP repeats in headers (2026-07-28, transports: `x-mcp-header`).

use std::collections::HashSet;

use mcpr_protocol::{Object, RawJson, encode_value};

const ANNOTATION: &str = "x-mcp-header";
/// How deep a schema may be nested where it has annotations at all.
const DEPTH: usize = 64;
/// Members of a schema that map names to schemas, so that their keys are no keywords.
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// Members of a schema that hold data, not schemas.
const DATA: [&str; 5] = ["default", "const", "enum", "example", "examples"];
/// The largest integer that every JSON reader takes exactly, 2^53 - 1.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// An argument of a tool that is repeated in a header.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ParamHeader {
    /// What the header is called behind `Mcp-Param-`, as the server wrote it.
    pub name: String,
    /// Where the argument is: the keys from the arguments down to it.
    pub path: Vec<String>,
    /// What it has to be.
    pub kind: ParamKind,
}

/// What an argument that is repeated in a header can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A text.
    String,
    /// A whole number within ±(2^53 - 1).
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// Why the annotations of a schema are not valid.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum HeaderFault {
    /// The name cannot be part of the name of a header (RFC 9110 section 5.6.2).
    #[error("{0} is not the name of a header")]
    NotAName(String),
    /// Two names differ in case at most.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// The property is no string, integer or boolean.
    #[error("`{0}` is not a string, an integer or a boolean")]
    NotScalar(String),
    /// It is not reached through `properties` alone.
    #[error("it is not reached from the root through `properties` alone")]
    OutOfReach,
}

impl ParamHeader {
    /// The name of the header.
    pub fn field(&self) -> String {
        format!("Mcp-Param-{}", self.name)
    }

    /// The value of the header for a call with these arguments, encoded for the wire.
    ///
    /// `None` where the argument is absent or `null`, and no header is sent; also where it is of
    /// another kind, which is for the server to refuse.
    pub fn value_in(&self, arguments: &RawJson) -> Option<String> {
        let mut value = arguments.clone();
        for key in &self.path {
            value = Object::read(&value).ok()?.get(key)?;
        }
        match self.kind {
            ParamKind::String => value.to_text().map(|text| encode_value(&text).into_owned()),
            ParamKind::Integer => decimal(&value),
            ParamKind::Boolean => {
                matches!(value.as_str(), "true" | "false").then(|| value.as_str().to_owned())
            }
        }
    }
}

impl ParamKind {
    fn of(schema: &Object) -> Option<Self> {
        match schema.text("type")?.as_str() {
            "string" => Some(Self::String),
            "integer" => Some(Self::Integer),
            "boolean" => Some(Self::Boolean),
            _ => None,
        }
    }
}

/// The annotations of an `inputSchema`, in the order of its text.
///
/// # Errors
///
/// When one of them is not valid, which makes the tool as a whole invalid over HTTP.
pub fn param_headers(schema: &RawJson) -> Result<Vec<ParamHeader>, HeaderFault> {
    // Nearly all schemas have none: the search spares them the walk.
    if memchr::memmem::find(schema.as_bytes(), ANNOTATION.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let mut walk = Walk::default();
    walk.chain(schema, DEPTH)?;
    Ok(walk.found)
}

/// A walk over a schema along its `properties`.
#[derive(Default)]
struct Walk {
    path: Vec<String>,
    found: Vec<ParamHeader>,
    /// The names that were found, in lower case.
    names: HashSet<String>,
}

impl Walk {
    /// A schema that is reached from the root through `properties` alone.
    fn chain(&mut self, schema: &RawJson, depth: usize) -> Result<(), HeaderFault> {
        let Ok(object) = Object::read(schema) else {
            return elsewhere(schema, depth);
        };
        for (key, value) in object.members() {
            match key {
                ANNOTATION => self.annotation(&object, &value)?,
                "properties" => self.properties(&value, deeper(depth)?)?,
                _ => member(key, &value, depth)?,
            }
        }
        Ok(())
    }

    fn properties(&mut self, map: &RawJson, depth: usize) -> Result<(), HeaderFault> {
        let Ok(properties) = Object::read(map) else {
            return elsewhere(map, depth);
        };
        for (name, schema) in properties.members() {
            self.path.push(name.to_owned());
            self.chain(&schema, depth)?;
            self.path.pop();
        }
        Ok(())
    }

    fn annotation(&mut self, schema: &Object, value: &RawJson) -> Result<(), HeaderFault> {
        let name = value.to_text().filter(|name| is_token(name));
        let name = name.ok_or_else(|| HeaderFault::NotAName(value.as_str().to_owned()))?;
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(HeaderFault::Twice(name));
        }
        if self.path.is_empty() {
            return Err(HeaderFault::OutOfReach);
        }
        let kind = ParamKind::of(schema).ok_or_else(|| HeaderFault::NotScalar(self.path.join(".")))?;
        self.found.push(ParamHeader {
            name,
            path: self.path.clone(),
            kind,
        });
        Ok(())
    }
}

/// A member of a schema in which no annotation may be.
fn member(key: &str, value: &RawJson, depth: usize) -> Result<(), HeaderFault> {
    if DATA.contains(&key) {
        return Ok(());
    }
    match Object::read(value) {
        Ok(map) if MAPS.contains(&key) => {
            let depth = deeper(depth)?;
            map.members()
                .try_for_each(|(_, schema)| elsewhere(&schema, depth))
        }
        _ => elsewhere(value, depth),
    }
}

/// A schema, or a list of schemas, in which no annotation may be.
fn elsewhere(value: &RawJson, depth: usize) -> Result<(), HeaderFault> {
    if memchr::memmem::find(value.as_bytes(), ANNOTATION.as_bytes()).is_none() {
        return Ok(());
    }
    let depth = deeper(depth)?;
    if let Some(schemas) = value.elements() {
        return schemas.iter().try_for_each(|schema| elsewhere(schema, depth));
    }
    match Object::read(value) {
        Ok(schema) if schema.get(ANNOTATION).is_some() => Err(HeaderFault::OutOfReach),
        Ok(schema) => schema
            .members()
            .try_for_each(|(key, value)| member(key, &value, depth)),
        // A string that mentions it, or an object that two readers understand differently.
        Err(_) if value.is_object() => Err(HeaderFault::OutOfReach),
        Err(_) => Ok(()),
    }
}

/// One level further down; what is nested beyond reason counts as out of reach.
fn deeper(depth: usize) -> Result<usize, HeaderFault> {
    depth.checked_sub(1).ok_or(HeaderFault::OutOfReach)
}

fn is_token(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(token)
}

/// The decimal form of a whole number, however it is written: `42.0` and `4.2e1` are `42`.
fn decimal(value: &RawJson) -> Option<String> {
    let number: f64 = value.read().ok()?;
    let whole = number.fract() == 0.0 && number.abs() <= LARGEST;
    whole.then(|| (number as i64).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(schema: &'static str) -> Result<Vec<ParamHeader>, HeaderFault> {
        param_headers(&RawJson::from_static(schema))
    }

    #[test]
    fn annotations_are_found_along_properties() {
        let found = headers(
            r#"{"type":"object","properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "options":{"type":"object","properties":{"limit":{"x-mcp-header":"Limit","type":"integer"}}},
                "x-mcp-header":{"type":"string","default":{"x-mcp-header":"data"}}}}"#,
        );
        let header = |name: &str, path: &[&str], kind| ParamHeader {
            name: name.into(),
            path: path.iter().map(|&key| key.into()).collect(),
            kind,
        };
        let expected = [
            header("Region", &["region"], ParamKind::String),
            header("Limit", &["options", "limit"], ParamKind::Integer),
        ];
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn each_rule_of_the_revision_is_checked() {
        use HeaderFault::{NotAName, NotScalar, OutOfReach, Twice};
        let cases = [
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
                NotAName("\"\"".into()),
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
                NotAName("\"a b\"".into()),
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#,
                NotAName("7".into()),
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
                Twice("a".into()),
            ),
            (
                r#"{"properties":{"a":{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}}}"#,
                NotScalar("a.n".into()),
            ),
            (
                r#"{"properties":{"n":{"x-mcp-header":"N"}}}"#,
                NotScalar("n".into()),
            ),
            (r#"{"type":"object","x-mcp-header":"N"}"#, OutOfReach),
            (
                r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"N"}}}}"#,
                OutOfReach,
            ),
            (
                r#"{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"N"}}}]}"#,
                OutOfReach,
            ),
            (
                r#"{"$defs":{"x-mcp-header":{"type":"string","x-mcp-header":"N"}}}"#,
                OutOfReach,
            ),
            (r#"{"not":{"if":{"x-mcp-header":"N"}}}"#, OutOfReach),
        ];
        for (schema, fault) in cases {
            assert_eq!(headers(schema), Err(fault), "{schema}");
        }
    }

    #[test]
    fn what_only_mentions_it_has_none() {
        for schema in [
            r#"{"description":"x-mcp-header"}"#,
            r#"{"enum":[{"x-mcp-header":"N"}]}"#,
            r#"{"$defs":{"x-mcp-header":{"type":"string"}}}"#,
        ] {
            assert_eq!(headers(schema), Ok(Vec::new()), "{schema}");
        }
    }

    #[test]
    fn nesting_beyond_reason_is_no_stack_overflow() {
        let deep = format!(
            "{}{{\"x-mcp-header\":1}}{}",
            "{\"items\":".repeat(2_000),
            "}".repeat(2_000)
        );
        assert_eq!(
            param_headers(&RawJson::trusted(deep)),
            Err(HeaderFault::OutOfReach)
        );
    }

    #[test]
    fn values_are_written_as_the_revision_says() {
        let arguments = RawJson::from_static(r#"{"s":"é","n":{"i":42.0,"big":1e300},"b":true,"null":null}"#);
        let value = |path: &[&str], kind| {
            let path = path.iter().map(|&key| key.to_owned()).collect();
            ParamHeader {
                name: "X".into(),
                path,
                kind,
            }
            .value_in(&arguments)
        };
        assert_eq!(
            value(&["s"], ParamKind::String).as_deref(),
            Some("=?base64?w6k=?=")
        );
        assert_eq!(value(&["n", "i"], ParamKind::Integer).as_deref(), Some("42"));
        assert_eq!(value(&["b"], ParamKind::Boolean).as_deref(), Some("true"));
        assert_eq!(value(&["n", "big"], ParamKind::Integer), None);
        assert_eq!(value(&["null"], ParamKind::String), None);
        assert_eq!(value(&["absent"], ParamKind::String), None);
        assert_eq!(value(&["s"], ParamKind::Boolean), None);
    }
}
