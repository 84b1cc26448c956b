//! What all files come to together, value by value.

use std::fmt::Write;

use mcpr_protocol::RawJson;
use serde::Serialize;

use crate::config::{Layers, sources};
use crate::environment::Environment;
use crate::error::ConfigError;
use crate::fault::Place;
use crate::locations::Locations;
use crate::tree::{Node, Shape};
use crate::veil;

/// One value of the configuration, and where it stands.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// Its keys, joined by dots; a key that has dots itself is in double quotes.
    pub key: String,
    /// What it is; a list is one value. What may be secret shows as `•••`.
    pub value: RawJson,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
}

/// What the files come to together: a later file wins for each server, and for each key of the top `mcpr`.
pub struct Effective(Layers);

impl Effective {
    /// Reads the files that count. What they say need not be valid.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or is not JSON.
    pub fn read(locations: &Locations, env: &dyn Environment) -> Result<Self, ConfigError> {
        Ok(Self(Layers::of(&sources(locations, env)?)?))
    }

    /// All values, in the order of the files: the servers, then what the gateway itself is told.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for (name, entry) in &self.0.servers {
            let mut keys = vec!["mcpServers", name.text.as_str()];
            collect(entry, &mut keys, &mut settings, &|keys, text| {
                veil::veiled(&keys[2..], text)
            });
        }
        for (key, value) in &self.0.gateway {
            collect(value, &mut vec!["mcpr", &key.text], &mut settings, &as_it_is);
        }
        settings
    }

    /// What these keys of the top `mcpr` lead to.
    pub fn gateway(&self, path: &[&str]) -> Option<RawJson> {
        let (first, rest) = path.split_first()?;
        let (_, node) = self.0.gateway.iter().find(|(key, _)| key.text == *first)?;
        let found = rest.iter().try_fold(node, |node, key| {
            let (_, value) = node
                .entries()
                .ok()?
                .iter()
                .find(|(known, _)| known.text == *key)?;
            Some(value)
        });
        Some(json(found?, &mut path.to_vec(), &as_it_is))
    }
}

/// How a text with these keys is shown.
type Show<'s> = &'s dyn Fn(&[&str], &str) -> String;

fn as_it_is(_: &[&str], text: &str) -> String {
    text.to_owned()
}

/// Goes down to what has no members.
fn collect<'n>(node: &'n Node, keys: &mut Vec<&'n str>, settings: &mut Vec<Setting>, show: Show<'_>) {
    match &node.shape {
        Shape::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                keys.push(&key.text);
                collect(value, keys, settings, show);
                keys.pop();
            }
        }
        _ => settings.push(Setting {
            key: dotted(keys),
            value: json(node, keys, show),
            place: node.place.clone(),
        }),
    }
}

fn json<'n>(node: &'n Node, keys: &mut Vec<&'n str>, show: Show<'_>) -> RawJson {
    let mut text = String::new();
    write(&mut text, node, keys, show);
    RawJson::trusted(text)
}

fn write<'n>(out: &mut String, node: &'n Node, keys: &mut Vec<&'n str>, show: Show<'_>) {
    match &node.shape {
        Shape::Null => out.push_str("null"),
        Shape::Boolean(value) => {
            let _ = write!(out, "{value}");
        }
        Shape::Number(number) if show(keys, number) == *number => out.push_str(number),
        Shape::Number(text) | Shape::Text(text) => out.push_str(RawJson::string(&show(keys, text)).as_str()),
        Shape::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(out, item, keys, show);
            }
            out.push(']');
        }
        Shape::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                let _ = write!(out, "{comma}{}:", RawJson::string(&key.text).as_str());
                keys.push(&key.text);
                write(out, value, keys, show);
                keys.pop();
            }
            out.push('}');
        }
    }
}

/// The keys in one text, which [`set`](crate::Document::set) would take apart again.
fn dotted(keys: &[&str]) -> String {
    let quoted = |key: &&str| {
        if key.is_empty() || key.contains(['.', '"', '=']) {
            RawJson::string(key).as_str().to_owned()
        } else {
            (*key).to_owned()
        }
    };
    keys.iter().map(quoted).collect::<Vec<_>>().join(".")
}
