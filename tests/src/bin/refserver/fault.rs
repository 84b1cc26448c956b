//! Why a request is refused.

use serde_json::{Value, json};

/// The extension for tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A JSON-RPC error.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
    /// Whether the HTTP status tells it too, whatever the code.
    early: bool,
}

impl Fault {
    fn new(code: i64, message: &str) -> Self {
        Self {
            code,
            message: message.to_owned(),
            data: None,
            early: false,
        }
    }

    fn with(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }

    /// The same, decided before any method was looked at.
    pub(crate) fn early(self) -> Self {
        Self { early: true, ..self }
    }

    /// The text is not JSON.
    pub(crate) fn parse(why: &str) -> Self {
        Self::new(-32700, &format!("Parse error: {why}")).early()
    }

    /// The JSON is not a message.
    pub(crate) fn invalid_request(why: &str) -> Self {
        Self::new(-32600, &format!("Invalid request: {why}")).early()
    }

    /// There is no such method.
    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(-32601, &format!("Method not found: {method}"))
    }

    /// The parameters do not fit.
    pub(crate) fn invalid_params(why: &str) -> Self {
        Self::new(-32602, &format!("Invalid params: {why}"))
    }

    /// Something broke here.
    pub(crate) fn internal(why: &str) -> Self {
        Self::new(-32603, &format!("Internal error: {why}"))
    }

    /// There is no such resource, as the session era says it.
    pub(crate) fn no_resource(uri: &str) -> Self {
        Self::new(-32002, "Resource not found").with(json!({ "uri": uri }))
    }

    /// There is no such resource, as the stateless era says it.
    pub(crate) fn invalid_resource(uri: &str) -> Self {
        Self::new(-32602, "Resource not found").with(json!({ "uri": uri }))
    }

    /// A header does not say what the body says.
    pub(crate) fn header_mismatch(why: &str) -> Self {
        Self::new(-32020, &format!("Header mismatch: {why}"))
    }

    /// The client has not declared what this needs; `capabilities` is a part of ClientCapabilities.
    pub(crate) fn missing_capability(capabilities: &Value) -> Self {
        Self::new(-32021, "Missing required client capability")
            .with(json!({ "requiredCapabilities": capabilities }))
    }

    /// The client has not declared the extension for tasks.
    pub(crate) fn missing_tasks() -> Self {
        Self::missing_capability(&json!({ "extensions": { TASKS: {} } }))
    }

    /// The version is not spoken here.
    pub(crate) fn unsupported_version(requested: &Value, supported: &[&str]) -> Self {
        Self::new(-32022, "Unsupported protocol version")
            .with(json!({ "supported": supported, "requested": requested }))
    }

    /// The error object.
    pub(crate) fn error(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }

    /// The message, without an id where none could be read.
    pub(crate) fn message(&self, id: Option<&Value>) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "error": self.error() });
        if let Some(id) = id {
            message["id"] = id.clone();
        }
        message
    }

    /// The HTTP status in the stateless era.
    pub(crate) fn status(&self) -> u16 {
        match self.code {
            -32601 => 404,
            -32022..=-32020 | -32600 | -32700 => 400,
            _ if self.early => 400,
            _ => 200,
        }
    }

    /// What a person is told.
    pub(crate) fn text(&self) -> &str {
        &self.message
    }
}
