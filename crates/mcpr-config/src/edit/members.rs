//! Putting members into objects and taking them out, with no other byte touched.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use mcpr_protocol::RawJson;

use super::layout::{Habits, Layout, Manner, is_spread};
use super::trivia;

/// A range of the text, and what stands there from now on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Change {
    at: Range<usize>,
    with: String,
}

/// An object in its document.
pub(super) struct Site<'t> {
    pub(super) text: &'t str,
    pub(super) habits: Habits<'t>,
    /// The objects that lead to it, from the root; it is the last.
    pub(super) chain: Vec<&'t Object<'t>>,
}

impl Change {
    pub(super) fn new(at: Range<usize>, with: impl Into<String>) -> Self {
        Self {
            at,
            with: with.into(),
        }
    }

    fn insert(at: usize, with: impl Into<String>) -> Self {
        Self::new(at..at, with)
    }

    fn remove(at: Range<usize>) -> Self {
        Self::new(at, "")
    }
}

/// The text with all changes; those of one place in their order.
pub(super) fn apply(text: &str, mut changes: Vec<Change>) -> String {
    changes.sort_by_key(|change| change.at.start);
    let mut changed = String::with_capacity(text.len());
    let mut from = 0;
    for Change { at, with } in changes {
        changed.push_str(&text[from..at.start]);
        changed.push_str(&with);
        from = at.end;
    }
    changed + &text[from..]
}

/// The member of this key; of several the last, which is the one that counts.
pub(super) fn member<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o ObjectProp<'t>> {
    let found = |member: &&ObjectProp<'_>| member.name.as_str() == key;
    object.properties.iter().rfind(found)
}

