//! Spans of requests for OpenTelemetry (LOG-07): one for each request of a client, and below it one for
//! each time that it was sent to a server.
//!
//! The names and attributes are those of the semantic conventions for MCP. Spans are told only with the
//! cargo feature `otel`; without it a [`Tracer`] is nothing, and costs nothing.

#[cfg(not(feature = "otel"))]
mod nobody;
#[cfg(feature = "otel")]
mod otlp;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

#[cfg(not(feature = "otel"))]
use self::nobody::{Exporter, Running};
#[cfg(feature = "otel")]
pub use self::otlp::OtlpError;
#[cfg(feature = "otel")]
use self::otlp::{Exporter, Running};
use crate::{CallRecord, Secrets};

/// Makes spans and sends them away; clones send to the same place.
///
/// Texts of a span are cut as those of the log are, and searched for secrets in the same way.
///
/// A program that ends calls [`Tracer::shut_down`] before. When the last clone is dropped without that, what waits is
/// sent away in the background, within a second, for as long as the program lives.
#[derive(Clone, Default)]
pub struct Tracer {
    exporter: Option<Arc<Exporter>>,
    secrets: Secrets,
}

/// What is known of a request when its span begins.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// When it began.
    pub began: SystemTime,
    /// The number mcpr gave it, as the log and the history have it.
    pub request_id: u64,
    /// The id that its client gave it, without quotes.
    pub rpc_id: &'a str,
    /// Its method: one that is known, or the same text for all others.
    pub method: &'a str,
    /// What it names: the tool or the prompt, as the client calls it.
    pub target: Option<&'a str>,
    /// Whether there is such a tool or prompt. Only then the span is named after it: what clients make up would
    /// be names without end.
    pub is_known: bool,
    /// The resource that it is about.
    pub uri: Option<&'a str>,
    /// The revision that the client speaks.
    pub version: &'a str,
    /// What its session is called in the log; only in the session era.
    pub session: Option<&'a str>,
    /// Whether it came over HTTP, else on a pipe.
    pub http: bool,
    /// The span of the client that it belongs to.
    pub parent: Option<Parent<'a>>,
}

/// The span of somebody else (W3C Trace Context), as it was found to be well formed.
#[derive(Clone, Copy, Debug)]
pub struct Parent<'a> {
    /// The id of its trace.
    pub trace: u128,
    /// Its id.
    pub span: u64,
    /// Whether the trace is kept.
    pub is_sampled: bool,
    /// The `tracestate` that goes with it.
    pub state: Option<&'a str>,
}

/// What is known of one sending of a request to a server.
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The item, as the server calls it.
    pub target: Option<&'a str>,
    /// The revision that the server speaks.
    pub version: &'a str,
    /// The host and port of a server behind HTTP.
    pub address: Option<(&'a str, u16)>,
}

/// The span of a request that is under way. It ends with the record of the request; one that is
/// dropped before ends then.
pub struct Trace(Running);

impl Tracer {
    /// Nobody is told of spans.
    pub fn off() -> Self {
        Self::default()
    }

    /// The same, without these secrets in what it tells. A gateway does this with its own.
    #[must_use]
    pub fn hiding(self, secrets: &Secrets) -> Self {
        Self {
            secrets: secrets.clone(),
            ..self
        }
    }

    /// Whether anybody is told.
    pub fn is_on(&self) -> bool {
        self.exporter.is_some()
    }

    /// Begins the span of a request, if anybody is told: in the trace of the client, if there is one.
    pub fn begin(&self, span: &Span<'_>) -> Option<Trace> {
        let exporter = self.exporter.as_ref()?;
        exporter.begin(span, &self.secrets).map(Trace)
    }

    /// Sends away what waits, and takes no more. Blocks, a second at most: not for a thread of a runtime.
    pub fn shut_down(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.shut_down();
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_on() { "Tracer(on)" } else { "Tracer(off)" })
    }
}

impl Trace {
    /// Begins the span of a sending, and gives the `traceparent` that goes with it. One before it that
    /// has not ended ends now.
    pub fn begin_hop(&self, hop: &Hop<'_>) -> String {
        self.0.begin_hop(hop)
    }

    /// Ends the span of a sending that came to nothing.
    pub fn fail_hop(&self, why: &str) {
        self.0.fail_hop(why);
    }

    /// Ends the spans of the request as its record says.
    pub fn end(&self, record: &CallRecord<'_>) {
        self.0.end(record);
    }

    /// The id of its trace, if that is kept.
    pub fn sampled_id(&self) -> Option<u128> {
        self.0.sampled_id()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace(..)")
    }
}
