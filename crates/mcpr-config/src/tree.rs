//! A JSON document in which every value knows where it stands.

use std::collections::{BTreeSet, HashMap};

use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::fault::{Fault, Finding, Place};
use crate::reference::{Piece, pieces};
use crate::source::Source;

/// A value, where it stands, and the keys that lead to it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    /// Such as `mcpr.timeouts.call`; see [`Node::into_root`].
    pub(crate) path: String,
    pub(crate) shape: Shape,
}

/// What a value is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Shape {
    Null,
    Boolean(bool),
    /// The text of the number.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Each key once, in the order of the file.
    Object(Vec<(Key, Node)>),
}

/// The key of a member, and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// Only what JSON allows.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// JSON with comments and trailing commas.
const COMMENTED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    ..STRICT
};

/// Reads a document: JSON, or JSON with comments and trailing commas, of which a note is made.
pub(crate) fn parse(source: &Source, findings: &mut Vec<Finding>) -> Result<Node, Fault> {
    if source.text().trim().is_empty() {
        let what = format!("`{}` is empty", source.path().display());
        return Err(Fault::new(what).hint("the least that it must hold is `{\"mcpServers\": {}}`"));
    }
    match ast(source, &STRICT) {
        Ok(value) => Ok(Planter { source, findings }.plant(&value, String::new())),
        Err(strictly) => {
            let value = ast(source, &COMMENTED)?;
            let what = "comments or trailing commas found".to_owned();
            let note = Fault {
                what,
                hint: Some("mcpr reads them, Claude Code cannot".into()),
                ..strictly
            };
            findings.push(Finding::note(note));
            Ok(Planter { source, findings }.plant(&value, String::new()))
        }
    }
}

/// The parser's tree of a document that may have comments and trailing commas.
pub(crate) fn commented(source: &Source) -> Result<Value<'_>, Fault> {
    ast(source, &COMMENTED)
}

fn ast<'s>(source: &'s Source, options: &ParseOptions) -> Result<Value<'s>, Fault> {
    let parsed = parse_to_ast(source.text(), &CollectOptions::default(), options).map_err(|error| {
        let at = error.range().start.min(source.text().len());
        syntax(&error.kind().to_string()).at(&source.place(at))
    })?;
    parsed
        .value
        .ok_or_else(|| syntax("There is no value").at(&source.place(source.text().len())))
}

fn syntax(problem: &str) -> Fault {
    let mut letters = problem.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase()).into_iter();
    Fault::new(format!(
        "not valid JSON: {}",
        first.chain(letters).collect::<String>()
    ))
}

impl Node {
    /// The names of the secrets that are asked for in it, by name.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        self.gather_secrets(&mut names);
        names.into_iter().map(str::to_owned).collect()
    }

    fn gather_secrets<'n>(&'n self, names: &mut BTreeSet<&'n str>) {
        match &self.shape {
            Shape::Text(text) => names.extend(pieces(text).into_iter().filter_map(|piece| match piece {
                Piece::Reference(reference) => reference.secret(),
                Piece::Plain(_) => None,
            })),
            Shape::List(items) => items.iter().for_each(|item| item.gather_secrets(names)),
            Shape::Object(members) => members
                .iter()
                .for_each(|(_, member)| member.gather_secrets(names)),
            Shape::Null | Shape::Boolean(_) | Shape::Number(_) => {}
        }
    }
}

/// Turns the parser's tree into ours.
struct Planter<'a> {
    source: &'a Source,
    findings: &'a mut Vec<Finding>,
}

