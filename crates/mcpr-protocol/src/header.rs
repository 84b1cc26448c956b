//! Values that a stateless hop repeats in HTTP headers (2026-07-28, transports).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// A header value has the form of an encoded text, but is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the value between `=?base64?` and `?=` is not Base64 of a UTF-8 text")]
pub struct HeaderCodecError;

/// Writes a text as a header value: as it is where that is safe, else as Base64 between markers.
pub fn encode_value(text: &str) -> Cow<'_, str> {
    let visible = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let marked = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    if visible && !padded && !marked {
        text.into()
    } else {
        format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text)).into()
    }
}

/// Reads a header value back into the text it stands for.
///
/// # Errors
///
/// When the markers are there and what is between them is not standard, padded Base64 of UTF-8.
pub fn decode_value(value: &str) -> Result<Cow<'_, str>, HeaderCodecError> {
    let value = value.trim_matches([' ', '\t']);
    let Some(inner) = value
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Ok(value.into());
    };
    let bytes = STANDARD.decode(inner).map_err(|_| HeaderCodecError)?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| HeaderCodecError)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_text_stays_plain() {
        assert_eq!(encode_value("git_status"), "git_status");
        assert_eq!(encode_value(" x"), "=?base64?IHg=?=");
        assert_eq!(encode_value("é"), "=?base64?w6k=?=");
        assert_eq!(encode_value("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
        assert_eq!(
            decode_value("=?base64?w6k?="),
            Err(HeaderCodecError),
            "padding is required"
        );
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in "\\PC{0,20}|[ \t\n=?]{0,4}") {
            let encoded = encode_value(&text);
            prop_assert!(encoded.bytes().all(|byte| matches!(byte, 0x20..=0x7e)));
            prop_assert_eq!(decode_value(&encoded).unwrap().into_owned(), text.clone());
        }
    }
}
