//! The way to native tools: no process and no socket, only their handlers.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use futures_util::future::{BoxFuture, ready as now};
use mcpr_protocol::{ErrorObject, Id, Message, Method, Object, RawJson, Response, Version, code};
use mcpr_registry::ServerName;
use mcpr_transport::{Answering, Event, Exchange, Failed, Outgoing, Reason, Transport};
use mcpr_upstream::{Dial, Dialled, Reach, UpstreamSpec, Wire};
use serde_json::json;
use tokio::sync::mpsc;

use super::Tools;

/// Reaches the native tools, and all other servers as ever.
pub(crate) struct NativeDial {
    pub(crate) tools: Tools,
    pub(crate) others: Arc<dyn Dial>,
}

struct Native {
    tools: Tools,
    last_id: AtomicU64,
    /// For as long as it is open.
    _events: mpsc::Sender<Event>,
}

/// A request that is carried out by whoever waits for it; dropping it ends it.
struct Running(Pin<Box<dyn Future<Output = Response> + Send>>);

#[async_trait]
impl Dial for NativeDial {
    async fn dial(&self, server: &ServerName, spec: &UpstreamSpec, wire: Wire) -> Result<Dialled, Failed> {
        if spec.reach != Reach::Native {
            return self.others.dial(server, spec, wire).await;
        }
        let (sender, events) = mpsc::channel(1);
        let transport = Native {
            tools: self.tools.clone(),
            last_id: AtomicU64::new(0),
            _events: sender,
        };
        Ok(Dialled {
            transport: Arc::new(transport),
            events,
            signs: None,
        })
    }
}

impl Native {
    fn answer(&self, request: Outgoing) -> BoxFuture<'static, Result<RawJson, RawJson>> {
        let said =
            |value: serde_json::Value| Box::pin(now(Ok(RawJson::render(&value)))) as BoxFuture<'static, _>;
        match request.method {
            Method::Discover => said(json!({
                "resultType": "complete",
                "supportedVersions": [Version::NEWEST_STATELESS.as_str()],
                "capabilities": { "tools": {} },
                "ttlMs": 0,
                "cacheScope": "private",
            })),
            Method::ToolsList => said(json!({
                "resultType": "complete",
                "tools": self.tools.listed(),
                "ttlMs": 0,
                "cacheScope": "private",
            })),
            Method::ToolsCall => self.call(request),
            method => {
                let error = ErrorObject::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"));
                Box::pin(now(Err(error.render())))
            }
        }
    }

    fn call(&self, request: Outgoing) -> BoxFuture<'static, Result<RawJson, RawJson>> {
        let params = Object::read(&RawJson::trusted(request.params.into_bytes()));
        let name = request.name.as_deref().unwrap_or_default();
        let work = params.ok().and_then(|params| self.tools.call(name, &params));
        match work {
            Some(work) => Box::pin(async move { Ok(work.await.render()) }),
            None => {
                let error = ErrorObject::new(code::INVALID_PARAMS, format!("Unknown tool: {name}"));
                Box::pin(now(Err(error.render())))
            }
        }
    }
}

#[async_trait]
impl Transport for Native {
    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn open(&self, request: Outgoing) -> Result<Exchange, Failed> {
        let id = Some(Id::number(request.id));
        let answer = self.answer(request);
        Ok(Exchange::new(Running(Box::pin(async move {
            let outcome = answer.await;
            Response { id, outcome }
        }))))
    }

    async fn send(&self, _: Message) -> Result<(), Failed> {
        Ok(()) // Nothing that is no request means anything to a tool.
    }

    fn negotiated(&self, _: Version) {}

    async fn close(&self) {}

    fn tells_apart(&self) -> bool {
        true
    }
}

impl Answering for Running {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Message, Failed>> {
        let response = ready!(self.0.as_mut().poll(cx));
        Poll::Ready(Ok(Message::Response(response)))
    }

    fn cancel(self: Box<Self>, _: Reason) {}
}
