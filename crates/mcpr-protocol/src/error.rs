//! JSON-RPC errors.

use serde::{Deserialize, Serialize};

use crate::RawJson;

/// Codes of JSON-RPC 2.0 and of MCP.
pub mod code {
    /// The text is not JSON.
    pub const PARSE: i64 = -32700;
    /// The JSON is not a message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method, or a capability that is not offered.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Unknown name, wrong argument; since 2026-07-28 also: no such resource.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Anything else that went wrong.
    pub const INTERNAL: i64 = -32603;
    /// No such resource (session era).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user must visit a URL first (2025-11-25 only).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// A header disagrees with the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the request needs (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The request is written in a version the server does not speak (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// The `error` member of a response.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorObject {
    /// What kind of error, see [`code`].
    pub code: i64,
    /// One sentence for people.
    #[serde(default)]
    pub message: String,
    /// More for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same error with data.
    pub fn with(self, data: &impl Serialize) -> Self {
        Self {
            data: Some(RawJson::render(data)),
            ..self
        }
    }

    /// The JSON text.
    pub fn render(&self) -> RawJson {
        RawJson::render(self)
    }
}
