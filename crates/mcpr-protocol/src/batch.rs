//! Several messages in one array: only 2025-03-26 has that.

use std::fmt;

use bytes::Bytes;
use serde::de::{Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Broken, Fault, Message, RawJson};

/// What is found in an array: its first elements, and how many it has.
struct Elements {
    most: usize,
}

impl Message {
    /// Parses the messages of a batch, each by itself: a broken one leaves the others whole.
    ///
    /// No more than `most` are taken, so that a small text does not become a large table, and none that
    /// is nested more than `levels` deep.
    ///
    /// # Errors
    ///
    /// When the text is no JSON array, or has no element, or too many.
    pub fn parse_batch(text: &Bytes, most: usize, levels: usize) -> Result<Vec<Result<Self, Broken>>, Fault> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let found = json.deserialize_seq(Elements { most });
        let (elements, count) = found
            .and_then(|found| json.end().map(|()| found))
            .map_err(|error| Fault::NotJson(error.to_string()))?;
        match count {
            0 => Err(Fault::EmptyBatch),
            count if count > most => Err(Fault::LargeBatch { most }),
            _ => Ok(elements
                .into_iter()
                .map(|element| Self::parse_within(RawJson::of(text, element).bytes(), levels))
                .collect()),
        }
    }
}

impl<'de> Visitor<'de> for Elements {
    type Value = (Vec<&'de RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() < self.most
            && let Some(element) = array.next_element()?
        {
            elements.push(element);
        }
        let mut count = elements.len();
        while count >= self.most && array.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((elements, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Result<Message, Broken>>, Fault> {
        Message::parse_batch(&Bytes::copy_from_slice(text.as_bytes()), 3, 128)
    }

    #[test]
    fn members_are_parsed_each_by_itself() {
        let members =
            parse(r#" [{"jsonrpc":"2.0","id":1,"method":"ping"} , 7, {"jsonrpc":"2.0","method":"n"}] "#);
        let members = members.unwrap();
        assert!(matches!(&members[0], Ok(Message::Request(request)) if request.id.to_string() == "1"));
        assert!(members[1].is_err());
        assert!(matches!(&members[2], Ok(Message::Notification(_))));
    }

    #[test]
    fn sec_05_none_and_too_many_are_refused() {
        assert_eq!(parse("[]").unwrap_err(), Fault::EmptyBatch);
        assert_eq!(parse("[1,2,3]").unwrap().len(), 3);
        assert_eq!(parse("[1,2,3,4]").unwrap_err(), Fault::LargeBatch { most: 3 });
        assert_eq!(
            parse(&format!("[{}1]", "1,".repeat(100_000))).unwrap_err(),
            Fault::LargeBatch { most: 3 }
        );
    }

    #[test]
    fn what_is_no_array_is_no_batch() {
        for text in ["", "{}", "7", "[1", "[1] 2", "[1,]", "[1,2,3,4"] {
            assert!(matches!(parse(text), Err(Fault::NotJson(_))), "{text}");
        }
    }
}
