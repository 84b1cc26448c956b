//! Reads listed items one by one, so that an odd one costs nobody but itself (B11).

use std::collections::HashSet;
use std::sync::Arc;

use mcpr_protocol::{Object, ObjectError, RawJson};

use crate::header::param_headers;
use crate::schema::{self, Finding};
use crate::{Kind, Listing, Oddity, ParamHeader, Warning};

/// How deep an item may be nested. Parsers stop at 128 levels (serde_json) or some hundred, and what holds
/// the list around it has its own.
const LEVELS: usize = 100;

/// An item that was understood as far as needed, before it has an exposed name.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) listing: &'a Listing,
    /// The place of `listing` among the listings.
    pub(crate) place: usize,
    pub(crate) origin: Arc<str>,
    pub(crate) object: Object,
    pub(crate) facts: ToolFacts,
}

/// What is known of a tool; empty for other kinds.
#[derive(Debug, Default)]
pub(crate) struct ToolFacts {
    /// The repaired `inputSchema`, where it had to be.
    pub(crate) schema: Option<RawJson>,
    pub(crate) param_headers: Vec<ParamHeader>,
    pub(crate) read_only: bool,
    pub(crate) idempotent: bool,
    pub(crate) task_required: bool,
}

/// Reads the items of a kind, in the order of the listings and of each list.
pub(crate) fn read_all<'a>(
    kind: Kind,
    listings: &'a [Listing],
    warnings: &mut Vec<Warning>,
) -> Vec<Draft<'a>> {
    let mut drafts = Vec::with_capacity(
        listings
            .iter()
            .map(|listing| listing.offers.items(kind).len())
            .sum(),
    );
    for (place, listing) in listings.iter().enumerate() {
        let mut reader = Reader {
            kind,
            listing,
            place,
            seen: HashSet::new(),
            warnings,
        };
        let items = listing.offers.items(kind).iter().enumerate();
        drafts.extend(items.filter_map(|(index, item)| reader.read(index, item)));
    }
    drafts
}

/// Reads the items of one kind and server.
struct Reader<'a, 'w> {
    kind: Kind,
    listing: &'a Listing,
    place: usize,
    seen: HashSet<Arc<str>>,
    warnings: &'w mut Vec<Warning>,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self, index: usize, item: &RawJson) -> Option<Draft<'a>> {
        let (object, origin) = match named(self.kind, item) {
            Ok(named) => named,
            Err(oddity) => {
                self.warn(format!("#{}", index + 1), oddity);
                return None;
            }
        };
        if self.is_unprintable(&origin) {
            self.warn(origin.to_string(), Oddity::Unprintable);
            return None;
        }
        let facts = match self.facts(&object, &origin) {
            Ok(facts) => facts,
            Err(oddity) => {
                self.warn(origin.to_string(), oddity);
                return None;
            }
        };
        Some(Draft {
            listing: self.listing,
            place: self.place,
            origin,
            object,
            facts,
        })
    }

    /// Whether clients would see a name that holds what cannot be seen: all other names are flattened.
    fn is_unprintable(&self, origin: &str) -> bool {
        let by_name = matches!(self.kind, Kind::Tools | Kind::Prompts);
        by_name && self.listing.naming.raw && origin.chars().any(is_unseen)
    }

    fn facts(&mut self, object: &Object, origin: &Arc<str>) -> Result<ToolFacts, Oddity> {
        // Calls are routed by server and name, so a second tool of that name could not be reached.
        let by_name = matches!(self.kind, Kind::Tools | Kind::Prompts);
        if by_name && self.seen.contains(origin) {
            return Err(Oddity::Twice);
        }
        let facts = match self.kind {
            Kind::Tools => tool_facts(object, self.listing.stateless_http)?,
            _ => ToolFacts::default(),
        };
        if facts.schema.is_some() {
            self.warn(origin.to_string(), Oddity::SchemaRepaired);
        }
        self.seen.insert(origin.clone());
        Ok(facts)
    }

    fn warn(&mut self, item: String, what: Oddity) {
        let server = self.listing.server.clone();
        self.warnings.push(Warning {
            server,
            kind: self.kind,
            item,
            what,
        });
    }
}

/// The members of an item and what the server calls it.
fn named(kind: Kind, item: &RawJson) -> Result<(Object, Arc<str>), Oddity> {
    if item.is_deeper_than(LEVELS) {
        return Err(Oddity::TooDeep(LEVELS));
    }
    if let Some(half) = item.half_character() {
        return Err(Oddity::HalfCharacter(half.to_owned()));
    }
    let object = Object::read(item).map_err(|error| match error {
        ObjectError::NotAnObject => Oddity::NotAnObject,
        ObjectError::Duplicate(member) => Oddity::Duplicate(member),
    })?;
    let name = object.text(kind.key()).filter(|name| !name.is_empty());
    let name = name.ok_or(Oddity::Nameless(kind.key()))?;
    Ok((object, name.into()))
}

/// Control characters, those that turn the direction of writing or have no shape (Unicode's
/// `Default_Ignorable_Code_Point`), and blanks that look like another one or like nothing.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether the tool can only be called as a task of 2025-11-25.
fn task_required(tool: &Object) -> bool {
    let execution = tool.object("execution");
    execution
        .and_then(|execution| execution.text("taskSupport"))
        .as_deref()
        == Some("required")
}

fn tool_facts(tool: &Object, stateless_http: bool) -> Result<ToolFacts, Oddity> {
    let schema = tool.get("inputSchema");
    let repaired = match schema::examine(schema.as_ref()) {
        Finding::Fine => None,
        Finding::Repaired(text) => Some(text),
        Finding::Hopeless(fault) => return Err(Oddity::SchemaHopeless(fault)),
    };
    let headers = match schema.as_ref().map(param_headers).transpose() {
        Err(fault) if stateless_http => return Err(Oddity::HeaderInvalid(fault)),
        found => found.ok().flatten().unwrap_or_default(),
    };
    let annotations = tool.object("annotations");
    let hint = |key| {
        annotations
            .as_ref()
            .and_then(|object| object.get(key))
            .is_some_and(|hint| hint.as_str() == "true")
    };
    Ok(ToolFacts {
        schema: repaired,
        param_headers: headers,
        read_only: hint("readOnlyHint"),
        idempotent: hint("idempotentHint"),
        task_required: task_required(tool),
    })
}
