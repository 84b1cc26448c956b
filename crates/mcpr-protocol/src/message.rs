//! The envelope of JSON-RPC 2.0.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::walk::{Unexpected, Walk, depth};
use crate::word::Marks;
use crate::{Id, Method, RawJson, Rope, code};

/// One message; its payloads are slices of the buffer it was parsed from.
#[derive(Clone, Debug)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Is one.
    Response(Response),
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The sender's id for it.
    pub id: Id,
    /// What it asks for.
    pub method: Method,
    /// With what: always an object.
    pub params: Option<RawJson>,
}

/// A notification.
#[derive(Clone, Debug)]
pub struct Notification {
    /// What happened, see [`crate::notification`].
    pub method: Box<str>,
    /// More about it: always an object.
    pub params: Option<RawJson>,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// The id of the request; missing only on an error about a request whose id could not be read.
    pub id: Option<Id>,
    /// The result, or the error object; both as the sender wrote them.
    pub outcome: Result<RawJson, RawJson>,
}

/// The bytes are no message.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{fault}")]
pub struct Broken {
    /// What is wrong.
    pub fault: Fault,
    /// The id, where it could still be read.
    pub id: Option<Id>,
}

/// What is wrong with a message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// No JSON.
    #[error("not valid JSON: {0}")]
    NotJson(String),
    /// A JSON array.
    #[error("batches are not supported by this protocol version; send one message at a time")]
    Batch,
    /// A batch without a message.
    #[error("a batch must hold at least one message")]
    EmptyBatch,
    /// A batch with too many messages.
    #[error("a batch may hold at most {most} messages: send the rest in another one")]
    LargeBatch {
        /// How many it may hold.
        most: usize,
    },
    /// JSON, but no JSON-RPC 2.0 message.
    #[error("not a JSON-RPC 2.0 message: {0}")]
    NotAMessage(&'static str),
    /// A member is there twice.
    #[error("not a JSON-RPC 2.0 message: {0}")]
    Twice(String),
    /// Objects and arrays within each other.
    #[error("the message is nested more than {most} levels deep")]
    TooDeep {
        /// How deep it may be.
        most: usize,
    },
}

impl Fault {
    /// The JSON-RPC code that says so.
    pub fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => code::PARSE,
            _ => code::INVALID_REQUEST,
        }
    }
}

/// All members that any message has, as they stand in its text.
#[derive(Default)]
struct Flat<'a> {
    jsonrpc: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    /// How deep the message is nested.
    depth: usize,
    marks: Option<Marks>,
}

/// The same as serde_json reads them. One flat struct, because raw values do not survive serde's
/// untagged and flattened enums.
#[derive(Deserialize)]
struct Spelled<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps an explicit `null` apart from an absent member.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Message {
    /// Parses one message.
    ///
    /// # Errors
    ///
    /// [`Broken`] with the JSON-RPC code to answer with, and the id where there was one.
    pub fn parse(text: &Bytes) -> Result<Self, Broken> {
        Self::parse_within(text, usize::MAX)
    }

    /// Parses one message that must not be nested more than `most` levels deep: what comes after may
    /// not be made for more.
    ///
    /// # Errors
    ///
    /// As [`Message::parse`].
    pub fn parse_within(text: &Bytes, most: usize) -> Result<Self, Broken> {
        let flat = Flat::parse(text).map_err(|fault| Broken { fault, id: None })?;
        let id = flat.id(text);
        let known = id.clone().ok().flatten();
        let message = flat.classify(text, id);
        let message = message.map_err(|fault| Broken { fault, id: known })?;
        if flat.depth <= most {
            return Ok(message);
        }
        let id = match message {
            Self::Request(request) => Some(request.id),
            Self::Response(_) | Self::Notification(_) => None,
        };
        let fault = Fault::TooDeep { most };
        Err(Broken { fault, id })
    }

