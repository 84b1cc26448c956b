//! Changes to an object, said as splices.

use smallvec::SmallVec;

use crate::{Object, RawJson, Rope};

/// New values by the places of their members.
type Changes = SmallVec<[(usize, Option<Rope>); 2]>;

/// A changed copy of an object in the making.
///
/// Members that are not named stay as they are, byte for byte and in their order; new ones come at
/// the end.
#[derive(Debug)]
pub struct Edit<'a> {
    object: &'a Object,
    /// New values by member, in their order; `None` takes it out.
    changes: Changes,
    added: SmallVec<[(&'a str, Rope); 2]>,
}

impl<'a> Edit<'a> {
    /// Starts with no change.
    pub fn new(object: &'a Object) -> Self {
        Self {
            object,
            changes: SmallVec::new(),
            added: SmallVec::new(),
        }
    }

    /// Gives a member a new value, adding it if it is not there. The last word on a member counts.
    pub fn set(&mut self, key: &'a str, value: impl Into<Rope>) -> &mut Self {
        let value = value.into();
        match self.object.find(key) {
            Some(index) => self.change(index, Some(value)),
            None => {
                self.added.retain(|(added, _)| *added != key);
                self.added.push((key, value));
            }
        }
        self
    }

    /// Takes a member out, if it is there.
    pub fn remove(&mut self, key: &str) -> &mut Self {
        match self.object.find(key) {
            Some(index) => self.change(index, None),
            None => self.added.retain(|(added, _)| *added != key),
        }
        self
    }

    /// Takes out every member whose name says so. However many they are, each costs no more than the first.
    pub fn remove_where(&mut self, condition: impl Fn(&str) -> bool) -> &mut Self {
        let keys = self.object.keys().enumerate();
        for (index, _) in keys.filter(|(_, key)| condition(key)) {
            self.change(index, None);
        }
        self
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.added.is_empty()
    }

    /// The changed text.
    pub fn finish(&mut self) -> Rope {
        let mut out = Pieces {
            text: &self.object.raw,
            rope: Rope::new(),
            from: 0,
            to: 1,
        };
        let mut first = true;
        let mut changes = std::mem::take(&mut self.changes).into_iter().peekable();
        for index in 0..self.object.members.len() {
            let change = changes.next_if(|(changed, _)| *changed == index);
            first &= !self.write_member(&mut out, index, change.map(|(_, value)| value), first);
        }
        for (key, value) in self.added.drain(..) {
            out.insert(if first { "" } else { "," });
            out.string(key);
            out.insert(":");
            out.rope.append(value);
            first = false;
        }
        out.keep(self.end()..self.object.raw.as_bytes().len());
        out.finish()
    }

    /// Writes one member with what separates it from the one before; false if it is left out.
    fn write_member(
        &self,
        out: &mut Pieces<'_>,
        index: usize,
        change: Option<Option<Rope>>,
        first: bool,
    ) -> bool {
        if matches!(change, Some(None)) {
            return false;
        }
        let member = &self.object.members[index];
        let before = index
            .checked_sub(1)
            .map_or(1, |previous| self.object.members[previous].value.end);
        if !first || index == 0 {
            out.keep(before..member.start);
        }
        match change.flatten() {
            Some(value) => {
                out.keep(member.start..member.value.start);
                out.splice(value);
            }
            None => out.keep(member.start..member.value.end),
        }
        true
    }

    /// Where the last member ends.
    fn end(&self) -> usize {
        self.object.members.last().map_or(1, |member| member.value.end)
    }

    fn change(&mut self, index: usize, change: Option<Rope>) {
        match self.changes.binary_search_by_key(&index, |(changed, _)| *changed) {
            Ok(known) => self.changes[known].1 = change,
            Err(place) => self.changes.insert(place, (index, change)),
        }
    }
}

/// The rope in the making; neighbouring pieces of the old text stay one slice.
struct Pieces<'a> {
    text: &'a RawJson,
    rope: Rope,
    from: usize,
    to: usize,
}

