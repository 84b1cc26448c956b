//! JSON-RPC messages.

use serde_json::{Map, Value, json};

use crate::fault::Fault;

/// A message of the client.
pub(crate) enum Message {
    Request(Request),
    Notification(Notification),
    Response(Response),
}

/// A request; `params` is empty where the client sent none.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// A notification.
pub(crate) struct Notification {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// An answer to a request of this server.
pub(crate) struct Response {
    pub(crate) id: Value,
    /// The result, or the error object.
    pub(crate) outcome: Result<Value, Value>,
}

impl Message {
    /// Reads the text of one message.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Fault> {
        let value: Value = serde_json::from_slice(text).map_err(|error| Fault::parse(&error.to_string()))?;
        let Value::Object(mut object) = value else {
            return Err(Fault::invalid_request("a message is one JSON object"));
        };
        if object.get("jsonrpc") != Some(&json!("2.0")) {
            return Err(Fault::invalid_request("`jsonrpc` must be \"2.0\""));
        }
        match (object.remove("method"), object.remove("id")) {
            (Some(Value::String(method)), id) => Self::asked(method, id, object.remove("params")),
            (None, Some(id)) => Self::answered(id, object),
            _ => Err(Fault::invalid_request("neither a request nor an answer")),
        }
    }

    fn asked(method: String, id: Option<Value>, params: Option<Value>) -> Result<Self, Fault> {
        let params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(Fault::invalid_request("`params` must be an object")),
        };
        match id {
            None => Ok(Self::Notification(Notification { method, params })),
            Some(id) if id.is_string() || id.is_i64() || id.is_u64() => {
                Ok(Self::Request(Request { id, method, params }))
            }
            Some(_) => Err(Fault::invalid_request("`id` must be a string or an integer")),
        }
    }

    fn answered(id: Value, mut object: Map<String, Value>) -> Result<Self, Fault> {
        let outcome = match (object.remove("result"), object.remove("error")) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(error),
            _ => return Err(Fault::invalid_request("an answer has a result or an error")),
        };
        Ok(Self::Response(Response { id, outcome }))
    }
}

impl Request {
    /// The member of `params._meta`.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }

    /// The text in a member of `params`, which must be there.
    pub(crate) fn text(&self, key: &str) -> Result<&str, Fault> {
        let text = self.params.get(key).and_then(Value::as_str);
        text.ok_or_else(|| Fault::invalid_params(&format!("`{key}` must be a string")))
    }

    /// The message that answers it.
    pub(crate) fn answered(&self, outcome: Result<Value, Fault>) -> Value {
        match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": self.id, "result": result }),
            Err(fault) => fault.message(Some(&self.id)),
        }
    }
}

/// A notification of this server.
pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// A request of this server.
pub(crate) fn request(id: &str, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
