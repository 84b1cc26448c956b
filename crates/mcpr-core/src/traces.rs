//! What a collector of OpenTelemetry is told of a request (LOG-07).

use std::time::SystemTime;

use http::Uri;
use mcpr_bridge::{TraceParent, is_tracestate};
use mcpr_telemetry::{Parent, Span, Trace};
use mcpr_upstream::{Reach, Upstream};

use crate::client::Context;
use crate::dispatch::Incoming;
use crate::gateway::Gateway;

impl Gateway {
    /// Begins the span of a request, in the trace that its client names; nothing if nobody is told. Whether what it
    /// names is there (`is_known`) is the caller's to know.
    pub(crate) fn trace(&self, context: &Context, incoming: &Incoming, is_known: bool) -> Option<Trace> {
        if !self.tracer.is_on() {
            return None;
        }
        let params = incoming.params.as_ref();
        let text = |key| params.and_then(|params| params.text(key));
        let meta = params.and_then(|params| params.object("_meta"));
        let carried = |key| meta.as_ref().and_then(|meta| meta.text(key));
        let is_named = incoming.method.named_by() == Some("name");
        let target = is_named.then(|| text("name")).flatten();
        let uri = text("uri");
        let (parent, state) = (carried("traceparent"), carried("tracestate"));
        let rpc_id = incoming.id.raw();
        let rpc_id = rpc_id.to_text().unwrap_or_else(|| rpc_id.as_str().to_owned());
        let now = SystemTime::now();
        self.tracer.begin(&Span {
            began: now.checked_sub(incoming.began.elapsed()).unwrap_or(now),
            request_id: incoming.number,
            rpc_id: &rpc_id,
            method: incoming.method.known(),
            target: target.as_deref(),
            is_known,
            uri: uri.as_deref(),
            version: context.client.version.as_str(),
            session: context.session.as_ref().map(|session| &session.id[..8]),
            http: context.path.is_some(),
            parent: parent
                .as_deref()
                .and_then(|parent| parent_of(parent, state.as_deref())),
        })
    }
}

/// What is malformed is not followed, here and toward servers by the same rules.
fn parent_of<'a>(parent: &str, state: Option<&'a str>) -> Option<Parent<'a>> {
    let parent = TraceParent::read(parent)?;
    Some(Parent {
        trace: parent.trace(),
        span: parent.span(),
        is_sampled: parent.is_sampled(),
        state: state.filter(|state| is_tracestate(state)),
    })
}

/// The host and port of a backend behind HTTP.
pub(crate) fn address(backend: &Upstream) -> Option<(String, u16)> {
    let Reach::Http(http) = &backend.spec.reach else {
        return None;
    };
    let url: Uri = http.url.reveal().parse().ok()?;
    let usual = if url.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    Some((url.host()?.to_owned(), url.port_u16().unwrap_or(usual)))
}
