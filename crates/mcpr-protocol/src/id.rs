//! Request ids, with their type and their text intact.

use std::fmt;

use bytes::Bytes;

use crate::RawJson;

/// The id of a request: a JSON string or an integer, kept as the text the peer sent.
///
/// `"1"` and `1` are different ids (JSON-RPC 2.0 section 4), and 9007199254740993 stays itself.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(RawJson);

impl Id {
    /// Takes an id, if the text is a string or an integer.
    ///
    /// MCP allows neither null nor a fraction.
    pub fn new(raw: RawJson) -> Option<Self> {
        (raw.is_string() || is_integer(raw.as_bytes())).then_some(Self(raw))
    }

    /// A number of our own.
    pub fn number(number: u64) -> Self {
        Self(RawJson::trusted(number.to_string()))
    }

    /// The JSON text of the id.
    pub fn raw(&self) -> &RawJson {
        &self.0
    }

    /// The bytes of the JSON text, shared.
    pub fn bytes(&self) -> Bytes {
        self.0.bytes().clone()
    }

    /// The number, if this is one of ours.
    pub fn as_number(&self) -> Option<u64> {
        self.0.as_str().parse().ok()
    }
}

/// An integer as JSON writes it: no fraction and no exponent.
fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b49_strings_and_integers_of_any_size_are_ids() {
        for text in [
            "\"1\"",
            "1",
            "\"req-é\"",
            "0",
            "-1",
            "9007199254740993",
            "\"\"",
            "123456789012345678901234567890",
        ] {
            let id = Id::new(RawJson::parse(text.into()).unwrap()).expect(text);
            assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn b107_null_fractions_and_structures_are_not() {
        for text in ["null", "1.5", "1e3", "{}", "[]", "true"] {
            assert!(Id::new(RawJson::parse(text.into()).unwrap()).is_none(), "{text}");
        }
    }
}
