//! Spans on their way to a collector, over OTLP/HTTP.
//!
//! They are batched and sent by a thread of the SDK, so that a collector which is slow or away holds up
//! no call: what finds no room in the batch is dropped, as the SDK says in the log.

mod settings;
mod tls;
mod way;
mod words;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanKind, Status as SpanStatus, TraceContextExt, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracer, SdkTracerProvider, Span as SdkSpan};
use parking_lot::Mutex;

use self::settings::Settings;
use self::way::{NoWay, Way};
use self::words::Words;
use super::{Hop, Span, Tracer};
use crate::{CallRecord, Secrets, Status};

/// How long the end waits for a collector.
const FAREWELL: Duration = Duration::from_secs(1);
/// What the service is called where `OTEL_SERVICE_NAME` says nothing.
const NAME: &str = "mcpr";

/// Where spans go.
pub(super) struct Exporter {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    ended: AtomicBool,
}

/// The span of a request, and that of its last sending.
pub(super) struct Running {
    tracer: SdkTracer,
    words: Words,
    method: String,
    /// The span as the parent of others.
    own: Context,
    spans: Mutex<Spans>,
}

/// What has not ended yet.
struct Spans {
    request: SdkSpan,
    hop: Option<SdkSpan>,
}

/// Spans cannot be sent as the variables say.
#[derive(Debug, thiserror::Error)]
#[error("spans cannot be sent to a collector; see the variables OTEL_EXPORTER_OTLP_*")]
pub struct OtlpError(#[source] Why);

/// What the variables say that cannot be.
#[derive(Debug, thiserror::Error)]
enum Why {
    #[error(transparent)]
    Way(#[from] NoWay),
    #[error(transparent)]
    Exporter(#[from] ExporterBuildError),
}

impl Tracer {
    /// Sends spans where the variables of OpenTelemetry say (`OTEL_EXPORTER_OTLP_ENDPOINT` and its like);
    /// nowhere if none names an endpoint, or `OTEL_SDK_DISABLED` is `true`.
    ///
    /// # Errors
    ///
    /// When what the variables say cannot be used.
    pub fn from_env() -> Result<Self, OtlpError> {
        match settings::address() {
            Some(url) => Self::to(&url),
            None => Ok(Self::off()),
        }
    }

    /// Sends spans to the collector at this URL, such as `http://127.0.0.1:4318/v1/traces`: there alone, whatever it
    /// answers. Behind `https` it is trusted as the platform does, and as `OTEL_EXPORTER_OTLP_CERTIFICATE` says.
    ///
    /// # Errors
    ///
    /// When the URL cannot be used.
    pub fn to(url: &str) -> Result<Self, OtlpError> {
        let settings = Settings::in_force();
        let exporter = exporter(url, settings.timeout()).map_err(OtlpError)?;
        Ok(Self::sending(exporter, &settings))
    }

    fn sending(exporter: SpanExporter, settings: &Settings) -> Self {
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(settings.batches());
        let mut resource = Resource::builder();
        if env::var_os("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name(NAME);
        }
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(batches.build())
            .with_resource(resource.with_attribute(version).build())
            .build();
        let exporter = Exporter {
            tracer: provider.tracer(NAME),
            provider,
            ended: AtomicBool::new(false),
        };
        Self {
            exporter: Some(Arc::new(exporter)),
            ..Self::off()
        }
    }
}

impl Exporter {
    pub(super) fn begin(&self, span: &Span<'_>, secrets: &Secrets) -> Option<Running> {
        let words = Words(secrets.clone());
        let parent = span.parent.map(|parent| words.parent(&parent));
        let parent = parent.map_or_else(Context::new, |parent| {
            Context::new().with_remote_span_context(parent)
        });
        let request = SpanBuilder::from_name(words.title(span.method, span.target.filter(|_| span.is_known)))
            .with_kind(SpanKind::Server)
            .with_start_time(span.began)
            .with_attributes(words.of_request(span))
            .start_with_context(&self.tracer, &parent);
        Some(Running {
            tracer: self.tracer.clone(),
            method: words.name(span.method),
            words,
            own: Context::new().with_remote_span_context(request.span_context().clone()),
            spans: Mutex::new(Spans { request, hop: None }),
        })
    }

    pub(super) fn shut_down(&self) {
        self.ended.store(true, Ordering::Relaxed);
        end(&self.provider, FAREWELL);
    }
}

impl Drop for Exporter {
    /// The provider would end itself here, and wait for seconds where the collector takes nothing: what is dropped
    /// is often dropped by a runtime.
    fn drop(&mut self) {
        if *self.ended.get_mut() {
            return;
        }
        let provider = self.provider.clone();
        let farewell = thread::Builder::new().name("mcpr-spans".into());
        if farewell.spawn(move || end(&provider, FAREWELL)).is_err() {
            end(&self.provider, Duration::ZERO);
        }
    }
}

impl Running {
    pub(super) fn begin_hop(&self, hop: &Hop<'_>) -> String {
        let span = SpanBuilder::from_name(self.words.title(&self.method, hop.target))
            .with_kind(SpanKind::Client)
            .with_attributes(self.words.of_hop(&self.method, hop))
            .start_with_context(&self.tracer, &self.own);
        let header = header(span.span_context());
        // The one before ends as it is dropped.
        self.spans.lock().hop = Some(span);
        header
    }

    pub(super) fn fail_hop(&self, why: &str) {
        if let Some(mut hop) = self.spans.lock().hop.take() {
            hop.set_attribute(KeyValue::new("error.type", "_OTHER"));
            hop.set_status(SpanStatus::error(self.words.text(why)));
            hop.end();
        }
    }

    pub(super) fn end(&self, record: &CallRecord<'_>) {
        let mut spans = self.spans.lock();
        if let Some(mut hop) = spans.hop.take() {
            self.conclude(&mut hop, record);
        }
        if let Some(server) = record.server {
            spans.request.set_attribute(self.words.of_server(server));
        }
        self.conclude(&mut spans.request, record);
    }

    pub(super) fn sampled_id(&self) -> Option<u128> {
        let own = self.own.span();
        let context = own.span_context();
        context
            .is_sampled()
            .then(|| u128::from_be_bytes(context.trace_id().to_bytes()))
    }

    /// Ends a span as the record says: it is an error exactly where `error.type` is set.
    fn conclude(&self, span: &mut SdkSpan, record: &CallRecord<'_>) {
        let error = match record.status {
            Status::Ok => None,
            Status::ToolError => Some("tool_error".to_owned()),
            Status::Cancelled => Some("cancelled".to_owned()),
            Status::Error(code) => Some(code.to_string()),
        };
        if let Status::Error(code) = record.status {
            span.set_attribute(KeyValue::new("rpc.response.status_code", code.to_string()));
        }
        if let Some(error) = error {
            span.set_attribute(KeyValue::new("error.type", error));
            // What a server says may repeat what it was sent: it is told to nobody here.
            span.set_status(SpanStatus::error(
                self.words.text(record.error.unwrap_or_default()),
            ));
        }
        span.end();
    }
}

/// Sends away what waits. What cannot be sent in this time is lost; the SDK says so.
fn end(provider: &SdkTracerProvider, within: Duration) {
    let _ = provider.shutdown_with_timeout(within);
}

fn exporter(url: &str, timeout: Duration) -> Result<SpanExporter, Why> {
    let way = Way::to(url, timeout)?;
    let exporter = SpanExporter::builder().with_http().with_http_client(way);
    Ok(exporter.with_endpoint(url).with_timeout(timeout).build()?)
}

fn header(context: &SpanContext) -> String {
    let flags = context.trace_flags().to_u8();
    format!("00-{}-{}-{flags:02x}", context.trace_id(), context.span_id())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::time::{Instant, SystemTime};

    use super::*;

    fn span() -> Span<'static> {
        Span {
            began: SystemTime::now(),
            request_id: 1,
            rpc_id: "1",
            method: "tools/list",
            target: None,
            is_known: false,
            uri: None,
            version: "2025-11-25",
            session: None,
            http: true,
            parent: None,
        }
    }

    #[test]
    fn emb_01_dropping_a_tracer_waits_for_no_collector_and_still_sends_what_waits() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let tracer = Tracer::to(&format!("http://{}/v1/traces", silent.local_addr().unwrap())).unwrap();
        drop(tracer.begin(&span()));
        let began = Instant::now();

        drop(tracer);

        assert!(began.elapsed() < FAREWELL, "{:?}", began.elapsed());
        let mut sent = [0; 15];
        silent.accept().unwrap().0.read_exact(&mut sent).unwrap();
        assert_eq!(&sent, b"POST /v1/traces");
    }
}
