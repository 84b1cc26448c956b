//! Requests that take several rounds (2026-07-28): what the server still needs, and the retry.

use bytes::Bytes;
use mcpr_protocol::{Edit, Mark, Object, RawJson, Rope};

use crate::answer::Malformed;
use crate::question::Question;

/// The member with the answers.
pub const INPUT_RESPONSES: &str = "inputResponses";
/// The member that brings a server its own words back.
pub const REQUEST_STATE: &str = "requestState";

const INPUT_REQUESTS: &str = "inputRequests";
const INPUT_REQUIRED: &str = "input_required";

/// A result that says the server needs more before it can answer.
#[derive(Clone, Debug)]
pub struct InputRequired {
    /// What it needs, under its own keys; nothing means "try again".
    pub requests: Vec<(String, Question)>,
    /// What it wants back, byte for byte.
    pub state: Option<RawJson>,
}

/// What a stateless client brings when it tries again.
#[derive(Clone, Debug)]
pub struct Retry {
    /// The answers, under the keys of the questions.
    pub responses: Vec<(String, RawJson)>,
    /// The state that it was given.
    pub state: Option<String>,
}

impl InputRequired {
    /// What a task of the extension asks for (2026-07-28, tasks); `None` for nothing that can be read.
    pub fn of_task(task: &Object) -> Option<Self> {
        let requests = questions(&task.get(INPUT_REQUESTS)?).ok()?;
        Some(Self {
            requests,
            state: None,
        })
    }

    /// Reads a result; `None` where it is an answer.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where it says that it needs more, but not what.
    pub fn read(result: &RawJson) -> Result<Option<Self>, Malformed> {
        if !result.may_hold(Mark::InputRequired) {
            return Ok(None);
        }
        let Ok(object) = Object::read(result) else {
            return Ok(None);
        };
        if object.text("resultType").as_deref() != Some(INPUT_REQUIRED) {
            return Ok(None);
        }
        let requests = object.get(INPUT_REQUESTS).filter(|value| !value.is_null());
        let state = object.get(REQUEST_STATE).filter(|value| !value.is_null());
        if requests.is_none() && state.is_none() {
            return Err(Malformed(
                "`input_required` needs `inputRequests` or `requestState`",
            ));
        }
        if state.as_ref().is_some_and(|state| !state.is_string()) {
            return Err(Malformed("`requestState` must be a string"));
        }
        let requests = requests.map_or(Ok(Vec::new()), |requests| questions(&requests))?;
        Ok(Some(Self { requests, state }))
    }

    /// The text of such a result: the entries under their keys, and the state to bring back.
    pub fn render<'a>(requests: impl IntoIterator<Item = (&'a str, Rope)>, state: &str) -> Rope {
        let mut text = Rope::from(Bytes::from_static(b"{\"resultType\":\"input_required\""));
        text.push_static(",\"inputRequests\":");
        text.append(object_of(requests));
        text.push_static(",\"requestState\":");
        text.append(RawJson::string(state).into());
        text.push_static("}");
        text
    }
}

impl Retry {
    /// Reads the parameters of a stateless client's request; `None` where it is its first try.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where the answers are no map, or the state no string.
    pub fn read(params: &Object) -> Result<Option<Self>, Malformed> {
        let there = |member| params.get(member).filter(|value| !value.is_null());
        let (responses, state) = (there(INPUT_RESPONSES), there(REQUEST_STATE));
        if responses.is_none() && state.is_none() {
            return Ok(None);
        }
        let wrong = Malformed("`requestState` must be a string");
        let state = state.map(|state| state.to_text().ok_or(wrong)).transpose()?;
        let responses = responses.map_or(Ok(Vec::new()), |responses| entries(&responses, INPUT_RESPONSES))?;
        Ok(Some(Self { responses, state }))
    }

    /// The answer under a key.
    pub fn response(&self, key: &str) -> Option<&RawJson> {
        let found = self.responses.iter().find(|(name, _)| name == key);
        found.map(|(_, response)| response)
    }
}

/// The text of `inputResponses`.
pub fn input_responses<'a>(responses: impl IntoIterator<Item = (&'a str, Rope)>) -> Rope {
    object_of(responses)
}

/// The object with one member replaced by a string of ours, every other byte as it was: a
/// `requestState` or a `taskId` under the name that the client knows it by.
pub fn with_text(raw: &RawJson, member: &str, text: &str) -> Rope {
    match Object::read(raw) {
        Ok(object) => Edit::new(&object).set(member, RawJson::string(text)).finish(),
        Err(_) => raw.clone().into(),
    }
}

fn questions(requests: &RawJson) -> Result<Vec<(String, Question)>, Malformed> {
    let wrong =
        Malformed("an entry of `inputRequests` must have a `method`, and `params` that are an object");
    let entries = entries(requests, INPUT_REQUESTS)?;
    let read = |(key, entry)| Some((key, Question::read(&entry)?));
    entries
        .into_iter()
        .map(|entry| read(entry).ok_or(wrong))
        .collect()
}

