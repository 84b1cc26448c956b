//! Why the edge turns a request away, and how it says so.

use std::time::Duration;

use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use mcpr_protocol::{ErrorObject, RawJson, Rope, code};

use super::Reply;

/// A request that got no further than the edge. `Display` says what to do about it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// 403: the `Host` header names somebody else, or nobody (protection against DNS rebinding).
    #[error(
        "the Host header is `{0}`, which is not a name of this gateway: use 127.0.0.1 or localhost, \
         or add the name to the setting `mcpr.allowedHosts`"
    )]
    Host(String),
    /// 403: the `Origin` header names a web page that may not call.
    #[error(
        "the Origin header is `{0}`, which may not call this gateway: add it to the setting \
         `mcpr.allowedOrigins` if that web page is yours"
    )]
    Origin(String),
    /// 404: there is nothing at that path.
    #[error("there is nothing here: the MCP endpoint is `{endpoint}`")]
    NotFound {
        /// The path where MCP is served.
        endpoint: String,
    },
    /// 405: the path exists, but not for that method.
    #[error("this path takes {allow} only")]
    Method {
        /// What an `Allow` header lists.
        allow: &'static str,
    },
    /// 406: the client takes no answer that there can be.
    #[error("the Accept header leaves no possible answer: it must name one of {wanted}")]
    NotAcceptable {
        /// What the answer can be.
        wanted: &'static str,
    },
    /// 415: the body is said to be no JSON.
    #[error("the Content-Type header must be application/json, not {}", .0.as_deref().unwrap_or("absent"))]
    MediaType(Option<String>),
    /// 415: the body is said to be compressed.
    #[error("the body has the Content-Encoding `{0}`: send it as it is")]
    Encoded(String),
    /// 413: the body is larger than allowed.
    #[error(
        "the body is larger than {limit} bytes: send less, or raise the setting `mcpr.limits.requestBody`"
    )]
    TooLarge {
        /// The largest body that is taken, in bytes.
        limit: usize,
    },
    /// 408: the body did not come in time.
    #[error(
        "the body comes too slowly: it may take {limit:?}, and a second more for each 16 KiB; send the request again"
    )]
    TooSlow {
        /// How long a body may take whatever its size.
        limit: Duration,
    },
    /// 400: the body ended before its end.
    #[error("the body is broken off or wrongly framed: send the request again")]
    Broken,
    /// 400: what came is no request of HTTP/1.1, or could be read as more than one (RFC 9112).
    #[error(
        "this is no request of HTTP/1.1: {0}; the connection is closed, send the next one as RFC 9112 has it"
    )]
    Malformed(&'static str),
    /// 431: the head of the request is larger than allowed.
    #[error(
        "the head of the request is larger than {limit} bytes or has more than {fields} fields: send less"
    )]
    LongHead {
        /// The largest head that is taken, in bytes.
        limit: usize,
        /// The most header fields that are taken.
        fields: usize,
    },
    /// 501: the body is compressed on its way, by a `Transfer-Encoding` beside `chunked`.
    #[error("the body has a Transfer-Encoding beside `chunked`: send it as it is")]
    Coding,
    /// 505: the request is of another version of HTTP.
    #[error("this address speaks HTTP/1.1 and HTTP/1.0: use one of them")]
    Version,
    /// 400: the request came without TLS to an address that speaks it.
    #[error("this address speaks https: call it with https:// in place of http://")]
    Plain,
    /// 503: there are as many connections as allowed.
    #[error(
        "the gateway has {limit} connections already: close some, try again, or raise the setting \
         `mcpr.limits.connections`"
    )]
    Full {
        /// How many connections are served at a time.
        limit: usize,
    },
    /// 500: the gateway made a mistake. The details are in its log only.
    #[error("the gateway made a mistake; its log has the details under request id {request_id}")]
    Fault {
        /// Names the entry in the log.
        request_id: String,
    },
}

impl Refusal {
    /// The status that goes with it.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
            Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::Method { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable { .. } => StatusCode::NOT_ACCEPTABLE,
            Self::MediaType(_) | Self::Encoded(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::Broken | Self::Plain | Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::LongHead { .. } => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Coding => StatusCode::NOT_IMPLEMENTED,
            Self::Version => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            Self::Full { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Fault { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The usual wording: a JSON-RPC error without an id, or a short JSON object where the path is
    /// not one of ours.
    pub fn reply(&self) -> Reply {
        let body = match self {
            Self::NotFound { .. } => self.short_body(),
            Self::Fault { request_id } => self.fault_body(request_id),
            _ => rpc_error(&ErrorObject::new(code::INVALID_REQUEST, self.to_string())),
        };
        let reply = Reply::json(self.status(), body);
        match self {
            Self::Method { allow } => reply.with(ALLOW, HeaderValue::from_static(allow)),
            Self::Full { .. } => reply.with(RETRY_AFTER, HeaderValue::from_static("1")),
            _ => reply,
        }
    }

    /// What of a header is repeated to its sender: enough to recognise it.
    pub(super) fn shown(text: &str) -> String {
        text.chars().take(100).collect()
    }

    fn short_body(&self) -> Rope {
        let mut body = Rope::new();
        body.push_static(r#"{"error":"not_found","message":"#);
        body.push(RawJson::string(&self.to_string()).into_bytes());
        body.push_static("}");
        body
    }

    fn fault_body(&self, request_id: &str) -> Rope {
        let data = [
            ("reason", "internal"),
            ("retry", "unsafe"),
            ("requestId", request_id),
        ];
        let data = std::collections::BTreeMap::from(data);
        rpc_error(&ErrorObject::new(code::INTERNAL, self.to_string()).with(&data))
    }
}

fn rpc_error(error: &ErrorObject) -> Rope {
    let mut body = Rope::new();
    body.push_static(r#"{"jsonrpc":"2.0","id":null,"error":"#);
    body.push(error.render().into_bytes());
    body.push_static("}");
    body
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;

    fn body(refusal: &Refusal) -> serde_json::Value {
        let Content::Json(rope) = refusal.reply().content else {
            panic!("no JSON for {refusal:?}");
        };
        serde_json::from_slice(&rope.into_bytes()).unwrap()
    }

    #[test]
    fn a_refusal_is_a_json_rpc_error_that_names_the_setting() {
        let body = body(&Refusal::Host("evil\".example".into()));
        assert_eq!(body["id"], serde_json::Value::Null);
        assert_eq!(body["error"]["code"], -32600);
        let message = body["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("evil\".example") && message.contains("mcpr.allowedHosts"),
            "{message}"
        );
    }

    #[test]
    fn http_04_a_fault_tells_its_request_id_and_nothing_else() {
        let body = body(&Refusal::Fault {
            request_id: "00ff".into(),
        });
        assert_eq!(body["error"]["code"], -32603);
        assert_eq!(body["error"]["data"]["requestId"], "00ff");
        assert_eq!(body["error"]["data"]["retry"], "unsafe");
    }

    #[test]
    fn a_path_that_is_not_ours_gets_a_short_answer() {
        let body = body(&Refusal::NotFound {
            endpoint: "/mcp".into(),
        });
        assert_eq!(body["error"], "not_found");
    }
}
