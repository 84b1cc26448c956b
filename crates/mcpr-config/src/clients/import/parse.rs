//! From the bytes of a file to a value.

use std::io;
use std::path::Path;

use saphyr::{LoadableYamlNode, Scalar, Yaml};

use crate::clients::Value;
use crate::environment::Environment;
use crate::fault::Fault;
use crate::source::Source;
use crate::tree::{self, Node, Shape};

/// Reads a file in any of the languages; `None` if there is no such file.
pub(super) fn read(file: &Path, env: &dyn Environment) -> Result<Option<Value>, Fault> {
    let unreadable = |error| Fault::new(format!("`{}` cannot be read: {error}", file.display()));
    match env.read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        content => parse(file, &content.map_err(unreadable)?).map(Some),
    }
}

/// Reads JSON with or without comments, TOML or YAML, as the end of the file's name says.
fn parse(file: &Path, content: &[u8]) -> Result<Value, Fault> {
    let source = Source::decode(file, content)?;
    let end = file.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end.to_ascii_lowercase().as_str() {
        "toml" => toml(&source),
        "yaml" | "yml" => yaml(&source),
        // Some clients begin with an empty file.
        _ if source.text().trim().is_empty() => Ok(Value::object()),
        _ => Ok(from_node(&tree::parse(&source, &mut Vec::new())?)),
    }
}

fn from_node(node: &Node) -> Value {
    match &node.shape {
        Shape::Null => Value::Null,
        Shape::Boolean(value) => Value::Boolean(*value),
        Shape::Number(text) => Value::Number(text.clone()),
        Shape::Text(text) => Value::Text(text.clone()),
        Shape::List(items) => Value::List(items.iter().map(from_node).collect()),
        Shape::Object(members) => {
            let member = |(key, value): &(tree::Key, Node)| (key.text.clone(), from_node(value));
            Value::Object(members.iter().map(member).collect())
        }
    }
}

fn toml(source: &Source) -> Result<Value, Fault> {
    let table: toml::Table = source.text().parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start).min(source.text().len());
        Fault::new(format!("not valid TOML: {}", error.message())).at(&source.place(at))
    })?;
    Ok(from_table(table))
}

fn from_table(table: toml::Table) -> Value {
    table
        .into_iter()
        .map(|(key, value)| (key, from_toml(value)))
        .collect()
}

fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::Text(text),
        toml::Value::Integer(number) => Value::Number(number.to_string()),
        toml::Value::Float(number) => Value::Number(number.to_string()),
        toml::Value::Boolean(value) => Value::Boolean(value),
        toml::Value::Datetime(time) => Value::Text(time.to_string()),
        toml::Value::Array(items) => Value::List(items.into_iter().map(from_toml).collect()),
        toml::Value::Table(table) => from_table(table),
    }
}

fn yaml(source: &Source) -> Result<Value, Fault> {
    let documents = Yaml::load_from_str(source.text()).map_err(|error| {
        let marker = error.marker();
        let place = crate::fault::Place {
            file: source.path().to_owned(),
            line: marker.line(),
            column: marker.col() + 1,
        };
        Fault::new(format!("not valid YAML: {}", error.info())).at(&place)
    })?;
    Ok(documents.first().map_or_else(Value::object, from_yaml))
}

fn from_yaml(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Boolean(value)) => Value::Boolean(*value),
        Yaml::Value(Scalar::Integer(number)) => Value::Number(number.to_string()),
        Yaml::Value(Scalar::FloatingPoint(number)) => Value::Number(number.to_string()),
        Yaml::Value(Scalar::String(text)) => Value::Text(text.to_string()),
        Yaml::Representation(text, ..) => Value::Text(text.to_string()),
        Yaml::Sequence(items) => Value::List(items.iter().map(from_yaml).collect()),
        Yaml::Mapping(members) => members
            .iter()
            .filter_map(|(key, value)| Some((from_yaml(key).scalar()?.to_owned(), from_yaml(value))))
            .collect(),
        Yaml::Tagged(_, inner) => from_yaml(inner),
        Yaml::Value(Scalar::Null) | Yaml::Alias(_) | Yaml::BadValue => Value::Null,
    }
}
