//! A collector of OpenTelemetry on loopback: what it was sent over OTLP/HTTP, in protobuf.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use mcpr_telemetry::Tracer;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use prost::Message;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// A collector, and who sends to it.
pub(crate) struct Collector {
    pub(crate) tracer: Tracer,
    got: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let got = Arc::default();
        let serving = tokio::spawn(serve(listener, Arc::clone(&got)));
        Self {
            tracer: Tracer::to(&url).unwrap(),
            got,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    /// All spans, once nothing more is on its way.
    pub(crate) async fn spans(&self) -> Vec<Span> {
        let tracer = self.tracer.clone();
        tokio::task::spawn_blocking(move || tracer.shut_down())
            .await
            .unwrap();
        let got = self.got.lock();
        let scopes = got
            .iter()
            .flat_map(|got| &got.resource_spans)
            .flat_map(|of| &of.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    /// What the service says of itself.
    pub(crate) fn service(&self) -> Option<String> {
        let got = self.got.lock();
        let resource = got.first()?.resource_spans.first()?.resource.clone()?;
        said(&resource.attributes, "service.name")
    }
}

/// What an attribute says, as text.
pub(crate) fn said(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}

async fn serve(listener: TcpListener, got: Arc<Mutex<Vec<ExportTraceServiceRequest>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let take = service_fn(|request| take(request, &got));
        let connection = hyper::server::conn::http1::Builder::new();
        // One that breaks has sent what it could.
        let _ = connection.serve_connection(TokioIo::new(stream), take).await;
    }
}

async fn take(
    request: Request<Incoming>,
    got: &Mutex<Vec<ExportTraceServiceRequest>>,
) -> Result<Response<Empty<Bytes>>, hyper::Error> {
    assert_eq!(request.uri().path(), "/v1/traces");
    let body = request.into_body().collect().await?.to_bytes();
    got.lock().push(ExportTraceServiceRequest::decode(body).unwrap());
    Ok(Response::new(Empty::new()))
}
