//! Pinned definitions: whether the tools of a server still are what somebody approved.
//!
//! A server can show harmless tools until it is trusted and change what they say afterwards (a "rug
//! pull"). The definitions that were approved are kept, and compared with what it lists now.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use mcpr_protocol::{Edit, Object, RawJson};

use crate::{Offers, definition_hash};

/// Members of a definition that say nothing to a model, and may change at any time.
const NOT_PINNED: [&str; 2] = ["_meta", "icons"];

/// What becomes of a tool that is not what was approved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum PinPolicy {
    /// Nothing is compared.
    #[default]
    Off,
    /// It is offered, and operators are told.
    Warn,
    /// It is held back until somebody approves it.
    Block,
}

/// The definitions of a server's tools, by the names that it gives them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pins(BTreeMap<Arc<str>, Pin>);

/// One definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pin {
    /// As the server wrote it; an array where it listed several tools of one name.
    pub definition: RawJson,
    /// What tells it from another, in lower-case hexadecimal: of all its members but `_meta` and
    /// `icons`, as [`definition_hash`] has it.
    pub hash: String,
}

/// How a tool differs from what was approved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deviation {
    /// Its definition is another one.
    Changed,
    /// It was not there.
    New,
    /// It is there no more.
    Removed,
}

impl Pins {
    /// Those of all tools that have a name.
    pub fn of(offers: &Offers) -> Self {
        let mut named: BTreeMap<Arc<str>, Vec<&RawJson>> = BTreeMap::new();
        for tool in &offers.tools {
            let name = Object::read(tool).ok().and_then(|object| object.text("name"));
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                named.entry(name.into()).or_default().push(tool);
            }
        }
        let pin = |(name, tools): (_, Vec<&RawJson>)| (name, Pin::new(whole(&tools)));
        Self(named.into_iter().map(pin).collect())
    }

    /// The definition of a tool.
    pub fn get(&self, tool: &str) -> Option<&Pin> {
        self.0.get(tool)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Pin)> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes this definition for the tool's.
    pub fn put(&mut self, tool: Arc<str>, pin: Pin) {
        self.0.insert(tool, pin);
    }

    /// Forgets a tool.
    pub fn remove(&mut self, tool: &str) {
        self.0.remove(tool);
    }

    /// How what is listed `now` differs from these, by name.
    pub fn deviations(&self, now: &Self) -> BTreeMap<Arc<str>, Deviation> {
        let differing = now.0.iter().filter_map(|(name, pin)| match self.0.get(name) {
            None => Some((name.clone(), Deviation::New)),
            Some(known) if known.hash != pin.hash => Some((name.clone(), Deviation::Changed)),
            Some(_) => None,
        });
        let gone = self.0.keys().filter(|name| !now.0.contains_key(*name));
        differing
            .chain(gone.map(|name| (name.clone(), Deviation::Removed)))
            .collect()
    }
}

impl Pin {
    /// A definition as a server wrote it.
    pub fn new(definition: RawJson) -> Self {
        Self {
            hash: definition_hash(&counted(&definition)),
            definition,
        }
    }

    /// A definition as it was stored. What cannot be read any more is as good as another definition.
    pub fn stored(text: String) -> Self {
        Self::new(RawJson::parse(text.into()).unwrap_or_else(|_| RawJson::from_static("null")))
    }
}

/// What a server says of one name, in a buffer of its own: the listing may be long.
fn whole(tools: &[&RawJson]) -> RawJson {
    match tools {
        [only] => RawJson::trusted(Bytes::copy_from_slice(only.as_bytes())),
        // Which of them is offered follows from what is in them, so all of them count.
        several => RawJson::render(&several.to_vec()),
    }
}

/// The members of a definition that count.
fn counted(definition: &RawJson) -> RawJson {
    if let Some(several) = definition.elements() {
        return RawJson::render(&several.iter().map(counted).collect::<Vec<_>>());
    }
    let Ok(object) = Object::read(definition) else {
        return definition.clone();
    };
    let counted = Edit::new(&object)
        .remove_where(|name| NOT_PINNED.contains(&name))
        .finish();
    RawJson::trusted(counted.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(tools: &[&'static str]) -> Pins {
        Pins::of(&Offers {
            tools: tools.iter().map(|tool| RawJson::from_static(tool)).collect(),
            ..Offers::default()
        })
    }

    fn deviations(before: &[&'static str], now: &[&'static str]) -> Vec<(String, Deviation)> {
        let found = listed(before).deviations(&listed(now));
        found
            .into_iter()
            .map(|(name, what)| (name.to_string(), what))
            .collect()
    }

    #[test]
    fn pins_another_way_to_write_a_definition_is_no_change_and_neither_are_icons() {
        let before = [r#"{"name":"a","description":"d","_meta":{"x":1}}"#];
        let now = [r#"{ "description": "\u0064", "icons": [], "name": "a" }"#];
        assert_eq!(deviations(&before, &now), []);
    }

    #[test]
    fn pins_whatever_a_model_may_read_is_pinned() {
        let before = [r#"{"name":"a","description":"d","inputSchema":{"type":"object"}}"#];
        for now in [
            r#"{"name":"a","description":"D","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object","title":"t"}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object"},"title":"t"}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object"},"outputSchema":{}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object"},"later":1}"#,
        ] {
            assert_eq!(
                deviations(&before, &[now]),
                [("a".to_owned(), Deviation::Changed)],
                "{now}"
            );
        }
    }

    #[test]
    fn pins_tools_that_come_and_go_are_told_apart() {
        let (a, b, c) = (r#"{"name":"a"}"#, r#"{"name":"b"}"#, r#"{"name":"c"}"#);
        assert_eq!(
            deviations(&[a, b], &[b, c]),
            [
                ("a".to_owned(), Deviation::Removed),
                ("c".to_owned(), Deviation::New)
            ]
        );
    }

    #[test]
    fn pins_a_second_tool_of_a_name_is_a_change_of_it() {
        let (first, second) = (r#"{"name":"a"}"#, r#"{"name":"a","description":"other"}"#);
        assert_eq!(
            deviations(&[first], &[first, second]),
            [("a".to_owned(), Deviation::Changed)]
        );
        assert_eq!(deviations(&[first, second], &[first, second]), []);
    }

    #[test]
    fn what_has_no_name_or_is_no_object_is_nobodys() {
        assert!(listed(&["7", r#"{"name":""}"#, r#"{"name":"a","name":"b"}"#]).is_empty());
    }
}
