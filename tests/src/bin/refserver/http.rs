//! Streamable HTTP: one URL for both eras.

use std::convert::Infallible;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::endpoint::Endpoint;
use crate::fault::Fault;

/// An answer.
pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What comes before the body.
pub(crate) struct Head {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
}

/// A body of events, which ends with its sender.
pub(crate) struct Events<T> {
    pub(crate) first: Option<T>,
    pub(crate) rest: UnboundedReceiver<T>,
    pub(crate) frame: fn(&T) -> Bytes,
    /// Work that ends when the client leaves.
    pub(crate) _work: Option<AbortOnDropHandle<()>>,
}

/// Serves for ever.
pub(crate) async fn serve(listener: TcpListener, endpoint: Arc<Endpoint>) -> anyhow::Result<()> {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        while connections.try_join_next().is_some() {}
        let endpoint = Arc::clone(&endpoint);
        let service = service_fn(move |request| {
            let endpoint = Arc::clone(&endpoint);
            async move {
                let (head, body) = received(request).await;
                Ok::<_, Infallible>(endpoint.handle(head, body).await)
            }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        connections.spawn(async move {
            // How a connection ends is the client's business.
            let _ = connection.await;
        });
    }
}

async fn received(request: Request<Incoming>) -> (Head, Bytes) {
    let (parts, body) = request.into_parts();
    let head = Head {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
    };
    match body.collect().await {
        Ok(body) => (head, body.to_bytes()),
        // The client has gone in the middle of its request.
        Err(_) => pending().await,
    }
}

/// An answer in JSON.
pub(crate) fn json(status: u16, message: &Value) -> Answer {
    built(
        status,
        "application/json",
        Full::new(Bytes::from(message.to_string())),
    )
}

/// An answer without a body.
pub(crate) fn empty(status: u16) -> Answer {
    let mut answer = built(status, "", Full::default());
    answer.headers_mut().remove(header::CONTENT_TYPE);
    answer
}

/// A refusal that belongs to no request.
pub(crate) fn refused(status: u16, why: &str) -> Answer {
    json(status, &Fault::invalid_request(why).message(None))
}

/// The refusal of another verb.
pub(crate) fn not_allowed(allowed: &'static str) -> Answer {
    let mut answer = refused(405, "the method is not allowed here");
    let allowed = header::HeaderValue::from_static(allowed);
    answer.headers_mut().insert(header::ALLOW, allowed);
    answer
}

/// An answer in events.
pub(crate) fn events<T: Unpin + Send + 'static>(events: Events<T>) -> Answer {
    let mut answer = built(200, "text/event-stream", events);
    let never = header::HeaderValue::from_static("no-cache");
    answer.headers_mut().insert(header::CACHE_CONTROL, never);
    answer
}

fn built(
    status: u16,
    content_type: &'static str,
    body: impl Body<Data = Bytes, Error = Infallible> + Send + 'static,
) -> Answer {
    let answer = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, content_type);
    answer
        .body(body.boxed_unsync())
        .expect("status and type are constants")
}

impl Head {
    /// A header, without the blanks around it.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        Some(self.headers.get(name)?.to_str().ok()?.trim())
    }

    /// Whether a header names this type.
    pub(crate) fn names(&self, name: header::HeaderName, content_type: &str) -> bool {
        self.text(name.as_str())
            .is_some_and(|value| value.contains(content_type))
    }
}

impl<T: Unpin> Body for Events<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = self.frame;
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(frame(&first)))));
        }
        let next = self.rest.poll_recv(task);
        next.map(|event| event.map(|event| Ok(Frame::data(frame(&event)))))
    }
}
