//! What spans say, in the names of the semantic conventions for MCP.
//!
//! Most of it was written by clients and servers. It is cut and searched for secrets as the log is; and since the
//! queue of the SDK counts spans, it is the limits of their texts that bound the bytes in it.

use std::borrow::Cow;

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

use super::super::{Hop, Parent, Span};
use crate::{Secrets, redact};

/// The longest name, of a span and in an attribute, in bytes.
const NAME_MAX: usize = 256;
/// The longest of what has more to say: an address, a reason.
const TEXT_MAX: usize = 1024;

/// Says it without secrets, and no longer than it may be.
#[derive(Clone)]
pub(super) struct Words(pub(super) Secrets);

impl Words {
    /// `tools/call git_status`; never a URI, which would make names without end.
    pub(super) fn title(&self, method: &str, target: Option<&str>) -> String {
        let method = self.name(method);
        match target {
            Some(target) => format!("{method} {}", self.name(target)),
            None => method,
        }
    }

    pub(super) fn name(&self, name: &str) -> String {
        self.0.scrub_within(name, NAME_MAX).into_owned()
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.0.scrub_within(text, TEXT_MAX).into_owned()
    }

    /// The span of the client. Its `tracestate` is nothing to cut a secret out of: one that has any is not told.
    pub(super) fn parent(&self, parent: &Parent<'_>) -> SpanContext {
        let clean = |state: &&str| matches!(self.0.scrub(state), Cow::Borrowed(_));
        let state = parent.state.filter(clean).map(str::parse::<TraceState>);
        SpanContext::new(
            TraceId::from(parent.trace),
            SpanId::from(parent.span),
            TraceFlags::default().with_sampled(parent.is_sampled),
            true,
            state.and_then(Result::ok).unwrap_or_default(),
        )
    }

    pub(super) fn of_request(&self, span: &Span<'_>) -> Vec<KeyValue> {
        let mut all = self.of_item(span.method, span.target);
        all.push(KeyValue::new("mcpr.request.id", span.request_id.to_string()));
        all.push(self.named("jsonrpc.request.id", span.rpc_id));
        all.push(self.named("mcp.protocol.version", span.version));
        all.extend(span.session.map(|id| self.named("mcp.session.id", id)));
        let uri = span.uri.map(|uri| self.text(&redact::url(uri)));
        all.extend(uri.map(|uri| KeyValue::new("mcp.resource.uri", uri)));
        all.extend(network(span.http));
        all
    }

    pub(super) fn of_hop(&self, method: &str, hop: &Hop<'_>) -> Vec<KeyValue> {
        let mut all = self.of_item(method, hop.target);
        all.push(self.of_server(hop.server));
        all.push(self.named("mcp.protocol.version", hop.version));
        if let Some((host, port)) = hop.address {
            all.push(self.named("server.address", host));
            all.push(KeyValue::new("server.port", i64::from(port)));
        }
        all.extend(network(hop.address.is_some()));
        all
    }

    pub(super) fn of_server(&self, server: &str) -> KeyValue {
        self.named("mcpr.server", server)
    }

    fn of_item(&self, method: &str, target: Option<&str>) -> Vec<KeyValue> {
        let mut all = vec![self.named("mcp.method.name", method)];
        let named = |key: &'static str| target.map(|name| self.named(key, name));
        match method {
            "tools/call" => {
                all.push(KeyValue::new("gen_ai.operation.name", "execute_tool"));
                all.extend(named("gen_ai.tool.name"));
            }
            "prompts/get" => all.extend(named("gen_ai.prompt.name")),
            _ => {}
        }
        all
    }

    fn named(&self, key: &'static str, name: &str) -> KeyValue {
        KeyValue::new(key, self.name(name))
    }
}

fn network(http: bool) -> Vec<KeyValue> {
    match http {
        true => vec![
            KeyValue::new("network.transport", "tcp"),
            KeyValue::new("network.protocol.name", "http"),
        ],
        false => vec![KeyValue::new("network.transport", "pipe")],
    }
}
