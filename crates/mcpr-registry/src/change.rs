//! How the definition of a tool has changed: whether calls that were right before still are (SET-10).

mod canonical;
mod keyword;
mod schema;

use std::collections::BTreeSet;
use std::fmt::Write;

use mcpr_protocol::{Object, RawJson};
use sha2::{Digest, Sha256};

use self::canonical::canonical;

/// How many reasons are told.
const TOLD: usize = 10;

/// Members that are not simply the same or not: who takes them for another call is told by more.
const LOOKED_INTO: [&str; 3] = ["annotations", "inputSchema", "outputSchema"];

/// Hints with what they promise and what counts where they are absent (MCP, `ToolAnnotations`).
const HINTS: [(&str, bool, bool); 3] = [
    ("readOnlyHint", true, false),
    ("idempotentHint", true, false),
    ("destructiveHint", false, true),
];

/// How a definition compares with an earlier one. Reasons are short sentences for people, the last
/// of them such as `and 3 more` where there are many.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It is the same, but for blanks, escapes and the order of members.
    Unchanged,
    /// Calls that were right before still are.
    Compatible(Vec<String>),
    /// Calls that were right before may not be any more.
    Breaking(Vec<String>),
}

/// What was found, in the order in which it was found.
#[derive(Debug, Default)]
struct Findings {
    breaking: Vec<String>,
    compatible: Vec<String>,
}

/// The SHA-256, in lower-case hexadecimal, of a definition without blanks, with one way to write
/// strings and with members in the order of their names: a server that only writes its definition
/// in another way has not changed it. Numbers count as they are written.
pub fn definition_hash(definition: &RawJson) -> String {
    let digest = Sha256::digest(canonical(definition).as_bytes());
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        write!(hex, "{byte:02x}").expect("a string takes all");
    }
    hex
}

/// The same JSON without blanks, with one way to write strings and with members in the order of their
/// names, so that two texts differ only where they say something else. Numbers stay as they are written.
pub fn in_order(definition: &RawJson) -> RawJson {
    canonical(definition)
}

/// Compares the definitions of a tool.
///
/// What it does not understand of a schema, and differs, is breaking. The work is bounded, whatever
/// a server wrote.
pub fn compare(before: &RawJson, after: &RawJson) -> Change {
    let (before, after) = (canonical(before), canonical(after));
    if before == after {
        return Change::Unchanged;
    }
    let mut findings = Findings::default();
    match (Object::read(&before), Object::read(&after)) {
        (Ok(old), Ok(new)) => findings.definitions(&old, &new),
        _ => findings.broken("the whole definition changed"),
    }
    findings.concluded()
}

impl Findings {
    fn broken(&mut self, reason: impl Into<String>) {
        self.breaking.push(reason.into());
    }

    fn harmless(&mut self, reason: impl Into<String>) {
        self.compatible.push(reason.into());
    }

    fn definitions(&mut self, old: &Object, new: &Object) {
        self.hints(old, new);
        let argument = |tool: &Object| {
            let schema = tool.get("inputSchema").filter(|schema| !schema.is_null());
            schema.unwrap_or_else(schema::anything)
        };
        schema::arguments(&argument(old), &argument(new), self);
        self.results(old, new);
        self.others(old, new);
    }

    /// Hints that promise less than before break what relies on them.
    fn hints(&mut self, old: &Object, new: &Object) {
        let (was, is) = (old.get("annotations"), new.get("annotations"));
        if was == is {
            return;
        }
        let mut loses = false;
        for (hint, promise, absent) in HINTS {
            let said = |annotations: &Option<RawJson>| said(annotations.as_ref(), hint, absent);
            if said(&was) == promise && said(&is) != promise {
                self.broken(format!("`{hint}` is {} now", !promise));
                loses = true;
            }
        }
        if !loses {
            self.harmless("`annotations` changed");
        }
    }

    fn results(&mut self, old: &Object, new: &Object) {
        let schema = |tool: &Object| tool.get("outputSchema").filter(|schema| !schema.is_null());
        match (schema(old), schema(new)) {
            (None, Some(_)) => self.harmless("its results have a schema now"),
            (Some(_), None) => self.broken("its results have no schema any more"),
            (Some(old), Some(new)) => schema::results(&old, &new, self),
            (None, None) => {}
        }
    }

    /// Members that no call depends on.
    fn others(&mut self, old: &Object, new: &Object) {
        let names = old.members().chain(new.members()).map(|(name, _)| name);
        let differ: BTreeSet<&str> = names.filter(|name| old.get(name) != new.get(name)).collect();
        for name in differ.iter().filter(|name| !LOOKED_INTO.contains(name)) {
            self.harmless(format!("`{name}` changed"));
        }
    }

    fn concluded(self) -> Change {
        match (self.breaking.is_empty(), self.compatible.is_empty()) {
            (false, _) => Change::Breaking(told(self.breaking)),
            (true, false) => Change::Compatible(told(self.compatible)),
            // Such as another order of the values of an `enum`.
            (true, true) => Change::Compatible(vec!["the schema says the same in another way".into()]),
        }
    }
}

/// What annotations say of a hint.
fn said(annotations: Option<&RawJson>, hint: &str, absent: bool) -> bool {
    let annotations = annotations.and_then(|annotations| Object::read(annotations).ok());
    let value = annotations.and_then(|annotations| annotations.get(hint));
    match value.as_ref().map(RawJson::as_str) {
        Some("true") => true,
        Some("false") => false,
        _ => absent,
    }
}

fn told(mut reasons: Vec<String>) -> Vec<String> {
    let more = reasons.len().saturating_sub(TOLD);
    if more > 0 {
        reasons.truncate(TOLD);
        reasons.push(format!("and {more} more"));
    }
    reasons
}

#[cfg(test)]
mod tests;