fn entries(map: &RawJson, what: &'static str) -> Result<Vec<(String, RawJson)>, Malformed> {
    let wrong = match what {
        INPUT_REQUESTS => "`inputRequests` must be an object, each key there once",
        _ => "`inputResponses` must be an object, each key there once",
    };
    let object = Object::read(map).map_err(|_| Malformed(wrong))?;
    let entries = object.members();
    Ok(entries.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// An object of ropes, in their order.
fn object_of<'a>(members: impl IntoIterator<Item = (&'a str, Rope)>) -> Rope {
    let mut text = Rope::from(Bytes::from_static(b"{"));
    for (index, (name, value)) in members.into_iter().enumerate() {
        text.push_static(if index == 0 { "" } else { "," });
        text.append(RawJson::string(name).into());
        text.push_static(":");
        text.append(value);
    }
    text.push_static("}");
    text
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::Method;

    use super::*;

    fn read(text: &'static str) -> Result<Option<InputRequired>, Malformed> {
        InputRequired::read(&RawJson::from_static(text))
    }

    fn retry(text: &'static str) -> Result<Option<Retry>, Malformed> {
        Retry::read(&Object::read(&RawJson::from_static(text)).unwrap())
    }

    fn text_of(rope: Rope) -> String {
        String::from_utf8(rope.into_bytes().to_vec()).unwrap()
    }

    #[test]
    fn an_answer_is_not_a_question() {
        for text in [
            r#"{"content":[]}"#,
            r#"{"content":[{"type":"text","text":"input_required"}],"resultType":"complete"}"#,
            r#""input_required""#,
        ] {
            assert!(read(text).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_needed_keeps_its_keys_and_the_state_its_bytes() {
        let needed = read(
            r#"{"resultType":"input_required","inputRequests":{"b":{"method":"roots/list"},"a":{"method":"elicitation/create","params":{"message":"m"}}},"requestState":"s\u0065"}"#,
        );
        let needed = needed.unwrap().unwrap();
        let keys: Vec<&str> = needed.requests.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(needed.requests[1].1.method, Method::Elicit);
        assert_eq!(needed.state.unwrap().as_str(), r#""s\u0065""#);
    }

    #[test]
    fn who_needs_more_has_to_say_what() {
        let fault = |text| read(text).unwrap_err().to_string();
        assert!(fault(r#"{"resultType":"input_required"}"#).contains("or `requestState`"));
        assert!(fault(r#"{"resultType":"input_required","inputRequests":[]}"#).contains("must be an object"));
        assert!(
            fault(r#"{"resultType":"input_required","inputRequests":{"a":{}}}"#).contains("have a `method`")
        );
        assert!(fault(r#"{"resultType":"input_required","requestState":5}"#).contains("must be a string"));
    }

    #[test]
    fn what_is_rendered_is_read_back() {
        let roots = Question {
            method: Method::RootsList,
            params: None,
        };
        let text = text_of(InputRequired::render([("r1-1", roots.for_input())], "sealed"));
        assert_eq!(
            text,
            r#"{"resultType":"input_required","inputRequests":{"r1-1":{"method":"roots/list"}},"requestState":"sealed"}"#
        );
        let read = InputRequired::read(&RawJson::trusted(text)).unwrap().unwrap();
        assert_eq!(read.requests[0].1.method, Method::RootsList);
    }

    #[test]
    fn a_retry_brings_answers_and_the_state() {
        assert!(retry(r#"{"name":"x","inputResponses":null}"#).unwrap().is_none());
        let brought = retry(r#"{"inputResponses":{"a":{"x":1E400}},"requestState":"s"}"#);
        let brought = brought.unwrap().unwrap();
        assert_eq!(brought.response("a").unwrap().as_str(), r#"{"x":1E400}"#);
        assert!(brought.response("b").is_none());
        assert_eq!(brought.state.as_deref(), Some("s"));
        assert!(retry(r#"{"inputResponses":[]}"#).is_err());
        assert!(retry(r#"{"requestState":5}"#).is_err());
        assert!(retry(r#"{"inputResponses":{"a":{},"a":{}}}"#).is_err());
    }

    #[test]
    fn a_passing_result_keeps_every_other_byte() {
        let result = RawJson::from_static(r#"{ "requestState" : "theirs", "x":1E400 }"#);
        assert_eq!(
            text_of(with_text(&result, REQUEST_STATE, "ours")),
            r#"{ "requestState" : "ours", "x":1E400 }"#
        );
        let responses = input_responses([("a", RawJson::from_static("{}").into())]);
        assert_eq!(text_of(responses), r#"{"a":{}}"#);
    }
}
