//! Clients that can be asked something, of both eras.

use serde_json::{Value, json};

use crate::Gateway;
use crate::client::{Session, Stateless};
use crate::either::{header_value, named};
use crate::http::{Answer, Connection, Head, Request};
use crate::raw;

/// A client that can be asked something.
#[derive(Debug)]
pub enum Peer {
    /// Of the session era: it is asked while its request is open.
    Session(Session),
    /// Of the stateless era: it sends its request again with the answers.
    Stateless(Able),
}

/// A stateless client with capabilities.
#[derive(Clone, Debug)]
pub struct Able {
    /// Who it is.
    pub client: Stateless,
    /// The members of its envelope beside the version and its name.
    pub meta: String,
}

/// What a server asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its id as JSON text, or its key.
    pub key: String,
    /// For what.
    pub method: String,
    /// Its parameters, byte for byte; empty for none.
    pub params: String,
}

/// What a client says to a question; the text of a result, or of an error object.
#[derive(Clone, Debug)]
pub enum Saying {
    /// This is the answer.
    Result(String),
    /// It does not answer.
    Error(String),
    /// It says nothing.
    Nothing,
}

/// All that came for one request.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// What was asked meanwhile.
    pub questions: Vec<Question>,
    /// What was told meanwhile.
    pub notes: Vec<Value>,
    /// The text of the answer.
    pub answer: String,
}

impl Gateway {
    /// A client of each era, with these capabilities.
    pub async fn peers(&self, capabilities: &Value) -> [Peer; 2] {
        [
            Peer::Session(self.client_with("2025-11-25", capabilities).await),
            Peer::Stateless(self.able(capabilities)),
        ]
    }

    /// A stateless client with these capabilities.
    pub fn able(&self, capabilities: &Value) -> Able {
        Able {
            client: self.stateless(),
            meta: format!(r#""io.modelcontextprotocol/clientCapabilities":{capabilities}"#),
        }
    }
}

impl Peer {
    /// Makes a request and answers what is asked, to its end; `params` is the inside of an object.
    pub async fn converse(&self, method: &str, params: &str, say: impl FnMut(&Question) -> Saying) -> Talk {
        match self {
            Self::Session(session) => session.converse(method, &format!("{{{params}}}"), say).await,
            Self::Stateless(able) => able.converse(method, params, say).await,
        }
    }

    /// The same for a call of a tool, with arguments given as text.
    pub async fn call(&self, tool: &str, arguments: &str, say: impl FnMut(&Question) -> Saying) -> Talk {
        self.converse("tools/call", &call(tool, arguments), say).await
    }

    /// Whether it is of the session era.
    pub fn is_session(&self) -> bool {
        matches!(self, Self::Session(_))
    }
}

impl Session {
    /// Makes a request and answers what is asked, to its end.
    pub async fn converse(&self, method: &str, params: &str, say: impl FnMut(&Question) -> Saying) -> Talk {
        let (head, connection) = self.begin(method, params).await;
        self.go_on(head, connection, say).await
    }

    /// Answers what is asked on a connection, to its end.
    pub async fn go_on(
        &self,
        head: Head,
        mut connection: Connection,
        mut say: impl FnMut(&Question) -> Saying,
    ) -> Talk {
        let mut talk = Talk::default();
        if head.header("content-type") == Some("application/json") {
            let body = connection.body().await;
            talk.answer = String::from_utf8(body).expect("JSON is UTF-8");
            return talk;
        }
        while let Some(event) = connection.event().await {
            if let Some(question) = talk.take(event.data) {
                let said = say(&question);
                talk.questions.push(question.clone());
                self.say(&question.key, said).await;
            }
        }
        talk
    }

    /// Answers a question.
    ///
    /// # Panics
    ///
    /// When the answer is not accepted.
    pub async fn say(&self, id: &str, said: Saying) {
        let member = match said {
            Saying::Result(text) => format!("\"result\":{text}"),
            Saying::Error(text) => format!("\"error\":{text}"),
            Saying::Nothing => return,
        };
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{member}}}"#);
        let taken = self.post(&message).send(self.port).await;
        assert_eq!(taken.status(), 202, "{}", taken.text());
    }
}

impl Able {
    /// The same client with one more member in its envelope.
    pub fn with(self, member: &str) -> Self {
        let meta = format!("{},{member}", self.meta);
        Self { meta, ..self }
    }

    /// The text of a request with its envelope; `params` is the inside of an object.
    pub fn text(&self, id: &str, method: &str, params: &str) -> String {
        self.client.text_with(id, method, params, &self.meta)
    }

    /// A POST of a request.
    pub fn post(&self, method: &str, params: &str) -> Request {
        let name = named(method, params).map(|name| header_value(&name));
        self.client
            .post(&self.text("1", method, params), method, name.as_deref())
    }

    /// Makes a request once.
    pub async fn ask(&self, method: &str, params: &str) -> Answer {
        self.post(method, params).send(self.client.port).await
    }

