//! What came for one request and waits for its reader.

use std::collections::VecDeque;

use mcpr_protocol::Message;

/// How many messages wait.
pub(crate) const MESSAGES: usize = 256;

/// How many bytes of them; one alone may be larger.
pub(crate) const BYTES: usize = 4 * 1024 * 1024;

/// The longest notification that is taken where no request is its reader's.
const STRAY: usize = 64 * 1024;

/// Messages in the order in which they came, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    messages: VecDeque<Message>,
    bytes: usize,
}

impl Backlog {
    /// Adds a message; gives it back where there is no room.
    pub(crate) fn push(&mut self, message: Message) -> Result<(), Message> {
        let bytes = self.bytes + size(&message);
        if self.messages.len() >= MESSAGES || (bytes > BYTES && !self.messages.is_empty()) {
            return Err(message);
        }
        self.bytes = bytes;
        self.messages.push_back(message);
        Ok(())
    }

    /// The oldest message.
    pub(crate) fn pop(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.bytes -= size(&message);
        Some(message)
    }
}

/// A message that belongs to no request, without what would only take up room: nobody answers what a
/// question holds that is nobody's, and what is said at such length is not taken.
pub(crate) fn stray(message: Message) -> Option<Message> {
    match message {
        Message::Request(mut request) => {
            request.params = None;
            Some(Message::Request(request))
        }
        message => (size(&message) <= STRAY).then_some(message),
    }
}

/// The bytes of what a message carries.
fn size(message: &Message) -> usize {
    let params = match message {
        Message::Request(request) => &request.params,
        Message::Notification(notification) => &notification.params,
        Message::Response(_) => return 0, // None is kept here.
    };
    params.as_ref().map_or(0, |params| params.as_bytes().len())
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::{Id, Method, Notification, RawJson, Request};

    use super::*;

    fn note(bytes: usize) -> Message {
        let text = format!(r#"{{"x":"{}"}}"#, "y".repeat(bytes - 8));
        Message::Notification(Notification::new("n", Some(RawJson::trusted(text))))
    }

    #[test]
    fn sec_05_so_many_messages_wait_and_so_many_bytes() {
        let mut backlog = Backlog::default();
        assert!((0..MESSAGES).all(|_| backlog.push(note(10)).is_ok()));
        assert!(backlog.push(note(10)).is_err());

        let mut backlog = Backlog::default();
        backlog.push(note(2 * BYTES)).unwrap();
        assert!(
            backlog.push(note(10)).is_err(),
            "one alone may be longer than all"
        );
        backlog.pop().unwrap();
        assert!((0..4).all(|_| backlog.push(note(BYTES / 4)).is_ok()));
        assert!(backlog.push(note(10)).is_err());
        while backlog.pop().is_some() {}
        assert_eq!(backlog.bytes, 0);
    }

    #[test]
    fn sec_05_what_belongs_to_no_request_is_taken_in_short() {
        assert!(stray(note(STRAY)).is_some() && stray(note(STRAY + 1)).is_none());
        let question = Message::Request(Request {
            id: Id::number(1),
            method: Method::Elicit,
            params: Some(RawJson::trusted("{}")),
        });
        let Some(Message::Request(question)) = stray(question) else {
            panic!("a question is answered by somebody");
        };
        assert!(question.params.is_none());
    }
}
