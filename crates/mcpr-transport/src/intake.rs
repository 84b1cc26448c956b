//! Reads what servers send.

use bytes::Bytes;
use mcpr_protocol::{Broken, ErrorObject, Fault, Message, Response, code};

/// How deep a message of a server may be nested: far beyond what anybody writes, and what parsers take.
const LEVELS: usize = 512;

/// Reads a message of a server.
///
/// A response that is nested too deep is read as an error, so that whoever waits for it hears of it.
///
/// # Errors
///
/// As [`Message::parse_within`].
pub(crate) fn read(text: &Bytes) -> Result<Message, Broken> {
    let broken = match Message::parse_within(text, LEVELS) {
        Ok(message) => return Ok(message),
        Err(broken) => broken,
    };
    match (&broken.fault, Message::parse(text)) {
        (fault @ Fault::TooDeep { .. }, Ok(Message::Response(response))) => {
            let text = format!("the answer of the server cannot be read: {fault}");
            let error = ErrorObject::new(code::INTERNAL, text).render();
            Ok(Message::Response(Response {
                outcome: Err(error),
                ..response
            }))
        }
        _ => Err(broken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(head: &str, levels: usize, tail: &str) -> Bytes {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0",{head}{open}{close}{tail}}}"#).into()
    }

    #[test]
    fn sec_05_a_response_that_is_nested_too_deep_is_an_error_of_its_request() {
        let result = r#""id":7,"result":"#;
        let Ok(Message::Response(response)) = read(&nested(result, 600, "")) else {
            panic!("it is read as a response");
        };
        assert_eq!(response.id.unwrap().as_number(), Some(7));
        let error: ErrorObject = response.outcome.unwrap_err().read().unwrap();
        assert!(error.message.contains("512 levels"), "{}", error.message);
        assert!(read(&nested(result, 511, "")).unwrap().to_rope().len() > 1000);
    }

    #[test]
    fn sec_05_anything_else_that_is_nested_too_deep_is_no_message() {
        let note = |levels| {
            nested(
                r#""method":"notifications/message","params":{"data":"#,
                levels,
                "}",
            )
        };
        assert!(read(&note(500)).is_ok());
        assert!(matches!(
            read(&note(600)).unwrap_err().fault,
            Fault::TooDeep { .. }
        ));
    }
}
