//! Reads what servers send.

use bytes::Bytes;
use mcpr_protocol::{Broken, Message};

/// How deep a message of a server may be nested: far beyond what anybody writes, and what parsers take.
const LEVELS: usize = 512;

/// Reads a message of a server. Which requests one answers that cannot be read, [`crate::gist`] knows.
///
/// # Errors
///
/// As [`Message::parse_within`].
pub(crate) fn read(text: &Bytes) -> Result<Message, Broken> {
    Message::parse_within(text, LEVELS)
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::Fault;

    use super::*;

    fn nested(head: &str, levels: usize, tail: &str) -> Bytes {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0",{head}{open}{close}{tail}}}"#).into()
    }

    #[test]
    fn sec_05_what_is_nested_too_deep_is_no_message() {
        let note = r#""method":"notifications/message","params":{"data":"#;
        for (head, tail) in [(r#""id":7,"result":"#, ""), (note, "}")] {
            assert!(read(&nested(head, 500, tail)).is_ok());
            let broken = read(&nested(head, 600, tail)).unwrap_err();
            assert!(matches!(broken.fault, Fault::TooDeep { most: 512 }));
        }
    }
}
