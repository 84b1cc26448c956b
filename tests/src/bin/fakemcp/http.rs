//! What the two HTTP transports share: connections, heads, answers.

use std::convert::Infallible;
use std::future::Future;
use std::io::{self, Write as _};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::exchange::EventBody;
use crate::fault::Fault;
use crate::log::Head;
use crate::message;
use crate::spec::{Mask, Spec};

/// An answer.
pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// Listens on a loopback port, tells it on stdout, and serves for ever.
pub(crate) async fn listen<F, A>(port: u16, handle: F) -> anyhow::Result<()>
where
    F: Fn(Head, Bytes) -> A + Clone + Send + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    announce(listener.local_addr()?.port())?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?; // Events go out when they are said.
        while connections.try_join_next().is_some() {}
        let handle = handle.clone();
        let service = service_fn(move |request| {
            let handle = handle.clone();
            async move {
                let (head, body) = received(request).await;
                Ok::<_, Infallible>(handle(head, body).await)
            }
        });
        // How a connection ends is the client's business.
        connections.spawn(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
        );
    }
}

/// An answer with a body of its own.
pub(crate) fn plain(status: u16, content_type: &str, body: impl Into<Bytes>) -> Answer {
    let body = Full::new(body.into())
        .map_err(|never: Infallible| match never {})
        .boxed_unsync();
    let answer = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, content_type);
    answer
        .body(body)
        .expect("status and type come from a spec that a test wrote")
}

/// An answer without a body.
pub(crate) fn empty(status: u16) -> Answer {
    let mut answer = plain(status, "", Bytes::new());
    answer.headers_mut().remove(header::CONTENT_TYPE);
    answer
}

/// A refusal by the transport, with an error object that has no id.
pub(crate) fn refusal(status: u16, code: i64, why: &str) -> Answer {
    plain(
        status,
        "application/json",
        message::error("null", &Fault::new(code, why).error),
    )
}

/// The answer that a mask describes.
pub(crate) fn masked(mask: &Mask) -> Answer {
    let content_type = mask.ctype.as_deref().unwrap_or("text/plain");
    let mut answer = plain(mask.status, content_type, mask.body.clone());
    for (name, value) in &mask.headers {
        with_header(&mut answer, name, value);
    }
    answer
}

/// A JSON answer in the content type that the spec wants.
pub(crate) fn json(spec: &Spec, status: u16, text: String) -> Answer {
    plain(status, spec.ctype.as_deref().unwrap_or("application/json"), text)
}

/// An event stream in the content type that the spec wants.
pub(crate) fn events(spec: &Spec, body: EventBody) -> Answer {
    let content_type = spec.ctype.as_deref().unwrap_or("text/event-stream");
    let answer = Response::builder().header(header::CONTENT_TYPE, content_type);
    let answer = answer.header(header::CACHE_CONTROL, "no-cache");
    answer
        .body(body.boxed_unsync())
        .expect("the type comes from a spec that a test wrote")
}

/// Adds a header that a spec asks for.
pub(crate) fn with_header(answer: &mut Answer, name: &str, value: &str) {
    let name = header::HeaderName::from_bytes(name.as_bytes()).expect("a spec names headers rightly");
    let value = header::HeaderValue::from_str(value).expect("a spec gives header values rightly");
    answer.headers_mut().append(name, value);
}

/// Ends after `seconds`, or never.
pub(crate) async fn lapse(seconds: Option<f64>) {
    match seconds {
        Some(seconds) => tokio::time::sleep(Duration::from_secs_f64(seconds)).await,
        None => std::future::pending().await,
    }
}

fn announce(port: u16) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{{\"port\":{port}}}")?;
    stdout.flush()
}

async fn received(request: Request<Incoming>) -> (Head, Bytes) {
    let (parts, body) = request.into_parts();
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect();
    let head = Head {
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        headers,
    };
    // A body that breaks off is logged and judged as far as it came: as nothing.
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    (head, body)
}
