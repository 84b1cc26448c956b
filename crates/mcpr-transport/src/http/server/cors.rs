//! What a browser needs to hear before a web page may read an answer.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::{Reply, Verb};

const EXPOSED: &str = "Mcp-Session-Id, MCP-Protocol-Version, Retry-After, WWW-Authenticate";

/// Two hours, the longest that browsers take.
const MAX_AGE: &str = "7200";

/// Whether a browser asks if it may send the request it has in mind.
pub(super) fn is_preflight(head: &Parts) -> bool {
    head.method == Method::OPTIONS
        && head.headers.contains_key(ORIGIN)
        && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to an allowed page. It needs no token, because a browser sends none with the
/// question; the headers it asks for are granted, because what `Mcp-Param-*` there are depends on tools.
pub(super) fn preflight(head: &Parts) -> Reply {
    let reply = Reply::empty(StatusCode::NO_CONTENT)
        .with(
            ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static(Verb::ALLOW),
        )
        .with(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    match head.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        Some(asked) => reply.with(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone()),
        None => reply,
    }
}

/// Lets the page of an allowed origin read the answer.
pub(super) fn open_to(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
