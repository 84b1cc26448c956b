//! What all files come to together, value by value.

use std::fmt::Write;

use mcpr_protocol::RawJson;
use mcpr_telemetry::Secrets;
use serde::Serialize;

use crate::arguments;
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
        let show = Show::Veiled(self.secrets());
        for (name, entry) in &self.0.servers {
            let mut keys = vec!["mcpServers", name.text.as_str()];
            collect(entry, &mut keys, &mut settings, &show);
        }
        for (key, value) in &self.0.gateway {
            collect(value, &mut vec!["mcpr", &key.text], &mut settings, &show);
        }
        settings
    }

    /// What is not shown where it stands, and so not where it is repeated.
    fn secrets(&self) -> Secrets {
        let known = Secrets::default();
        for (name, entry) in &self.0.servers {
            note(entry, &mut vec!["mcpServers", name.text.as_str()], &known);
        }
        known
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
        Some(json(found?, &mut path.to_vec(), &Show::AsItIs))
    }
}

/// How values are shown.
enum Show {
    AsItIs,
    /// Where these secrets are known.
    Veiled(Secrets),
}

impl Show {
    fn text(&self, keys: &[&str], text: &str) -> String {
        match self {
            Self::AsItIs => text.to_owned(),
            Self::Veiled(known) => veil::veiled(within(keys), text, known),
        }
    }

    /// How the items of a list are shown, where that is not each by itself: an argument may be secret by the one before.
    fn items(&self, keys: &[&str], items: &[Node]) -> Option<Vec<String>> {
        let Self::Veiled(known) = self else { return None };
        let texts: Vec<_> = items
            .iter()
            .map(|item| item.scalar().ok())
            .collect::<Option<_>>()?;
        (within(keys) == ["args"]).then(|| arguments::shown(&texts, known))
    }
}

/// The keys within the entry of a server; of what is none, all of them.
fn within<'k>(keys: &'k [&'k str]) -> &'k [&'k str] {
    match keys {
        ["mcpServers", _, rest @ ..] => rest,
        all => all,
    }
}

fn note<'n>(node: &'n Node, keys: &mut Vec<&'n str>, known: &Secrets) {
    match &node.shape {
        Shape::Object(members) => {
            for (key, value) in members {
                keys.push(&key.text);
                note(value, keys, known);
                keys.pop();
            }
        }
        Shape::Text(text) => veil::note(within(keys), text, known),
        _ => {}
    }
}

/// Goes down to what has no members.
fn collect<'n>(node: &'n Node, keys: &mut Vec<&'n str>, settings: &mut Vec<Setting>, show: &Show) {
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

fn json<'n>(node: &'n Node, keys: &mut Vec<&'n str>, show: &Show) -> RawJson {
    let mut text = String::new();
    write(&mut text, node, keys, show);
    RawJson::trusted(text)
}

fn write<'n>(out: &mut String, node: &'n Node, keys: &mut Vec<&'n str>, show: &Show) {
    match &node.shape {
        Shape::Null => out.push_str("null"),
        Shape::Boolean(value) => {
            let _ = write!(out, "{value}");
        }
        Shape::Number(number) if show.text(keys, number) == *number => out.push_str(number),
        Shape::Number(text) | Shape::Text(text) => {
            out.push_str(RawJson::string(&show.text(keys, text)).as_str())
        }
        Shape::List(items) => {
            let shown = show.items(keys, items).unwrap_or_default();
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                match shown.get(index).filter(|shown| item.scalar().ok() != Some(shown)) {
                    Some(shown) => out.push_str(RawJson::string(shown).as_str()),
                    None => write(out, item, keys, show),
                }
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
