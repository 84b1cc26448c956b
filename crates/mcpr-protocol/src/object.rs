//! The members of one object, without looking deeper.

use std::ops::Range;

use crate::RawJson;
use crate::plain::unquoted;

/// One level of an object: where each member stands in the text.
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) raw: RawJson,
    pub(crate) members: Vec<Member>,
}

/// A member of an object.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name, where it is written with escapes; else it stands in the text.
    escaped: Option<Box<str>>,
    /// The key with its quotes.
    key: Range<usize>,
    pub(crate) start: usize,
    pub(crate) value: Range<usize>,
}

/// The text cannot be taken as an object.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ObjectError {
    /// It is another kind of JSON value.
    #[error("must be an object")]
    NotAnObject,
    /// Two readers could understand two different things.
    #[error("member `{0}` is there twice")]
    Duplicate(String),
}

/// `{}`.
impl Default for Object {
    fn default() -> Self {
        Self {
            raw: RawJson::from_static("{}"),
            members: Vec::new(),
        }
    }
}

impl Object {
    /// Finds the members of `raw`.
    ///
    /// # Errors
    ///
    /// When it is no object, or a name is there twice: what is checked here must be what the
    /// server reads, whichever of the two it takes.
    pub fn read(raw: &RawJson) -> Result<Self, ObjectError> {
        if !raw.is_object() {
            return Err(ObjectError::NotAnObject);
        }
        let members = Scan {
            text: raw.as_bytes(),
            at: 1,
        }
        .members();
        let object = Self {
            raw: raw.clone(),
            members,
        };
        match object.duplicate() {
            Some(key) => Err(ObjectError::Duplicate(key.to_owned())),
            None => Ok(object),
        }
    }

    /// The text of the object.
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// The members in the order of the text.
    pub fn members(&self) -> impl Iterator<Item = (&str, RawJson)> {
        self.members
            .iter()
            .map(|member| (self.key(member), self.slice(member)))
    }

    /// The names of the members in the order of the text.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| self.key(member))
    }

    /// The value of a member.
    pub fn get(&self, key: &str) -> Option<RawJson> {
        self.find(key).map(|index| self.slice(&self.members[index]))
    }

    /// The value of a member that is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.to_text()
    }

    /// The value of a member that is an object.
    pub fn object(&self, key: &str) -> Option<Object> {
        Object::read(&self.get(key)?).ok()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        self.members
            .iter()
            .position(|member| self.key_bytes(member) == key.as_bytes())
    }

    fn key<'a>(&'a self, member: &'a Member) -> &'a str {
        std::str::from_utf8(self.key_bytes(member)).expect("a JSON text is UTF-8")
    }

    fn key_bytes<'a>(&'a self, member: &'a Member) -> &'a [u8] {
        match &member.escaped {
            Some(key) => key.as_bytes(),
            None => &self.raw.as_bytes()[member.key.start + 1..member.key.end - 1],
        }
    }

    /// A name that is there twice.
    fn duplicate(&self) -> Option<&str> {
        let keys = || self.members.iter().map(|member| self.key_bytes(member));
        let twice = if self.members.len() > 32 {
            let mut seen = std::collections::HashSet::with_capacity(self.members.len());
            keys().position(|key| !seen.insert(key))
        } else {
            let mut numbered = keys().enumerate();
            numbered
                .find(|(index, key)| keys().take(*index).any(|other| other == *key))
                .map(|(index, _)| index)
        };
        twice.map(|index| self.key(&self.members[index]))
    }

    fn slice(&self, member: &Member) -> RawJson {
        RawJson::trusted(self.raw.bytes().slice(member.value.clone()))
    }
}

/// Walks a text that is known to be JSON; on anything else the result is meaningless, but it ends.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn members(mut self) -> Vec<Member> {
        let mut members = Vec::with_capacity(8);
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            if self.peek() != Some(b'"') {
                return members;
            }
            let start = self.at;
            self.string();
            let key = start..self.at;
            let escaped = escaped(&self.text[key.clone()]);
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
            let from = self.at;
            self.value();
            members.push(Member {
                escaped,
                key,
                start,
                value: from..self.at,
            });
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, while_it_is: impl Fn(u8) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest
            .iter()
            .position(|&byte| !while_it_is(byte))
            .unwrap_or(rest.len());
    }

    fn value(&mut self) {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.structure(),
            _ => self.skip(|byte| !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace()),
        }
    }

    /// From an opening quote to behind the closing one.
    fn string(&mut self) {
        self.at += 1;
        loop {
            self.at += unquoted(&self.text[self.at..]);
            match self.peek() {
                Some(b'"') => break self.at += 1,
                Some(b'\\') => self.at = (self.at + 2).min(self.text.len()),
                Some(_) => self.at += 1,
                None => break,
            }
        }
    }

    fn structure(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

/// The name that a quoted key stands for, where it is not the text between the quotes.
fn escaped(quoted: &[u8]) -> Option<Box<str>> {
    if !quoted.contains(&b'\\') {
        return None;
    }
    serde_json::from_slice::<String>(quoted).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn object(text: &str) -> Object {
        Object::read(&RawJson::parse(bytes::Bytes::copy_from_slice(text.as_bytes())).unwrap()).unwrap()
    }

    #[test]
    fn members_are_found_whatever_their_values_hold() {
        let object = object(r#"{ "a" : "}\"{,", "b":[{"c":"]"},[]] ,"d":-1E400,"\u0065":null,"f":{}}"#);
        let members: Vec<_> = object
            .members()
            .map(|(key, value)| (key.to_owned(), value.as_str().to_owned()))
            .collect();
        let expected = [
            ("a", r#""}\"{,""#),
            ("b", r#"[{"c":"]"},[]]"#),
            ("d", "-1E400"),
            ("e", "null"),
            ("f", "{}"),
        ];
        assert_eq!(
            members,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn the_same_name_twice_is_refused_however_it_is_written() {
        let raw = RawJson::from_static(r#"{"name":1,"n\u0061me":2}"#);
        assert_eq!(
            Object::read(&raw).unwrap_err(),
            ObjectError::Duplicate("name".into())
        );
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            "\\PC{0,8}|[\"\\\\{}\\[\\],: \n]{0,6}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                prop::collection::btree_map("\\PC{0,4}|[\"\\\\]{0,2}", inner, 0..5)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_serde_reads(map in prop::collection::btree_map("\\PC{0,4}", json(), 0..6), pretty: bool) {
            let value = serde_json::Value::Object(map.into_iter().collect());
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let object = object(&text);
            let found: serde_json::Map<_, _> =
                object.members().map(|(key, value)| (key.to_owned(), value.read().unwrap())).collect();
            prop_assert_eq!(serde_json::Value::Object(found), serde_json::from_str::<serde_json::Value>(&text).unwrap());
        }

        #[test]
        fn any_bytes_end_the_scan(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Scan { text: &bytes, at: 0 }.members();
        }
    }
}
