//! One JSON text, carried byte for byte.

use std::fmt;
use std::hash::{Hash, Hasher};

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::rope::needs_escapes;
use crate::word::Marks;
use crate::{Mark, Rope, halves, walk};

/// One complete JSON value as the text it arrived in.
///
/// The text is known to be valid JSON and valid UTF-8. Cloning and slicing share the buffer;
/// nothing is ever re-serialised, so key order, number text and unknown members survive.
#[derive(Clone)]
pub struct RawJson {
    text: Bytes,
    /// The words that were seen in the message that it is a part of, if somebody looked.
    marks: Option<Marks>,
}

/// The text is not one JSON value.
#[derive(Debug, thiserror::Error)]
#[error("not valid JSON")]
pub struct NotJson(#[from] serde_json::Error);

impl RawJson {
    fn new(text: Bytes) -> Self {
        Self { text, marks: None }
    }

    /// Checks that `text` is exactly one JSON value, and takes it without the white space around it.
    ///
    /// # Errors
    ///
    /// [`NotJson`] with the place and the reason as its source.
    pub fn parse(text: Bytes) -> Result<Self, NotJson> {
        let value: &RawValue = serde_json::from_slice(&text)?;
        Ok(Self::of(&text, value))
    }

    /// The slice of `buffer` that `value` was borrowed from.
    ///
    /// # Panics
    ///
    /// When `value` does not lie inside `buffer`.
    pub(crate) fn of(buffer: &Bytes, value: &RawValue) -> Self {
        Self::part_of(buffer, value.get().as_bytes())
    }

    /// A part of a validated text that is a value itself.
    pub(crate) fn part_of(buffer: &Bytes, value: &[u8]) -> Self {
        Self::new(buffer.slice_ref(value))
    }

    /// Takes a text that this program wrote itself and knows to be JSON.
    pub fn from_static(text: &'static str) -> Self {
        Self::new(Bytes::from_static(text.as_bytes()))
    }

    /// Takes a text whose parts were all JSON already and that was put together here.
    ///
    /// Debug builds check it.
    pub fn trusted(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        debug_assert!(
            serde_json::from_slice::<&RawValue>(&text).is_ok(),
            "not JSON: {text:?}"
        );
        Self::new(text)
    }

    /// Renders a serialisable value of ours.
    ///
    /// # Panics
    ///
    /// When the value cannot be JSON (a map with keys that are no strings), which is a mistake in the program.
    pub fn render(value: &impl serde::Serialize) -> Self {
        Self::new(Bytes::from(
            serde_json::to_vec(value).expect("our own values are JSON"),
        ))
    }

    /// The JSON string for `text`.
    pub fn string(text: &str) -> Self {
        if needs_escapes(text) {
            return Self::render(&text);
        }
        let mut quoted = Vec::with_capacity(text.len() + 2);
        quoted.push(b'"');
        quoted.extend_from_slice(text.as_bytes());
        quoted.push(b'"');
        Self::new(Bytes::from(quoted))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // SAFETY-free by construction: serde_json checked the UTF-8 of every raw value.
        std::str::from_utf8(&self.text).expect("a JSON text is UTF-8")
    }

    /// The bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The buffer of the text, shared.
    pub fn bytes(&self) -> &Bytes {
        &self.text
    }

    /// The buffer of the text.
    pub fn into_bytes(self) -> Bytes {
        self.text
    }

    /// Reads the text into an owned value.
    ///
    /// # Errors
    ///
    /// When the text has another shape than `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.text)
    }

    /// The string, if the text is one.
    pub fn to_text(&self) -> Option<String> {
        let inner = self.as_bytes().strip_prefix(b"\"")?;
        if memchr::memchr(b'\\', inner).is_some() {
            return self.read().ok();
        }
        let inner = inner.strip_suffix(b"\"")?;
        std::str::from_utf8(inner).ok().map(str::to_owned)
    }

    /// Whether it may hold a word. What was parsed as a part of a message knows it of the whole; any
    /// other text is looked through.
    pub fn may_hold(&self, mark: Mark) -> bool {
        match self.marks {
            Some(marks) => marks.has(mark),
            None => mark.is_in(&self.text),
        }
    }

    /// The same with what was seen in the message that it is a part of.
    pub(crate) fn marked(self, marks: Option<Marks>) -> Self {
        Self { marks, ..self }
    }

    /// Whether the text is an object.
    pub fn is_object(&self) -> bool {
        self.text.first() == Some(&b'{')
    }

    /// Whether the text is an array.
    pub fn is_array(&self) -> bool {
        self.text.first() == Some(&b'[')
    }

    /// Whether the text is a string.
    pub fn is_string(&self) -> bool {
        self.text.first() == Some(&b'"')
    }

    /// Whether the text is `null`.
    pub fn is_null(&self) -> bool {
        self.text.first() == Some(&b'n')
    }

    /// Whether this is an object in which objects and arrays stand within each other more than so many levels deep.
    pub fn is_deeper_than(&self, levels: usize) -> bool {
        self.is_object() && walk::depth(&self.text) > levels
    }

    /// The first escape of half a character, such as `\ud800` alone: JSON's grammar allows it, and many
    /// parsers fail at it.
    pub fn half_character(&self) -> Option<&str> {
        halves::first(self.as_str())
    }

    /// The elements, if the text is an array.
    pub fn elements(&self) -> Option<Vec<RawJson>> {
        let parts: Vec<&RawValue> = serde_json::from_slice(&self.text).ok()?;
        Some(parts.into_iter().map(|part| Self::of(&self.text, part)).collect())
    }

    /// The array with some elements replaced; `None` where nothing is (or the text is no array).
    pub fn map_elements(&self, mut change: impl FnMut(&RawJson) -> Option<Rope>) -> Option<Rope> {
        let mut text = Rope::new();
        let mut from = 0;
        for element in self.elements()? {
            let start = element.as_bytes().as_ptr() as usize - self.text.as_ptr() as usize;
            if let Some(new) = change(&element) {
                text.push(self.text.slice(from..start));
                text.append(new);
                from = start + element.as_bytes().len();
            }
        }
        text.push(self.text.slice(from..));
        (from > 0).then_some(text)
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RawJson {}

impl Hash for RawJson {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for RawJson {
    /// Payloads never reach a log by accident: only the size is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.text.len())
    }
}

impl serde::Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.as_str()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for RawJson {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<RawValue> = serde::Deserialize::deserialize(deserializer)?;
        Ok(Self::new(Bytes::from(raw.get().as_bytes().to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_is_left_out_and_inside_kept() {
        let raw = RawJson::parse(Bytes::from_static(b" \n{ \"a\" : 1E400 }\r\n")).unwrap();
        assert_eq!(raw.as_str(), "{ \"a\" : 1E400 }");
    }

    #[test]
    fn two_values_bad_utf8_and_nothing_are_refused() {
        for text in [&b"{} {}"[..], b"\"\xff\"", b"", b"{", b"nul"] {
            assert!(RawJson::parse(Bytes::copy_from_slice(text)).is_err(), "{text:?}");
        }
    }

    #[test]
    fn elements_are_replaced_in_place() {
        let array = RawJson::from_static("[ 1, 2 ,3 ]");
        let double =
            |element: &RawJson| (element.as_str() == "2").then(|| RawJson::from_static("[2,2]").into());
        assert_eq!(
            array.map_elements(double).unwrap().into_bytes(),
            "[ 1, [2,2] ,3 ]"
        );
        assert!(array.map_elements(|_| None).is_none());
        assert!(RawJson::from_static("{}").map_elements(|_| None).is_none());
    }

    #[test]
    fn deep_nesting_is_no_stack_overflow() {
        let deep = "[".repeat(500_000) + &"]".repeat(500_000);
        assert!(RawJson::parse(Bytes::from(deep)).is_ok());
    }
}
