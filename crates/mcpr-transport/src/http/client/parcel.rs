//! A request as it is before it is sent, and sent again.

use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use mcpr_protocol::Rope;

use super::body::Once;

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
    body: Option<Rope>,
}

/// How many headers there is room for beyond those of the template, so that a copy of it need not grow.
const ROOM: usize = 8;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

impl Parcel {
    /// A message to be posted; the template must come from [`post_template`].
    pub(crate) fn post(template: Arc<HeaderMap>, body: Rope) -> Self {
        Self {
            body: Some(body),
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
            body: None,
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

    /// A copy for the wire.
    pub(super) fn request(&self, path: Uri) -> Request<Once> {
        let mut request = Request::new(Once::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = path;
        let headers = request.headers_mut();
        headers.clone_from(&self.template);
        for (name, value) in &self.extra {
            headers.insert(name.clone(), value.clone());
        }
        request
    }
}

/// What a post carries besides the given headers.
pub(super) fn post_template(headers: &HeaderMap) -> HeaderMap {
    let mut template = headers.clone();
    template.reserve(ROOM);
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
