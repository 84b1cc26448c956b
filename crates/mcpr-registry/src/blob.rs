//! The last good listing of a server as bytes to be stored.

use bytes::Bytes;
use mcpr_protocol::{NotJson, Object, ObjectError, RawJson, Rope};

use crate::{Capabilities, Kind, Offers};

/// The stored bytes are no listing.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// They are no JSON.
    #[error("the stored listing is damaged")]
    Damaged(#[from] NotJson),
    /// They are JSON, but no object.
    #[error("the stored listing is damaged")]
    NotAnObject(#[from] ObjectError),
    /// A member is not what it has to be.
    #[error("the stored listing is damaged: `{0}` is missing or of the wrong kind")]
    Member(&'static str),
    /// They were written by another version of mcpr.
    #[error("the stored listing has format {0}, this program reads format {format}", format = Offers::BLOB_FORMAT)]
    Format(String),
}

impl Offers {
    /// The format that [`Offers::to_blob`] writes. Other formats are not read: the listing is then
    /// fetched again, which is all that is lost.
    pub const BLOB_FORMAT: u32 = 1;

    /// Writes the listing as one JSON text in which each item is the text that the server sent.
    pub fn to_blob(&self) -> Bytes {
        let mut text = Rope::new();
        text.push(format!("{{\"format\":{},\"capabilities\":", Self::BLOB_FORMAT));
        text.append(RawJson::render(&self.capabilities).into());
        if let Some(instructions) = &self.instructions {
            member(&mut text, "instructions", RawJson::string(instructions).into());
        }
        if let Some(info) = &self.server_info {
            member(&mut text, "serverInfo", info.clone().into());
        }
        for kind in Kind::ALL {
            member(&mut text, kind.member(), array(self.items(kind)));
        }
        text.push_static("}");
        text.into_bytes()
    }

    /// Reads a listing back; its items share the buffer.
    ///
    /// # Errors
    ///
    /// When the bytes are damaged or of another format; fetch the listing from the server then.
    pub fn from_blob(blob: Bytes) -> Result<Self, BlobError> {
        let object = Object::read(&RawJson::parse(blob)?)?;
        check_format(&object)?;
        let mut offers = Self {
            instructions: object.text("instructions"),
            capabilities: capabilities(&object)?,
            server_info: object.get("serverInfo"),
            ..Self::default()
        };
        for kind in Kind::ALL {
            let items = object.get(kind.member()).and_then(|array| array.elements());
            *offers.items_mut(kind) = items.ok_or(BlobError::Member(kind.member()))?;
        }
        Ok(offers)
    }
}

fn member(text: &mut Rope, key: &str, value: Rope) {
    text.push(format!(",\"{key}\":"));
    text.append(value);
}

fn array(items: &[RawJson]) -> Rope {
    let mut text = Rope::new();
    for (index, item) in items.iter().enumerate() {
        text.push_static(if index == 0 { "[" } else { "," });
        text.push(item.bytes().clone());
    }
    text.push_static(if items.is_empty() { "[]" } else { "]" });
    text
}

fn check_format(object: &Object) -> Result<(), BlobError> {
    let format = object.get("format").ok_or(BlobError::Member("format"))?;
    let known = format.as_str() == Offers::BLOB_FORMAT.to_string();
    known
        .then_some(())
        .ok_or_else(|| BlobError::Format(format.as_str().to_owned()))
}

fn capabilities(object: &Object) -> Result<Capabilities, BlobError> {
    let stored = object.get("capabilities").and_then(|raw| raw.read().ok());
    stored.ok_or(BlobError::Member("capabilities"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers() -> Offers {
        Offers {
            tools: vec![
                RawJson::from_static(r#"{ "name":"a", "n":123456789012345678901234567890,"e":1E400 }"#),
                RawJson::from_static("null"),
            ],
            resources: vec![RawJson::from_static(r#"{"uri":"file:///caf\u00e9"}"#)],
            instructions: Some("two\nlines".into()),
            capabilities: Capabilities {
                tools: true,
                subscribe: true,
                ..Capabilities::default()
            },
            server_info: Some(RawJson::from_static(r#"{"name":"x"}"#)),
            ..Offers::default()
        }
    }

    #[test]
    fn a_listing_comes_back_byte_for_byte() {
        assert_eq!(Offers::from_blob(offers().to_blob()).unwrap(), offers());
        let empty = Offers::default();
        assert_eq!(Offers::from_blob(empty.to_blob()).unwrap(), empty);
    }

    #[test]
    fn what_is_no_listing_says_why() {
        let fault = |text: &'static str| Offers::from_blob(Bytes::from_static(text.as_bytes())).unwrap_err();
        assert!(matches!(fault("{"), BlobError::Damaged(_)));
        assert!(matches!(fault("[]"), BlobError::NotAnObject(_)));
        assert!(matches!(fault("{}"), BlobError::Member("format")));
        assert!(matches!(
            fault(r#"{"format":1,"capabilities":{}}"#),
            BlobError::Member("tools")
        ));
        let newer = fault(r#"{"format":2}"#).to_string();
        assert_eq!(
            newer,
            "the stored listing has format 2, this program reads format 1"
        );
    }
}
