//! What a change of a JSON Schema means for calls. The texts compared are canonical, so that equal
//! schemas are equal bytes.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use mcpr_protocol::{Object, RawJson};

use super::Findings;
use super::keyword::{self, Members, Types};

/// How deep nested schemas are looked into.
const DEPTH: usize = 16;
/// How many pairs of schemas are looked at. Unions are compared branch by branch, which a server
/// could make very many.
const STEPS: usize = 2000;

/// Whose values a schema describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// What clients send: what was taken must still be taken.
    Arguments,
    /// What clients get: nothing may come that did not come before.
    Results,
}

/// What a change does to the set of valid values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Wider,
    Narrower,
    Other,
}

/// A place in the schemas that are compared.
struct Site<'s> {
    side: Side,
    path: String,
    depth: usize,
    steps: &'s Cell<usize>,
}

/// Compares the schemas of a tool's arguments.
pub(super) fn arguments(old: &RawJson, new: &RawJson, findings: &mut Findings) {
    Site::root(Side::Arguments, &Cell::new(STEPS)).compare(old, new, findings);
}

/// Compares the schemas of a tool's results.
pub(super) fn results(old: &RawJson, new: &RawJson, findings: &mut Findings) {
    Site::root(Side::Results, &Cell::new(STEPS)).compare(old, new, findings);
}

/// The schema that all values fit.
pub(super) fn anything() -> RawJson {
    RawJson::from_static("{}")
}

impl<'s> Site<'s> {
    fn root(side: Side, steps: &'s Cell<usize>) -> Self {
        let (path, depth) = (String::new(), 0);
        Self {
            side,
            path,
            depth,
            steps,
        }
    }