    /// The text of this message.
    pub fn to_rope(&self) -> Rope {
        match self {
            Self::Request(request) => {
                Request::text(&request.id, request.method.as_str(), request.params_rope())
            }
            Self::Notification(notification) => notification.to_rope(),
            Self::Response(response) => response.to_rope(),
        }
    }
}

impl<'a> Flat<'a> {
    fn parse(text: &'a Bytes) -> Result<Self, Fault> {
        Self::walk(text).or_else(|Unexpected| Self::spell(text))
    }

    fn walk(text: &'a [u8]) -> Result<Self, Unexpected> {
        let mut flat = Self::default();
        let seen = Walk::object(text, |name, place| {
            let member = match name {
                br#""jsonrpc""# => &mut flat.jsonrpc,
                br#""id""# => &mut flat.id,
                br#""method""# => &mut flat.method,
                br#""params""# => &mut flat.params,
                br#""result""# => &mut flat.result,
                br#""error""# => &mut flat.error,
                // A name with escapes may be one of these.
                other => return (!other.contains(&b'\\')).then_some(()).ok_or(Unexpected),
            };
            let twice = member.replace(&text[place]).is_some();
            (!twice).then_some(()).ok_or(Unexpected)
        })?;
        Ok(Self {
            depth: seen.depth,
            marks: Some(seen.marks),
            ..flat
        })
    }

    fn spell(text: &'a Bytes) -> Result<Self, Fault> {
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'[') {
            return Err(if_json(text, Fault::Batch)); // Serde would take its elements for the members, in order.
        }
        // Serde would pass over bytes that are no text in members that it does not know.
        let json = std::str::from_utf8(text).map_err(|error| Fault::NotJson(error.to_string()))?;
        let spelled: Spelled<'_> =
            serde_json::from_str(json).map_err(|error| match (error.classify(), first) {
                (serde_json::error::Category::Data, Some(b'{')) => {
                    if_json(text, Fault::Twice(error.to_string()))
                }
                (serde_json::error::Category::Data, _) => {
                    if_json(text, Fault::NotAMessage("it must be an object"))
                }
                _ => Fault::NotJson(error.to_string()),
            })?;
        Ok(spelled.flat(depth(text)))
    }

    fn id(&self, text: &Bytes) -> Result<Option<Id>, Fault> {
        let Some(id) = self.id else { return Ok(None) };
        let id = Id::new(RawJson::part_of(text, id));
        id.map(Some)
            .ok_or(Fault::NotAMessage("`id` must be a string or an integer"))
    }

    fn classify(&self, text: &Bytes, id: Result<Option<Id>, Fault>) -> Result<Message, Fault> {
        if self.jsonrpc != Some(b"\"2.0\"") {
            return Err(Fault::NotAMessage("`jsonrpc` must be \"2.0\""));
        }
        match self.method {
            Some(_) if self.result.is_some() || self.error.is_some() => {
                Err(Fault::NotAMessage("it has both a `method` and an answer"))
            }
            Some(method) => self.call(text, id?, method),
            None => self.answer(text, id).map(Message::Response),
        }
    }

    fn call(&self, text: &Bytes, id: Option<Id>, method: &[u8]) -> Result<Message, Fault> {
        let method = string(method).ok_or(Fault::NotAMessage("`method` must be a string"))?;
        let params = self
            .params
            .map(|params| RawJson::part_of(text, params))
            .filter(|params| !params.is_null());
        if params.as_ref().is_some_and(|params| !params.is_object()) {
            return Err(Fault::NotAMessage("`params` must be an object"));
        }
        Ok(match id {
            Some(id) => Message::Request(Request {
                id,
                method: method.into(),
                params,
            }),
            None => Message::Notification(Notification {
                method: method.into(),
                params,
            }),
        })
    }

    fn answer(&self, text: &Bytes, id: Result<Option<Id>, Fault>) -> Result<Response, Fault> {
        let error = self.error.filter(|error| *error != b"null");
        // Libraries that write all members leave the one that does not count `null`.
        let result = self.result.filter(|result| *result != b"null" || error.is_none());
        let outcome = match (result, error) {
            (Some(result), None) => Ok(RawJson::part_of(text, result).marked(self.marks)),
            (None, Some(error)) => Err(RawJson::part_of(text, error)),
            (None, None) => return Err(Fault::NotAMessage("it has neither a `method` nor an answer")),
            (Some(_), Some(_)) => return Err(Fault::NotAMessage("it has both a `result` and an `error`")),
        };
        let nameless = self.id == Some(b"null") && outcome.is_err();
        let id = if nameless { None } else { id? };
        if id.is_none() && outcome.is_ok() {
            return Err(Fault::NotAMessage("a `result` needs the `id` of its request"));
        }
        Ok(Response { id, outcome })
    }
}

