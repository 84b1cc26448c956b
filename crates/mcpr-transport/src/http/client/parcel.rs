//! A request as it is before it is sent, and sent again.

use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Uri};
use mcpr_protocol::Rope;

/// A request that can be sent more than once.
///
/// Its headers are a shared template, which the connection's state determines, and what is
/// special about this one.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    method: Method,
    to: Option<Uri>,
    template: Arc<HeaderMap>,
    extra: Vec<(HeaderName, HeaderValue)>,
    /// Of a post.
    body: Rope,
}

/// The room for a head that does for most, in bytes; a small body goes there too.
const ROOM: usize = 1024;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

impl Parcel {
    /// A message to be posted; the template must come from [`post_template`].
    pub(crate) fn post(template: Arc<HeaderMap>, body: Rope) -> Self {
        Self {
            body,
            ..Self::new(Method::POST, template)
        }
    }

    /// The wish for a stream of events.
    pub(crate) fn get(template: &HeaderMap) -> Self {
        Self::new(Method::GET, without_body(template, Some(EVENTS)))
    }

    /// The end of a session.
    pub(super) fn delete(template: &HeaderMap) -> Self {
        Self::new(Method::DELETE, without_body(template, None))
    }

    fn new(method: Method, template: Arc<HeaderMap>) -> Self {
        Self {
            method,
            to: None,
            template,
            extra: Vec::new(),
            body: Rope::new(),
        }
    }

    /// The same with one header more, or with another value for it.
    pub(super) fn add(&mut self, name: HeaderName, value: HeaderValue) {
        self.extra.push((name, value));
    }

    /// The same to another path of the same origin.
    pub(crate) fn to(self, path: Uri) -> Self {
        Self {
            to: Some(path),
            ..self
        }
    }

    /// Where it goes, if that is not for the connection to say.
    pub(super) fn path(&self) -> Option<&Uri> {
        self.to.as_ref()
    }

    pub(super) fn body(&self) -> &Rope {
        &self.body
    }

    /// The head for the wire (RFC 9112, section 3): `to` is what the request line names, and `proxied` what a
    /// proxy wants to see.
    pub(super) fn head(&self, to: &str, proxied: Option<&HeaderValue>) -> Vec<u8> {
        let mut head = Vec::with_capacity(ROOM);
        for part in [self.method.as_str(), " ", to, " HTTP/1.1\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
        let is_replaced = |name: &HeaderName| self.extra.iter().any(|(extra, _)| extra == name);
        for (name, value) in &*self.template {
            if !is_replaced(name) {
                write_field(&mut head, name, value);
            }
        }
        for (at, (name, value)) in self.extra.iter().enumerate() {
            if !self.extra[at + 1..].iter().any(|(later, _)| later == name) {
                write_field(&mut head, name, value);
            }
        }
        if let Some(value) = proxied {
            write_field(&mut head, &header::PROXY_AUTHORIZATION, value);
        }
        if self.method == Method::POST {
            head.extend_from_slice(b"content-length: ");
            head.extend_from_slice(itoa::Buffer::new().format(self.body.len()).as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

fn write_field(head: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
    for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
        head.extend_from_slice(part);
    }
}

/// What a post carries besides the given headers.
pub(super) fn post_template(headers: &HeaderMap) -> HeaderMap {
    let mut template = headers.clone();
    template.insert(header::ACCEPT, BOTH);
    template.insert(header::CONTENT_TYPE, JSON);
    template
}

fn without_body(template: &HeaderMap, accept: Option<HeaderValue>) -> Arc<HeaderMap> {
    let mut headers = template.clone();
    headers.remove(header::CONTENT_TYPE);
    match accept {
        Some(accept) => drop(headers.insert(header::ACCEPT, accept)),
        None => drop(headers.remove(header::ACCEPT)),
    }
    Arc::new(headers)
}