impl Planter<'_> {
    fn plant(&mut self, value: &Value<'_>, path: String) -> Node {
        let shape = match value {
            Value::NullKeyword(_) => Shape::Null,
            Value::BooleanLit(literal) => Shape::Boolean(literal.value),
            Value::NumberLit(literal) => Shape::Number(literal.value.to_owned()),
            Value::StringLit(literal) => Shape::Text(literal.value.clone().into_owned()),
            Value::Array(array) => Shape::List(self.items(&array.elements, &path)),
            Value::Object(object) => Shape::Object(self.members(&object.properties, &path)),
        };
        Node {
            place: self.source.place(value.range().start),
            path,
            shape,
        }
    }

    fn items(&mut self, elements: &[Value<'_>], path: &str) -> Vec<Node> {
        let numbered = elements.iter().enumerate();
        numbered
            .map(|(index, element)| self.plant(element, format!("{path}[{index}]")))
            .collect()
    }

    /// Of members with the same key the last one wins, as in every JSON reader of a client.
    fn members(&mut self, properties: &[ObjectProp<'_>], path: &str) -> Vec<(Key, Node)> {
        let mut members: Vec<(Key, Node)> = Vec::with_capacity(properties.len());
        let mut known: HashMap<String, usize> = HashMap::with_capacity(properties.len());
        for property in properties {
            let key = self.key(&property.name);
            let value = self.plant(&property.value, joined(path, &key.text));
            match known.get(&key.text).map(|index| &mut members[*index]) {
                Some(earlier) => {
                    self.findings
                        .push(Finding::warning(repeated(&earlier.0, &key, path)));
                    *earlier = (key, value);
                }
                None => {
                    known.insert(key.text.clone(), members.len());
                    members.push((key, value));
                }
            }
        }
        members
    }

    fn key(&self, name: &ObjectPropName<'_>) -> Key {
        let text = match name {
            ObjectPropName::String(literal) => literal.value.clone().into_owned(),
            ObjectPropName::Word(word) => word.value.to_owned(),
        };
        Key {
            text,
            place: self.source.place(name.range().start),
        }
    }
}

fn repeated(earlier: &Key, later: &Key, path: &str) -> Fault {
    let inside = if path.is_empty() {
        String::new()
    } else {
        format!(" in `{path}`")
    };
    let what = format!(
        "the key `{}` is there twice{inside}, first in line {}",
        later.text, earlier.place.line
    );
    Fault::new(what).hint("only the last one counts").at(&later.place)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

impl Node {
    /// The same value, with paths that begin here: messages about a server do not repeat its name.
    pub(crate) fn into_root(mut self) -> Self {
        let length = self.path.len();
        self.cut_paths(length);
        self
    }

    fn cut_paths(&mut self, length: usize) {
        self.path = self.path[length..].trim_start_matches('.').to_owned();
        match &mut self.shape {
            Shape::List(items) => items.iter_mut().for_each(|item| item.cut_paths(length)),
            Shape::Object(members) => members.iter_mut().for_each(|(_, value)| value.cut_paths(length)),
            Shape::Null | Shape::Boolean(_) | Shape::Number(_) | Shape::Text(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> (Result<Node, Fault>, Vec<Finding>) {
        let source = Source::decode(Path::new("mcpr.json"), text.as_bytes()).unwrap();
        let mut findings = Vec::new();
        (parse(&source, &mut findings), findings)
    }

    fn object(node: &Node) -> &[(Key, Node)] {
        match &node.shape {
            Shape::Object(members) => members,
            other => panic!("not an object: {other:?}"),
        }
    }

    #[test]
    fn b109_of_two_members_with_one_key_the_last_counts_and_a_warning_says_so() {
        let (node, findings) = read("{\n \"a\": 1,\n \"b\": 2,\n \"a\": 3\n}");
        let node = node.unwrap();

        let members: Vec<_> = object(&node)
            .iter()
            .map(|(key, value)| (key.text.as_str(), &value.shape))
            .collect();

        assert_eq!(
            members,
            [
                ("a", &Shape::Number("3".into())),
                ("b", &Shape::Number("2".into()))
            ]
        );
        assert_eq!(
            findings[0].to_string(),
            "warning: mcpr.json:4:2: the key `a` is there twice, first in line 2; only the last one counts"
        );
    }

    #[test]
    fn cfg_02_comments_and_trailing_commas_are_read_with_a_note() {
        let (node, findings) = read("{\n  // mine\n  \"a\": [1,], /* too */\n}");

        assert!(node.is_ok());
        assert_eq!(
            findings[0].to_string(),
            "note: mcpr.json:2:3: comments or trailing commas found; mcpr reads them, Claude Code cannot"
        );
    }

    #[test]
    fn a_path_leads_to_each_value_and_can_begin_further_in() {
        let (node, _) = read(r#"{"mcpServers": {"a.b": {"args": ["x", "y"]}}}"#);
        let server = object(&object(&node.unwrap())[0].1)[0].1.clone();
        assert_eq!(server.path, "mcpServers.a.b");

        let server = server.into_root();
        let Shape::List(args) = &object(&server)[0].1.shape else {
            panic!("no list")
        };

        assert_eq!((server.path.as_str(), args[1].path.as_str()), ("", "args[1]"));
    }
}