/// What is wrong with a text if it is JSON at all: serde tells of what it finds first.
fn if_json(text: &Bytes, fault: Fault) -> Fault {
    RawJson::parse(text.clone()).map_or_else(|error| Fault::NotJson(error.to_string()), |_| fault)
}

impl<'a> Spelled<'a> {
    fn flat(&self, depth: usize) -> Flat<'a> {
        let text = |raw: Option<&'a RawValue>| raw.map(|raw| raw.get().as_bytes());
        Flat {
            jsonrpc: text(self.jsonrpc),
            id: text(self.id),
            method: text(self.method),
            params: text(self.params),
            result: text(self.result),
            error: text(self.error),
            depth,
            marks: None,
        }
    }
}

fn string(raw: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(raw).ok()?;
    let plain = text.strip_prefix('"')?.strip_suffix('"')?;
    if plain.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(plain))
    }
}

impl Request {
    /// The text of a request.
    pub fn text(id: &Id, method: &str, params: Rope) -> Rope {
        let mut text = Rope::new();
        text.push_static("{\"jsonrpc\":\"2.0\",\"id\":");
        text.push_text(id.raw().as_bytes());
        text.push_static(",\"method\":");
        text.push_string(method);
        with_params(text, params)
    }

    /// The params as a rope.
    pub fn params_rope(&self) -> Rope {
        self.params.clone().map(Rope::from).unwrap_or_default()
    }
}

impl Notification {
    /// A notification of our own.
    pub fn new(method: &str, params: Option<RawJson>) -> Self {
        Self {
            method: method.into(),
            params,
        }
    }

    /// The text of a notification.
    pub fn text(method: &str, params: Rope) -> Rope {
        let mut text = Rope::new();
        text.push_static("{\"jsonrpc\":\"2.0\",\"method\":");
        text.push_string(method);
        with_params(text, params)
    }

    /// The text of this notification.
    pub fn to_rope(&self) -> Rope {
        Self::text(
            &self.method,
            self.params.clone().map(Rope::from).unwrap_or_default(),
        )
    }
}

fn with_params(mut text: Rope, params: Rope) -> Rope {
    if !params.is_empty() {
        text.push_static(",\"params\":");
        text.append(params);
    }
    text.push_static("}");
    text
}

impl Response {
    /// The text of an answer; without an id only where `missing_id` says how the version writes that.
    pub fn text(id: Option<&Id>, outcome: Result<Rope, Rope>) -> Rope {
        let mut text = Rope::new();
        text.push_static("{\"jsonrpc\":\"2.0\",\"id\":");
        text.push_text(id.map_or(&b"null"[..], |id| id.raw().as_bytes()));
        let (member, value) = match outcome {
            Ok(result) => (",\"result\":", result),
            Err(error) => (",\"error\":", error),
        };
        text.push_static(member);
        text.append(value);
        text.push_static("}");
        text
    }