impl Pieces<'_> {
    fn keep(&mut self, range: std::ops::Range<usize>) {
        if range.start != self.to {
            self.flush();
            self.from = range.start;
        }
        self.to = range.end;
    }

    fn insert(&mut self, text: &'static str) {
        self.flush();
        self.rope.push_static(text);
    }

    fn string(&mut self, text: &str) {
        self.rope.push_string(text);
    }

    fn splice(&mut self, value: Rope) {
        self.flush();
        self.rope.append(value);
    }

    fn flush(&mut self) {
        self.rope.push_slice(self.text.bytes(), self.from..self.to);
        self.from = self.to;
    }

    fn finish(mut self) -> Rope {
        self.flush();
        self.rope
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn edited(text: &'static str, edit: impl Fn(&mut Edit<'_>)) -> String {
        let object = Object::read(&RawJson::from_static(text)).unwrap();
        let mut changes = Edit::new(&object);
        edit(&mut changes);
        let text = changes.finish().into_bytes();
        String::from_utf8(text.to_vec()).unwrap()
    }

    #[test]
    fn only_the_named_value_changes() {
        let text = edited(
            r#"{ "name" : "a", "x":1E400 ,"n":123456789012345678901234567890 }"#,
            |edit| {
                edit.set("name", RawJson::from_static(r#""b""#));
            },
        );
        assert_eq!(
            text,
            r#"{ "name" : "b", "x":1E400 ,"n":123456789012345678901234567890 }"#
        );
    }

    #[test]
    fn members_leave_without_a_trace() {
        let without = |keys: &'static [&'static str]| {
            edited(r#"{ "a":1, "b":2, "c":3 }"#, |edit| {
                for key in keys {
                    edit.remove(key);
                }
            })
        };
        assert_eq!(without(&["a"]), r#"{"b":2, "c":3 }"#);
        assert_eq!(without(&["b"]), r#"{ "a":1, "c":3 }"#);
        assert_eq!(without(&["c"]), r#"{ "a":1, "b":2 }"#);
        assert_eq!(without(&["a", "b", "c"]), "{ }");
    }

    #[test]
    fn new_members_come_last() {
        let add = |edit: &mut Edit<'_>| {
            edit.set("z", RawJson::from_static("0"));
        };
        assert_eq!(edited("{}", add), r#"{"z":0}"#);
        assert_eq!(edited(r#"{"a":1 }"#, add), r#"{"a":1,"z":0 }"#);
    }

    #[test]
    fn sec_05_a_great_many_members_leave_in_no_time() {
        let members: Vec<_> = (0..200_000).map(|number| format!("\"{number}\":0")).collect();
        let text = format!("{{\"a\":1,{},\"z\":2}}", members.join(","));
        let object = Object::read(&RawJson::trusted(text)).unwrap();
        let began = std::time::Instant::now();
        let mut edit = Edit::new(&object);
        let text = edit
            .set("z", RawJson::from_static("3"))
            .remove_where(|key| key != "a" && key != "z")
            .finish();
        assert_eq!(text.into_bytes(), r#"{"a":1,"z":3}"#);
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }

    proptest! {
        #[test]
        fn an_edit_does_what_it_would_do_to_a_map(
            map in prop::collection::btree_map("[a-f]", 0..99u32, 0..6),
            set in prop::collection::btree_map("[a-h]", 100..199u32, 0..4),
            removed in prop::collection::vec("[a-h]", 0..4),
            all_from in "[a-h]",
        ) {
            let text = serde_json::to_string_pretty(&map).unwrap();
            let object = Object::read(&RawJson::parse(Bytes::from(text)).unwrap()).unwrap();
            let mut edit = Edit::new(&object);
            let mut expected = map.clone();
            for (key, value) in &set {
                edit.set(key, Rope::from(value.to_string()));
                expected.insert(key.clone(), *value);
            }
            for key in &removed {
                edit.remove(key);
                expected.remove(key);
            }
            edit.remove_where(|key| *key >= *all_from && map.contains_key(key));
            expected.retain(|key, _| *key < all_from || !map.contains_key(key));
            let got: std::collections::BTreeMap<String, u32> = serde_json::from_slice(&edit.finish().into_bytes()).unwrap();
            prop_assert_eq!(got, expected);
        }
    }
}