impl Site<'_> {
    fn object(&self) -> &Object<'_> {
        self.chain.last().expect("a chain begins with the root")
    }

    /// Adds a member behind the last one.
    pub(super) fn insert(&self, key: &str, value: &RawJson) -> Vec<Change> {
        match self.object().properties.last() {
            Some(last) => self.insert_behind(last, key, value),
            None => self.insert_first(key, value),
        }
    }

    fn insert_behind(&self, last: &ObjectProp<'_>, key: &str, value: &RawJson) -> Vec<Change> {
        let manner = Manner::of(self.text, self.object());
        let comma = trivia::comma_after(self.text, last.range.end);
        let end = comma.map_or(last.range.end, |comma| comma + 1);
        let (at, before, indent) = if manner.spread {
            let indent = self.member_indent();
            (trivia::below(self.text, end), self.habits.line(&indent), indent)
        } else {
            let gap = if manner.airy { " " } else { "" };
            (end, gap.to_owned(), self.line_indent())
        };
        let member = self.layout(manner).member(manner, key, value, &indent);
        let (missing, trailing) = if comma.is_none() { (",", "") } else { ("", ",") };
        vec![
            Change::insert(last.range.end, missing),
            Change::insert(at, format!("{before}{member}{trailing}")),
        ]
    }

    fn insert_first(&self, key: &str, value: &RawJson) -> Vec<Change> {
        let object = self.object();
        let (open, close) = (object.range.start + 1, object.range.end - 1);
        let inside = &self.text[open..close];
        if let Some(manner) = self.manner_around() {
            let member = self
                .layout(manner)
                .member(manner, key, value, &self.line_indent());
            let edge = if manner.airy { " " } else { "" };
            if inside.trim().is_empty() {
                return vec![Change::new(open..close, format!("{edge}{member}{edge}"))];
            }
        }
        let outer = self.line_indent();
        let indent = self.habits.deeper(&outer);
        let member = self
            .layout(Manner::SPREAD)
            .member(Manner::SPREAD, key, value, &indent);
        let member = self.habits.line(&indent) + &member;
        let at = trivia::after_all_comments(self.text, open);
        if trivia::breaks_after(self.text, at) {
            return vec![Change::insert(at, member)];
        }
        vec![Change::new(at..close, member + &self.habits.line(&outer))]
    }

    /// How an empty object is to be filled, if it stands in a line with others; the frame of a
    /// document (the root and what is right in it) is spread in any case.
    fn manner_around(&self) -> Option<Manner> {
        let [_, .., parent, _] = &self.chain[..] else {
            return None;
        };
        let manner = Manner::of(self.text, parent);
        (!manner.spread).then_some(manner)
    }

    /// Puts a value in the place of that of a member.
    pub(super) fn replace(&self, member: &ObjectProp<'_>, value: &RawJson) -> Vec<Change> {
        let range = member.value.range();
        let manner = match &member.value {
            Value::Object(old) if !old.properties.is_empty() => Manner::of(self.text, old),
            _ => Manner::of(self.text, self.object()),
        };
        let indent = trivia::indentation(self.text, member.range.start);
        vec![Change::new(
            range.start..range.end,
            self.layout(manner).value(value, indent),
        )]
    }

    /// Takes a member out, with its comma and the comments behind it on its line.
    pub(super) fn remove(&self, member: &ObjectProp<'_>) -> Vec<Change> {
        let range = member.range.start..member.range.end;
        let comma = trivia::comma_after(self.text, range.end);
        let end = comma.map_or(range.end, |comma| comma + 1);
        if self.is_alone(range.start, end) {
            return vec![Change::remove(
                self.object().range.start + 1..self.object().range.end - 1,
            )];
        }
        let before = self.object().properties.iter();
        let before = before.take_while(|other| other.range.start < range.start).last();
        let spare = before.filter(|_| comma.is_none());
        let spare = spare.and_then(|before| trivia::comma_after(self.text, before.range.end));
        let spare = spare.map(|comma| Change::remove(comma..comma + 1)).into_iter();
        let line = trivia::rest_of_blank_line(self.text, trivia::after_comments(self.text, end));
        if let Some(next) = line.filter(|_| trivia::starts_line(self.text, range.start)) {
            let line = trivia::line_start(self.text, range.start)..next;
            return spare.chain([Change::remove(line)]).collect();
        }
        // With others on its line: the white space before the last one goes, else that behind it.
        if self
            .object()
            .properties
            .last()
            .is_some_and(|last| last.range == member.range)
        {
            let from = before.map_or(self.object().range.start + 1, |before| before.range.end);
            let start = trivia::before_space(self.text, from, range.start);
            return spare.chain([Change::remove(start..end)]).collect();
        }
        vec![Change::remove(range.start..self.after_blanks(end))]
    }

    /// Whether nothing else is in the object, no comment either.
    fn is_alone(&self, start: usize, end: usize) -> bool {
        let object = self.object().range;
        let around = [
            &self.text[object.start + 1..start],
            &self.text[end..object.end - 1],
        ];
        around.iter().all(|text| text.trim().is_empty())
    }

    fn after_blanks(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        at + rest.len() - rest.trim_start_matches([' ', '\t']).len()
    }

    /// New objects look like the last one beside them; where there is none, like the object itself.
    fn layout(&self, own: Manner) -> Layout<'_> {
        let members = self.object().properties.iter().rev();
        let beside = members.filter_map(|member| match &member.value {
            Value::Object(object) if !object.properties.is_empty() => Some(object),
            _ => None,
        });
        let model = beside.into_iter().next();
        let manner = model.map_or(own, |object| Manner {
            spread: own.spread && is_spread(self.text, object),
            ..Manner::of(self.text, object)
        });
        Layout {
            habits: self.habits,
            manner,
        }
    }

    /// The indentation of members: that of the last which begins a line.
    fn member_indent(&self) -> String {
        let starts = self.object().properties.iter().rev();
        let starts = starts.map(|member| member.range.start);
        let first = starts.into_iter().find(|at| trivia::starts_line(self.text, *at));
        first.map_or_else(
            || self.habits.deeper(&self.line_indent()),
            |at| trivia::indentation(self.text, at).to_owned(),
        )
    }

    /// The indentation of the line on which the object begins.
    fn line_indent(&self) -> String {
        trivia::indentation(self.text, self.object().range.start).to_owned()
    }
}
