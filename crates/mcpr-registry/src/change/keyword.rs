//! The keywords of JSON Schema as far as changes of them are understood.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mcpr_protocol::{Object, RawJson};

use super::schema::Shift;

/// Keywords that say nothing of what is valid.
pub(super) const SILENT: [&str; 11] = [
    "description",
    "title",
    "default",
    "example",
    "examples",
    "$comment",
    "$schema",
    "deprecated",
    "readOnly",
    "writeOnly",
    "x-mcp-header",
];

/// Keywords that hold schemas for references.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords that are looked at one by one.
pub(super) const KNOWN: [&str; 9] = [
    "type",
    "properties",
    "required",
    "enum",
    "items",
    "additionalProperties",
    "anyOf",
    DEFINITIONS[0],
    DEFINITIONS[1],
];

/// Keywords each of which alone only takes values away.
pub(super) const LIMITS: [&str; 15] = [
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "multipleOf",
    "uniqueItems",
    "pattern",
    "format",
    "const",
];

/// How many values are told, and how many characters of each.
const SHOWN: (usize, usize) = (5, 40);

/// The types that a schema takes; `None` for any.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Types(Option<BTreeSet<String>>);

/// The members that a schema tells of.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) properties: BTreeMap<String, RawJson>,
    pub(super) required: BTreeSet<String>,
}

impl Types {
    /// `None` where it is not understood.
    pub(super) fn read(kind: Option<&RawJson>) -> Option<Self> {
        let Some(kind) = kind else {
            return Some(Self(None));
        };
        let types = match kind.elements() {
            Some(types) => types.iter().map(RawJson::to_text).collect::<Option<_>>()?,
            None => BTreeSet::from([kind.to_text()?]),
        };
        Some(Self(Some(types)))
    }

    pub(super) fn or_object(self) -> Self {
        Self(self.0.or_else(|| Some(BTreeSet::from(["object".to_owned()]))))
    }

    pub(super) fn shift_to(&self, later: &Self) -> Shift {
        if later.takes_all_of(self) {
            Shift::Wider
        } else if self.takes_all_of(later) {
            Shift::Narrower
        } else {
            Shift::Other
        }
    }

    fn takes_all_of(&self, other: &Self) -> bool {
        let Some(mine) = &self.0 else {
            return true;
        };
        // Every integer is a number.
        let takes = |kind: &String| mine.contains(kind) || (kind == "integer" && mine.contains("number"));
        other.0.as_ref().is_some_and(|types| types.iter().all(takes))
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("any"),
            Some(types) => f.write_str(&types.iter().map(String::as_str).collect::<Vec<_>>().join(" or ")),
        }
    }
}

impl Members {
    /// `None` where it is not understood.
    pub(super) fn read(schema: &Object) -> Option<Self> {
        let properties = match schema.get("properties") {
            Some(properties) => owned(&Object::read(&properties).ok()?).collect(),
            None => BTreeMap::new(),
        };
        let required = match schema.get("required") {
            Some(names) => names
                .elements()?
                .iter()
                .map(RawJson::to_text)
                .collect::<Option<_>>()?,
            None => BTreeSet::new(),
        };
        Some(Self { properties, required })
    }
}

/// The members with their names.
pub(super) fn owned(object: &Object) -> impl Iterator<Item = (String, RawJson)> {
    object.members().map(|(name, value)| (name.to_owned(), value))
}

/// Whether a schema says what is valid by this keyword alone.
pub(super) fn is_only(schema: &Object, keyword: &str) -> bool {
    let mut names = schema.members().map(|(name, _)| name);
    names.all(|name| name == keyword || SILENT.contains(&name))
}

/// What a change of one of the limits does.
pub(super) fn limit_shift(keyword: &str, was: Option<&RawJson>, is: Option<&RawJson>) -> Shift {
    let (Some(was), Some(is)) = (was, is) else {
        return if is.is_none() {
            Shift::Wider
        } else {
            Shift::Narrower
        };
    };
    let upper = keyword.contains("max") || keyword.contains("Max");
    let lower = keyword.contains("min") || keyword.contains("Min");
    match (number(was), number(is)) {
        (Some(was), Some(is)) if (upper && is > was) || (lower && is < was) => Shift::Wider,
        (Some(was), Some(is)) if (upper && is < was) || (lower && is > was) => Shift::Narrower,
        _ => Shift::Other,
    }
}

fn number(raw: &RawJson) -> Option<f64> {
    raw.as_str().parse().ok()
}

/// Values as a list for people.
pub(super) fn listed(values: &[RawJson]) -> String {
    let (count, length) = SHOWN;
    let shown = values.iter().take(count).map(|value| cut(value.as_str(), length));
    let more = values.len().saturating_sub(count);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.collect::<Vec<_>>().join(", ") + &more
}

fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