    /// Calls a tool once, with arguments given as text; `retry` is what it brings, as
    /// [`Talk::retry`] has it.
    pub async fn call(&self, tool: &str, arguments: &str, retry: &str) -> Talk {
        let params = format!("{}{retry}", call(tool, arguments));
        Talk::of(&self.ask("tools/call", &params).await)
    }

    /// Makes a request and answers what is asked, to its end.
    ///
    /// # Panics
    ///
    /// When it is to answer with an error, which it cannot.
    pub async fn converse(
        &self,
        method: &str,
        params: &str,
        mut say: impl FnMut(&Question) -> Saying,
    ) -> Talk {
        let mut whole = Talk::default();
        let mut retry = String::new();
        loop {
            let round = Talk::of(&self.ask(method, &format!("{params}{retry}")).await);
            whole.notes.extend(round.notes.clone());
            whole.questions.extend(round.questions.clone());
            if !round.needs_more() {
                whole.answer = round.answer;
                return whole;
            }
            let answers = round.questions.iter().filter_map(|question| match say(question) {
                Saying::Result(text) => Some((question.key.clone(), text)),
                Saying::Nothing => None,
                Saying::Error(text) => panic!("a stateless client cannot answer with {text}"),
            });
            retry = round.retry(&answers.collect::<Vec<_>>());
        }
    }
}

impl Talk {
    /// What one answer of HTTP holds.
    pub fn of(answer: &Answer) -> Self {
        let mut talk = Self::default();
        let streamed = answer.head.header("content-type") == Some("text/event-stream");
        let texts = match streamed {
            true => answer.events().into_iter().map(|event| event.data).collect(),
            false => vec![answer.text()],
        };
        for text in texts {
            assert!(
                talk.take(text).is_none(),
                "a stateless client is sent no requests"
            );
        }
        if talk.needs_more() {
            talk.questions = talk.asked();
        }
        talk
    }

    /// The answer as a value.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn message(&self) -> Value {
        serde_json::from_str(&self.answer).unwrap_or_else(|_| panic!("no answer in {self:?}"))
    }

    /// The text of the result of a call.
    ///
    /// # Panics
    ///
    /// When it has none.
    pub fn text(&self) -> String {
        let message = self.message();
        let text = message["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text in {message}")).to_owned()
    }

    /// The code of the error that was answered.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn code(&self) -> i64 {
        let message = self.message();
        let code = message["error"]["code"].as_i64();
        code.unwrap_or_else(|| panic!("no error in {message}"))
    }

    /// Whether the answer says that more is needed.
    pub fn needs_more(&self) -> bool {
        let result = raw::try_member(&self.answer, &["result"]);
        let kind = result.and_then(|result| raw::try_member(&result, &["resultType"]));
        kind.as_deref() == Some(r#""input_required""#)
    }

    /// The state that the answer gives, as JSON text.
    pub fn state(&self) -> Option<String> {
        raw::try_member(&self.answer, &["result", "requestState"])
    }

    /// The members with which the request is sent again: these answers, and the state.
    pub fn retry(&self, answers: &[(String, String)]) -> String {
        let entries: Vec<_> = answers
            .iter()
            .map(|(key, text)| format!("{}:{text}", json!(key)))
            .collect();
        let responses = match self.questions.is_empty() {
            true => String::new(),
            false => format!(r#","inputResponses":{{{}}}"#, entries.join(",")),
        };
        let state = self.state().map(|state| format!(r#","requestState":{state}"#));
        format!("{responses}{}", state.unwrap_or_default())
    }

    /// Takes a message that came; gives it back if it is a question.
    fn take(&mut self, text: String) -> Option<Question> {
        if text.is_empty() {
            return None; // Only there to keep the stream alive.
        }
        let (method, id) = (
            raw::try_member(&text, &["method"]),
            raw::try_member(&text, &["id"]),
        );
        let method =
            method.map(|method| serde_json::from_str::<String>(&method).expect("a method is a text"));
        match (method, id) {
            (Some(method), None) => {
                assert!(method.starts_with("notifications/"), "{text}");
                self.notes
                    .push(serde_json::from_str(&text).expect("a notice has plain numbers"));
            }
            (Some(method), Some(key)) => {
                let params = raw::try_member(&text, &["params"]).unwrap_or_default();
                return Some(Question { key, method, params });
            }
            (None, _) => {
                assert!(self.answer.is_empty(), "a second answer: {text}");
                self.answer = text;
            }
        }
        None
    }

    /// The questions of an answer.
    fn asked(&self) -> Vec<Question> {
        let requests =
            raw::try_member(&self.answer, &["result", "inputRequests"]).unwrap_or_else(|| "{}".into());
        raw::members(&requests)
            .into_iter()
            .map(|(key, text)| Question {
                key,
                method: serde_json::from_str(&raw::member(&text, &["method"])).expect("a method is a text"),
                params: raw::try_member(&text, &["params"]).unwrap_or_default(),
            })
            .collect()
    }
}

/// The inside of the parameters of a call.
pub fn call(tool: &str, arguments: &str) -> String {
    format!(r#""name":{},"arguments":{arguments}"#, json!(tool))
}
