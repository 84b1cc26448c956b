//! How values are laid out where they are put.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use mcpr_protocol::RawJson;

use super::trivia;

/// The habits of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits<'t> {
    /// How lines end.
    newline: &'static str,
    /// One step of indentation.
    unit: &'t str,
}

/// How an object is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    /// Whether each member has a line of its own.
    pub(super) spread: bool,
    /// Whether there is white space behind colons and commas.
    pub(super) airy: bool,
    /// Whether there is white space inside of the braces.
    pub(super) padded: bool,
}

/// A value on its way into a document.
pub(super) struct Layout<'t> {
    pub(super) habits: Habits<'t>,
    pub(super) manner: Manner,
}

impl<'t> Habits<'t> {
    pub(super) fn of(text: &'t str, root: &Object<'_>) -> Self {
        let first_line = text.split_inclusive('\n').next().unwrap_or_default();
        let starts = root.properties.iter().map(|member| member.range.start);
        let indented = starts
            .filter(|start| trivia::starts_line(text, *start))
            .map(|start| trivia::indentation(text, start));
        Self {
            newline: if first_line.ends_with("\r\n") {
                "\r\n"
            } else {
                "\n"
            },
            unit: indented.into_iter().find(|unit| !unit.is_empty()).unwrap_or("  "),
        }
    }

    /// A line break with so much indentation.
    pub(super) fn line(&self, indent: &str) -> String {
        format!("{}{indent}", self.newline)
    }

    /// One step further in.
    pub(super) fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }
}

impl Manner {
    /// Members on lines of their own.
    pub(super) const SPREAD: Self = Self {
        spread: true,
        airy: true,
        padded: true,
    };

    /// That of an object with members.
    pub(super) fn of(text: &str, object: &Object<'_>) -> Self {
        let Some(first) = object.properties.first() else {
            return Self::SPREAD;
        };
        let colon = &text[first.name.range().end..first.value.range().start];
        Self {
            spread: is_spread(text, object),
            airy: colon.ends_with(char::is_whitespace),
            padded: text[object.range.start + 1..].starts_with(char::is_whitespace),
        }
    }
}

/// Whether a line ends between two members, or between one and a brace.
pub(super) fn is_spread(text: &str, object: &Object<'_>) -> bool {
    let ends = object.properties.iter().map(|member| member.range.end);
    std::iter::once(object.range.start + 1)
        .chain(ends)
        .any(|at| trivia::breaks_after(text, at))
}

impl Layout<'_> {
    /// A member whose line is indented by `indent`, in an object that may be written in another manner.
    pub(super) fn member(&self, around: Manner, key: &str, value: &RawJson, indent: &str) -> String {
        let key = RawJson::string(key);
        let colon = if around.airy { ": " } else { ":" };
        format!("{}{colon}{}", key.as_str(), self.value(value, indent))
    }

    /// A value that begins on a line which is indented by `indent`.
    pub(super) fn value(&self, value: &RawJson, indent: &str) -> String {
        let text = value.as_str();
        let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &Default::default());
        let parsed = parsed.ok().and_then(|parsed| parsed.value);
        let mut written = String::new();
        match &parsed {
            Some(parsed) => self.write(&mut written, text, parsed, indent),
            None => written.push_str(text),
        }
        written
    }

    fn write(&self, out: &mut String, text: &str, value: &Value<'_>, indent: &str) {
        match value {
            Value::Object(object) if !object.properties.is_empty() => {
                let members = object.properties.iter();
                let write = |out: &mut String, index: usize, indent: &str| {
                    let member: &jsonc_parser::ast::ObjectProp<'_> = &object.properties[index];
                    out.push_str(&text[member.name.range().start..member.name.range().end]);
                    out.push_str(if self.manner.airy { ": " } else { ":" });
                    self.write(out, text, &member.value, indent);
                };
                self.items(out, ['{', '}'], members.len(), self.manner.spread, indent, write);
            }
            Value::Array(array) if !array.elements.is_empty() => {
                let spread = self.manner.spread && array.elements.iter().any(has_parts);
                let write = |out: &mut String, index: usize, indent: &str| {
                    self.write(out, text, &array.elements[index], indent);
                };
                self.items(out, ['[', ']'], array.elements.len(), spread, indent, write);
            }
            Value::Object(_) => out.push_str("{}"),
            Value::Array(_) => out.push_str("[]"),
            _ => out.push_str(&text[value.range().start..value.range().end]),
        }
    }

    /// The parts of an object or a list between its brackets.
    fn items(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        count: usize,
        spread: bool,
        indent: &str,
        write: impl Fn(&mut String, usize, &str),
    ) {
        let inner = if spread {
            self.habits.deeper(indent)
        } else {
            indent.to_owned()
        };
        let gap = |airy: bool| if airy { " ".to_owned() } else { String::new() };
        let [edge, between, end] = if spread {
            let line = self.habits.line(&inner);
            [line.clone(), line, self.habits.line(indent)]
        } else {
            let edge = gap(open == '{' && self.manner.padded);
            [edge.clone(), gap(self.manner.airy), edge]
        };
        out.push(open);
        for index in 0..count {
            out.push_str(if index == 0 { "" } else { "," });
            out.push_str(if index == 0 { &edge } else { &between });
            write(out, index, &inner);
        }
        out.push_str(&end);
        out.push(close);
    }
}

fn has_parts(value: &Value<'_>) -> bool {
    match value {
        Value::Object(object) => !object.properties.is_empty(),
        Value::Array(array) => !array.elements.is_empty(),
        _ => false,
    }
}
