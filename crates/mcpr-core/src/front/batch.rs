//! Batches of 2025-03-26: what may be in one, and the answers to it.

use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::join_all;
use mcpr_protocol::{
    Broken, Era, Message, Method, Notification, Request, Response, Rope, Version, notification,
};
use tokio::time::Instant;

use super::LEVELS;
use crate::client::Client;
use crate::dispatch::Handled;
use crate::fault::Fault;
use crate::flight::{Flight, Step};
use crate::stateless;

/// How many messages a batch may hold (SEC-05).
const MOST: usize = 100;

/// The messages of a batch.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) requests: Vec<Request>,
    pub(super) notes: Vec<Notification>,
    pub(super) responses: Vec<Response>,
    /// Members that are no messages; each gets an error in its place (JSON-RPC 2.0, section 6).
    broken: Vec<Broken>,
    /// How many of the members count toward the rate of their sender.
    pub(super) weight: usize,
}

/// The answers to the requests of one message, as far as they are still to come.
#[derive(Default)]
pub(super) struct Answers {
    flights: Vec<Flight>,
}

/// Whether a client may send batches: only one revision has them.
pub(super) fn may_send(client: &Client) -> bool {
    client.version == Version::V2025_03_26
}

/// Begins all of these, then does something else, then waits for them.
pub(super) async fn begin<F: Future>(all: impl Iterator<Item = F>, then: impl FnOnce()) -> Vec<F::Output> {
    let mut all = join_all(all);
    let begun = poll_fn(|cx| Poll::Ready(Pin::new(&mut all).poll(cx))).await;
    then();
    match begun {
        Poll::Ready(results) => results,
        Poll::Pending => all.await,
    }
}

/// Answers as the array that they come in.
pub(super) fn array(answers: Vec<Rope>) -> Rope {
    let mut text = Rope::new();
    let mut before = "[";
    for answer in answers {
        text.push_static(before);
        text.append(answer);
        before = ",";
    }
    text.push_static("]");
    text
}

/// Whether a message counts toward the rate of its sender, alone or in a batch: all but what ends something that has
/// been counted.
pub(super) fn counts(message: &Result<Message, Broken>) -> bool {
    match message {
        Ok(Message::Request(_)) | Err(_) => true,
        Ok(Message::Notification(note)) => &*note.method != notification::CANCELLED,
        Ok(Message::Response(_)) => false,
    }
}

impl Batch {
    /// Reads a batch.
    ///
    /// # Errors
    ///
    /// When it is not to be taken as a whole: then nothing of it may be carried out.
    pub(super) fn read(text: &Bytes) -> Result<Self, Fault> {
        let mut batch = Self::default();
        for member in Message::parse_batch(text, MOST, LEVELS).map_err(Fault::Message)? {
            batch.weight += usize::from(counts(&member));
            match member {
                Ok(Message::Request(request)) => batch.requests.push(request),
                Ok(Message::Notification(note)) => batch.notes.push(note),
                Ok(Message::Response(response)) => batch.responses.push(response),
                Err(broken) => batch.broken.push(broken),
            }
        }
        batch.check().map(|()| batch)
    }

    /// The errors for what is no message.
    pub(super) fn refusals(&self) -> Vec<Rope> {
        let refusal = |Broken { fault, id }: &Broken| {
            let error = Fault::Message(fault.clone()).error(Era::Session, 0);
            Response::text(id.as_ref(), Err(error.render().into()))
        };
        self.broken.iter().map(refusal).collect()
    }

    fn check(&self) -> Result<(), Fault> {
        if !self.requests.is_empty() && !self.responses.is_empty() {
            return Err(invalid("a batch may hold requests or responses, not both"));
        }
        let mut ids = HashSet::new();
        for request in &self.requests {
            if request.method == Method::Initialize {
                return Err(invalid("`initialize` must not be in a batch: send it alone"));
            }
            if !matches!(stateless::envelope(request.params.as_ref()), Ok(None)) {
                return Err(invalid(
                    "a stateless request must not be in a batch: send it alone",
                ));
            }
            if !ids.insert(&request.id) {
                return Err(invalid(&format!(
                    "two requests of the batch have the id {}",
                    request.id
                )));
            }
        }
        Ok(())
    }
}

impl Answers {
    /// The answer to one request.
    pub(super) fn of(flight: Flight) -> Self {
        Self {
            flights: vec![flight],
        }
    }

    /// Adds the answer to one more; gives it if it is there already.
    pub(super) fn add(&mut self, handled: Handled) -> Option<Rope> {
        match handled {
            Handled::Done(done) => return Some(done.text),
            Handled::Flight(flight) => self.flights.push(flight),
            Handled::Listen(_) => {} // Only of the stateless era, which has no batches.
        }
        None
    }

    /// Whether none is still to come.
    pub(super) fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    /// When the first of them is given up.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.flights.iter().filter_map(Flight::deadline).min()
    }

    /// What comes next for any of them; `None` when all have ended. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Step> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Step>> {
        for index in 0..self.flights.len() {
            let Poll::Ready(step) = pin!(self.flights[index].next()).poll(cx) else {
                continue;
            };
            if matches!(step, Step::Done(_) | Step::Cancelled) {
                self.flights.remove(index);
            } else {
                self.flights.rotate_left(index + 1); // The others have their turn first.
            }
            return Poll::Ready(Some(step));
        }
        if self.flights.is_empty() {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }
}

fn invalid(text: &str) -> Fault {
    Fault::InvalidRequest(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Batch, Fault> {
        Batch::read(&Bytes::copy_from_slice(text.as_bytes()))
    }

    fn refusal(text: &str) -> String {
        read(text).err().unwrap().to_string()
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[test]
    fn requests_or_responses_go_with_notifications_and_not_with_each_other() {
        for members in [
            vec![PING, NOTE],
            vec![ANSWER, ANSWER, NOTE],
            vec![NOTE],
            vec![PING, "7"],
        ] {
            let batch = read(&format!("[{}]", members.join(","))).unwrap();
            let found =
                batch.requests.len() + batch.notes.len() + batch.responses.len() + batch.refusals().len();
            assert_eq!(found, members.len());
        }
        assert!(refusal(&format!("[{PING},{ANSWER}]")).contains("not both"));
    }

    #[test]
    fn an_id_stands_for_one_request_and_its_type_counts() {
        assert!(refusal(&format!("[{PING},{PING}]")).contains("the id 1"));
        let text = PING.replace(":1,", ":\"1\",");
        assert!(read(&format!("[{PING},{text}]")).is_ok());
    }

    #[test]
    fn what_opens_a_session_or_needs_none_is_sent_alone() {
        let initialize = PING.replace("ping", "initialize");
        assert!(refusal(&format!("[{initialize}]")).contains("`initialize`"));
        let envelope = r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
        for envelope in [envelope.to_owned(), envelope.replace("{}}", "7}")] {
            let stateless = PING.replace("\"method\"", &format!("{envelope},\"method\""));
            assert!(
                refusal(&format!("[{stateless}]")).contains("stateless"),
                "{stateless}"
            );
        }
    }

    #[test]
    fn answers_stand_in_one_array() {
        let answers = |texts: &[&'static str]| {
            texts
                .iter()
                .map(|text| Bytes::from_static(text.as_bytes()).into())
                .collect()
        };
        assert_eq!(array(answers(&["1"])).into_bytes(), "[1]");
        assert_eq!(array(answers(&["1", "2", "3"])).into_bytes(), "[1,2,3]");
    }
}
