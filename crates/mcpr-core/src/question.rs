//! What servers ask a client of the session era: real requests, whose answers come back on other
//! messages of the client.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcpr_protocol::{Id, Method, Notification, RawJson, Request, Response, Rope, notification};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::oneshot;

/// What a client answered: a result, or an error object.
pub(crate) type Answer = Result<RawJson, RawJson>;

/// The questions that one client has not answered yet, by mcpr's own ids.
#[derive(Default)]
pub(crate) struct Questions(Mutex<Open>);

#[derive(Default)]
struct Open {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
}

/// A question that was put to a client. Dropped before the answer, nobody waits for that any more.
pub(crate) struct Asked {
    id: u64,
    questions: Arc<Questions>,
    answer: oneshot::Receiver<Answer>,
}

impl Questions {
    /// Puts a question: the text of the request for the client, and where its answer will be.
    pub(crate) fn ask(self: &Arc<Self>, method: &Method, params: Rope) -> (Rope, Asked) {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut open = self.0.lock();
            open.last_id += 1;
            let id = open.last_id;
            open.waiting.insert(id, sender);
            id
        };
        let text = Request::text(&Id::number(id), method.as_str(), params);
        let asked = Asked {
            id,
            questions: self.clone(),
            answer,
        };
        (text, asked)
    }

    /// Whether the client has something to answer.
    pub(crate) fn any_open(&self) -> bool {
        !self.0.lock().waiting.is_empty()
    }

    /// Takes an answer of the client; one to a question that nobody put is dropped.
    pub(crate) fn answered(&self, response: Response) {
        let id = response.id.as_ref().and_then(Id::as_number);
        let waiting = id.and_then(|id| self.0.lock().waiting.remove(&id));
        match waiting {
            Some(waiting) => drop(waiting.send(response.outcome)),
            None => tracing::debug!("an answer came to a question that nobody asked, or no longer asks"),
        }
    }
}

impl Asked {
    /// Waits for the answer; `None` if the client will never give one.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        use std::future::Future;
        Pin::new(&mut self.answer).poll(cx).map(Result::ok)
    }

    /// Tells the client that nobody waits for the answer any more.
    pub(crate) fn withdrawn(&self, why: &str) -> Rope {
        let params = RawJson::render(&json!({ "requestId": self.id, "reason": why }));
        Notification::text(notification::CANCELLED, params.into())
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.questions.0.lock().waiting.remove(&self.id);
    }
}

/// A name for a URL that a client of the session era is asked to visit (2025-11-25, elicitation).
pub(crate) fn fresh_visit() -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn poll(asked: &mut Asked) -> Poll<Option<Answer>> {
        asked.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn answer(id: u64) -> Response {
        Response {
            id: Some(Id::number(id)),
            outcome: Ok(RawJson::string(&format!("to {id}"))),
        }
    }

    #[test]
    fn each_answer_finds_its_question() {
        let questions = Arc::<Questions>::default();
        let (text, mut first) = questions.ask(&Method::RootsList, Rope::new());
        let (_, mut second) = questions.ask(&Method::RootsList, Rope::new());
        assert_eq!(
            text.into_bytes(),
            r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#
        );

        questions.answered(answer(2));
        questions.answered(answer(7));

        assert!(poll(&mut first).is_pending());
        let Poll::Ready(Some(Ok(said))) = poll(&mut second) else {
            panic!("no answer")
        };
        assert_eq!(said.as_str(), "\"to 2\"");
    }

    #[test]
    fn a_question_that_is_dropped_is_forgotten() {
        let questions = Arc::<Questions>::default();
        drop(questions.ask(&Method::RootsList, Rope::new()));
        assert!(questions.0.lock().waiting.is_empty());
        questions.answered(answer(1));
    }
}