    /// A place one level deeper.
    fn within(&self, name: &str) -> Self {
        let path = match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "[]") => format!("{path}[]"),
            (path, name) => format!("{path}.{name}"),
        };
        let depth = self.depth + 1;
        Self { path, depth, ..*self }
    }

    fn compare(&self, old: &RawJson, new: &RawJson, findings: &mut Findings) {
        if old == new {
            return;
        }
        match (self.may_look(), schema(old), schema(new)) {
            (true, Some(old), Some(new)) => self.schemas(&old, &new, findings),
            _ => self.not_understood(findings),
        }
    }

    fn schemas(&self, old: &Object, new: &Object, findings: &mut Findings) {
        if self.becomes_union(old, new, findings) {
            return;
        }
        self.branches(old, new, findings);
        self.types(old, new, findings);
        self.values(old, new, findings);
        self.members(old, new, findings);
        self.other_members(old, new, findings);
        self.within("[]")
            .compare(&or_anything(old, "items"), &or_anything(new, "items"), findings);
        self.definitions(old, new, findings);
        self.other_keywords(old, new, findings);
    }

    /// A schema on one side and a union on the other, as when a parameter may be `null` now: the
    /// schema counts as a union of one.
    fn becomes_union(&self, old: &Object, new: &Object, findings: &mut Findings) -> bool {
        let (olds, news) = match (old.get("anyOf"), new.get("anyOf")) {
            (None, Some(news)) if keyword::is_only(new, "anyOf") => (Some(alone(old)), news.elements()),
            (Some(olds), None) if keyword::is_only(old, "anyOf") => (olds.elements(), Some(alone(new))),
            _ => return false,
        };
        self.alternatives(olds, news, findings);
        true
    }

    fn branches(&self, old: &Object, new: &Object, findings: &mut Findings) {
        match (old.get("anyOf"), new.get("anyOf")) {
            (olds, news) if olds == news => {}
            (Some(olds), Some(news)) => self.alternatives(olds.elements(), news.elements(), findings),
            _ => self.unclear("anyOf", findings),
        }
    }

    fn alternatives(&self, olds: Option<Vec<RawJson>>, news: Option<Vec<RawJson>>, findings: &mut Findings) {
        let (Some(olds), Some(news)) = (olds, news) else {
            return self.unclear("anyOf", findings);
        };
        let fits = |old: &RawJson, new: &RawJson| {
            let mut found = Findings::default();
            self.within("|").compare(old, new, &mut found);
            found.breaking.is_empty()
        };
        let holds = match self.side {
            Side::Arguments => olds.iter().all(|old| news.iter().any(|new| fits(old, new))),
            Side::Results => news.iter().all(|new| olds.iter().any(|old| fits(old, new))),
        };
        let reason = format!("the alternatives of {} changed", self.place());
        if holds {
            findings.harmless(reason);
        } else {
            findings.broken(reason);
        }
    }

    fn types(&self, old: &Object, new: &Object, findings: &mut Findings) {
        let read = |schema: &Object| Types::read(schema.get("type").as_ref());
        let (Some(was), Some(is)) = (read(old), read(new)) else {
            return self.same_or_unclear("type", old, new, findings);
        };
        // Arguments are an object, whether that is said or not.
        let said = |types: Types| match self.depth == 0 && self.side == Side::Arguments {
            true => types.or_object(),
            false => types,
        };
        let (was, is) = (said(was), said(is));
        if was != is {
            let reason = format!("the type of {} is {is} now, it was {was}", self.place());
            self.tell(was.shift_to(&is), reason, findings);
        }
    }

    fn values(&self, old: &Object, new: &Object, findings: &mut Findings) {
        let read = |schema: &Object| match schema.get("enum") {
            None => Some(None),
            Some(values) => values.elements().map(Some),
        };
        let place = self.place();
        match (read(old), read(new)) {
            (Some(None), Some(Some(values))) => {
                let reason = format!("{place} can only be {} now", keyword::listed(&values));
                self.tell(Shift::Narrower, reason, findings);
            }
            (Some(Some(_)), Some(None)) => {
                self.tell(Shift::Wider, format!("{place} can be any value now"), findings);
            }
            (Some(Some(old)), Some(Some(new))) => {
                let (gone, more) = (without(&old, &new), without(&new, &old));
                if !gone.is_empty() {
                    let reason = format!("{place} can no longer be {}", keyword::listed(&gone));
                    self.tell(Shift::Narrower, reason, findings);
                }
                if !more.is_empty() {
                    let reason = format!("{place} can also be {} now", keyword::listed(&more));
                    self.tell(Shift::Wider, reason, findings);
                }
            }
            _ => self.same_or_unclear("enum", old, new, findings),
        }
    }

    fn members(&self, old: &Object, new: &Object, findings: &mut Findings) {
        let (Some(was), Some(is)) = (Members::read(old), Members::read(new)) else {
            self.same_or_unclear("properties", old, new, findings);
            return self.same_or_unclear("required", old, new, findings);
        };
        for (name, after) in &is.properties {
            match was.properties.get(name) {
                Some(before) => self.within(name).compare(before, after, findings),
                None => self.comes(name, is.required.contains(name), findings),
            }
        }
        for name in was
            .properties
            .keys()
            .filter(|name| !is.properties.contains_key(*name))
        {
            findings.broken(format!("{} is gone", self.within(name).place()));
        }
        let stays = |name: &&String| was.properties.contains_key(*name) == is.properties.contains_key(*name);
        for name in is.required.difference(&was.required).filter(stays) {
            let place = self.within(name).place();
            match self.side {
                Side::Arguments => findings.broken(format!("{place} is required now")),
                Side::Results => findings.harmless(format!("{place} is always there now")),
            }
        }
        for name in was.required.difference(&is.required).filter(stays) {
            let place = self.within(name).place();
            match self.side {
                Side::Arguments => findings.harmless(format!("{place} is optional now")),
                Side::Results => findings.broken(format!("{place} may be missing now")),
            }
        }
    }

    /// A new member. Clients ignore what they do not know in a result.
    fn comes(&self, name: &str, required: bool, findings: &mut Findings) {
        let place = self.within(name).place();
        match (self.side, required) {
            (Side::Arguments, true) => findings.broken(format!("{place} is new and required")),
            (Side::Arguments, false) => findings.harmless(format!("{place} is new and optional")),
            (Side::Results, _) => findings.harmless(format!("{place} is new")),
        }
    }

    fn other_members(&self, old: &Object, new: &Object, findings: &mut Findings) {
        let (was, is) = (
            or_anything(old, "additionalProperties"),
            or_anything(new, "additionalProperties"),
        );
        let place = self.place();
        match (was.as_str(), is.as_str()) {
            (was, is) if was == is => {}
            ("false", _) => findings.harmless(format!("{place} can have other members now")),
            (_, "false") => {
                let reason = format!("{place} can have no other members any more");
                self.tell(Shift::Narrower, reason, findings);
            }
            _ => self.within("*").compare(&was, &is, findings),
        }
    }

    /// Definitions that are there before and after. What refers to others differs itself.
    fn definitions(&self, old: &Object, new: &Object, findings: &mut Findings) {
        for keyword in keyword::DEFINITIONS {
            let (was, is) = (old.object(keyword), new.object(keyword));
            let after: BTreeMap<String, RawJson> = is.iter().flat_map(keyword::owned).collect();
            for (name, before) in was.iter().flat_map(Object::members) {
                if let Some(after) = after.get(name) {
                    self.within(keyword)
                        .within(name)
                        .compare(&before, after, findings);
                }
            }
        }
    }

    /// Whatever else a schema says.
    fn other_keywords(&self, old: &Object, new: &Object, findings: &mut Findings) {
        let names = old.members().chain(new.members()).map(|(name, _)| name);
        let names: BTreeSet<&str> = names.filter(|name| !keyword::KNOWN.contains(name)).collect();
        for name in names {
            let (was, is) = (old.get(name), new.get(name));
            if was == is {
                continue;
            }
            let reason = format!("the `{name}` of {} changed", self.place());
            if keyword::SILENT.contains(&name) {
                findings.harmless(reason);
            } else if keyword::LIMITS.contains(&name) {
                self.tell(
                    keyword::limit_shift(name, was.as_ref(), is.as_ref()),
                    reason,
                    findings,
                );
            } else {
                self.unclear(name, findings);
            }
        }
    }

    /// Adds a reason: harmless if the values that are valid shift the way they may on this side.
    fn tell(&self, shift: Shift, reason: String, findings: &mut Findings) {
        match (self.side, shift) {
            (Side::Arguments, Shift::Wider) | (Side::Results, Shift::Narrower) => findings.harmless(reason),
            _ => findings.broken(reason),
        }
    }

    fn same_or_unclear(&self, keyword: &str, old: &Object, new: &Object, findings: &mut Findings) {
        if old.get(keyword) != new.get(keyword) {
            self.unclear(keyword, findings);
        }
    }

    fn unclear(&self, keyword: &str, findings: &mut Findings) {
        findings.broken(format!("the schema of {} changed (`{keyword}`)", self.place()));
    }

    fn not_understood(&self, findings: &mut Findings) {
        findings.broken(format!("the schema of {} changed", self.place()));
    }

    fn may_look(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0 && self.depth < DEPTH
    }

    /// The place in words.
    fn place(&self) -> String {
        match (self.side, self.path.as_str()) {
            (Side::Arguments, "") => "the arguments".to_owned(),
            (Side::Results, "") => "the result".to_owned(),
            (Side::Arguments, path) => format!("`{path}`"),
            (Side::Results, path) => format!("`{path}` in the result"),
        }
    }
}

/// The members of a schema; `true` is the same as none.
fn schema(raw: &RawJson) -> Option<Object> {
    let raw = if raw.as_str() == "true" { &anything() } else { raw };
    Object::read(raw).ok()
}

fn or_anything(schema: &Object, keyword: &str) -> RawJson {
    let found = schema.get(keyword).filter(|found| found.as_str() != "true");
    found.unwrap_or_else(anything)
}

fn alone(schema: &Object) -> Vec<RawJson> {
    vec![schema.raw().clone()]
}

fn without(all: &[RawJson], known: &[RawJson]) -> Vec<RawJson> {
    let known: std::collections::HashSet<&RawJson> = known.iter().collect();
    all.iter()
        .filter(|value| !known.contains(value))
        .cloned()
        .collect()
}