    /// The text of this answer.
    pub fn to_rope(&self) -> Rope {
        Self::text(
            self.id.as_ref(),
            self.outcome.clone().map(Rope::from).map_err(Rope::from),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Message, Broken> {
        Message::parse(&Bytes::copy_from_slice(text.as_bytes()))
    }

    fn refusal(text: &str) -> (i64, Option<String>) {
        let broken = parse(text).unwrap_err();
        (broken.fault.code(), broken.id.map(|id| id.to_string()))
    }

    #[test]
    fn b45_an_explicit_null_result_is_a_result() {
        let Ok(Message::Response(response)) = parse(r#"{"jsonrpc":"2.0","id":1,"result":null}"#) else {
            panic!()
        };
        assert_eq!(response.outcome.unwrap().as_str(), "null");
    }

    #[test]
    fn b90_of_a_result_and_an_error_the_one_that_is_null_does_not_count() {
        let outcome = |text: &str| match parse(text).unwrap() {
            Message::Response(response) => response.outcome,
            other => panic!("{other:?}"),
        };
        let error = outcome(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#);
        assert_eq!(error.unwrap_err().as_str(), r#"{"code":1,"message":"m"}"#);
        let result = outcome(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#);
        assert_eq!(result.unwrap().as_str(), "{}");
        assert!(parse(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}"#).is_err());
    }

    #[test]
    fn payloads_are_slices_of_the_buffer() {
        let text =
            Bytes::from_static(br#"{"params":{"a": 1E400},"id":"x","method":"tools\/call","jsonrpc":"2.0"}"#);
        let Ok(Message::Request(request)) = Message::parse(&text) else {
            panic!()
        };
        assert_eq!(request.method, Method::ToolsCall);
        let params = request.params.unwrap();
        assert_eq!(params.as_str(), r#"{"a": 1E400}"#);
        assert!(text.as_ptr_range().contains(&params.as_bytes().as_ptr()));
    }

    #[test]
    fn bad_messages_get_their_code_and_their_id_back() {
        assert_eq!(refusal("{"), (-32700, None));
        assert_eq!(refusal("[1"), (-32700, None));
        assert_eq!(refusal("\u{feff}{}"), (-32700, None));
        assert_eq!(refusal("[]"), (-32600, None));
        assert_eq!(refusal("7"), (-32600, None));
        assert_eq!(refusal("{}"), (-32600, None));
        assert_eq!(
            refusal(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#),
            (-32600, Some("7".into()))
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":5}"#),
            (-32600, Some("7".into()))
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":[]}"#),
            (-32600, Some("7".into()))
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":"x","result":1}"#),
            (-32600, Some("7".into()))
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":"x","method":"y"}"#),
            (-32600, None)
        );
        assert_eq!(refusal(r#"{"id":1,"id":2,"method"}"#), (-32700, None));
        assert_eq!(refusal("7 7"), (-32700, None));
        let unknown =
            Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}");
        assert_eq!(Message::parse(&unknown).unwrap_err().fault.code(), -32700);
    }

    #[test]
    fn b107_a_null_id_is_no_notification() {
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#),
            (-32600, None)
        );
    }

    #[test]
    fn an_error_may_lack_the_id_of_what_it_could_not_read() {
        for text in [
            r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
            r#"{"jsonrpc":"2.0","error":{}}"#,
        ] {
            let Ok(Message::Response(response)) = parse(text) else {
                panic!()
            };
            assert!(response.id.is_none() && response.outcome.is_err());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Message::parse(&Bytes::from(bytes));
        }

        #[test]
        fn what_is_written_is_read_back(id in any::<i64>(), name in "\\PC{0,12}", text in "\\PC{0,12}") {
            let params = RawJson::render(&serde_json::json!({ "t": text }));
            let id = Id::new(RawJson::trusted(id.to_string())).unwrap();
            let written = Request::text(&id, &name, params.clone().into()).into_bytes();
            let Ok(Message::Request(read)) = Message::parse(&written) else { panic!() };
            prop_assert_eq!(read.id, id);
            prop_assert_eq!(read.method, Method::new(&name));
            prop_assert_eq!(read.params.unwrap(), params);
        }
    }
}
