//! Code before and after each request (LOG-08): to watch, to change, to deny.
//!
//! The log, the spans, the metrics, the history and the events of operators are layers too ([`own`]), fed by
//! the same record as those of an embedding program.

pub(crate) mod own;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use mcpr_auth::Principal;
use mcpr_protocol::{Edit, Method, Object, RawJson};
use mcpr_telemetry::CallRecord;
use serde_json::json;

use crate::client::Context;
use crate::dispatch::Incoming;
use crate::fault::Fault;

/// Code around requests.
///
/// Layers are passed in the order in which they were given to the [`Builder`](crate::Builder), before a request as
/// well as after it. A gateway without layers pays nothing for them.
#[async_trait]
pub trait Layer: Send + Sync + 'static {
    /// Before a request is carried out that is about a tool, a prompt, a resource, a completion or a
    /// task: it is known whose it is, and nothing has left yet. The caller waits for this.
    async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
        let _ = intent;
        Verdict::Pass
    }

    /// After a request has ended, however it did; lists and refused requests come here too. It is
    /// called where the answer is made, so it must not take long or block.
    fn after(&self, record: &CallRecord<'_>) {
        let _ = record;
    }

    /// Whether it only watches: [`before`](Self::before) is never called then, and no request waits.
    fn only_watches(&self) -> bool {
        false
    }
}

#[async_trait]
impl<L: Layer + ?Sized> Layer for Arc<L> {
    async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
        (**self).before(intent).await
    }

    fn after(&self, record: &CallRecord<'_>) {
        (**self).after(record);
    }

    fn only_watches(&self) -> bool {
        (**self).only_watches()
    }
}

/// What a layer says to a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It ends with an error that says this; `data.reason` is `denied`.
    Deny(String),
    /// It ends with this result, in the words of MCP: the server never hears of it.
    Answer(RawJson),
}

/// A request that is about to be carried out.
pub struct Intent<'a> {
    context: &'a Context,
    incoming: &'a mut Incoming,
    server: &'a str,
    tool: Option<&'a str>,
    fault: Option<Fault>,
}

impl Intent<'_> {
    /// The number of the request; that of its record too.
    pub fn request_id(&self) -> u64 {
        self.incoming.number
    }

    /// The method, such as `tools/call`.
    pub fn method(&self) -> &str {
        self.incoming.method.as_str()
    }

    /// The server that it goes to; `mcpr` for a built-in tool.
    pub fn server(&self) -> &str {
        self.server
    }

    /// The tool by its name at the server.
    pub fn tool(&self) -> Option<&str> {
        self.tool
    }

    /// For whom it is made.
    pub fn principal(&self) -> &Principal {
        &self.context.principal
    }

    /// The name of the client program, as it says itself.
    pub fn client(&self) -> Option<&str> {
        self.context.client.name.as_deref()
    }

    /// What mcpr knows of the caller, as the object `{"token", "projectId"}` (PRJ-04): the id of the
    /// token, never its secret. None of it leaves toward a server.
    pub fn meta(&self) -> RawJson {
        let principal = &self.context.principal;
        let project = principal.project().or(self.context.asked.project.as_deref());
        RawJson::render(&json!({ "token": principal.key(), "projectId": project }))
    }

    /// The parameters as the client sent them, or as a layer before this one left them.
    pub fn params(&self) -> Option<&Object> {
        self.incoming.params.as_ref()
    }

    /// The arguments of a tool or a prompt, if there are any.
    pub fn arguments(&self) -> Option<RawJson> {
        self.params()?
            .get("arguments")
            .filter(|arguments| !arguments.is_null())
    }

    /// Puts other arguments in the place of these. What is no object is refused when the request goes on.
    pub fn set_arguments(&mut self, arguments: RawJson) {
        let Some(params) = &self.incoming.params else {
            return;
        };
        let changed = Edit::new(params).set("arguments", arguments).finish();
        match Object::read(&RawJson::trusted(changed.into_bytes())) {
            Ok(params) => self.incoming.params = Some(params),
            Err(error) => self.fault = Some(Fault::InvalidParams(format!("`arguments` of a layer: {error}"))),
        }
    }
}

/// The layers of a gateway.
#[derive(Clone, Default)]
pub(crate) struct Layers {
    /// Those that are asked before a request.
    asked: Arc<[Arc<dyn Layer>]>,
    /// All of them, which are told after it.
    told: Arc<[Arc<dyn Layer>]>,
}

impl Layers {
    pub(crate) fn new(layers: Vec<Arc<dyn Layer>>) -> Self {
        let asks = |layer: &&Arc<dyn Layer>| !layer.only_watches();
        Self {
            asked: layers.iter().filter(asks).cloned().collect(),
            told: layers.into(),
        }
    }

    /// Asks each layer; the first that does not let the request pass has the last word, and so has one that breaks.
    pub(crate) async fn before(
        &self,
        context: &Context,
        incoming: &mut Incoming,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Option<RawJson>, Fault> {
        for layer in &*self.asked {
            let mut intent = Intent {
                context,
                incoming,
                server,
                tool,
                fault: None,
            };
            let verdict = AssertUnwindSafe(layer.before(&mut intent)).catch_unwind().await;
            if let Some(fault) = intent.fault {
                return Err(fault);
            }
            match verdict {
                Ok(Verdict::Pass) => {}
                Ok(Verdict::Deny(why)) => return Err(Fault::Denied(why)),
                Ok(Verdict::Answer(result)) => return Ok(Some(result)),
                Err(_) => {
                    tracing::error!(request_id = incoming.number, "a layer failed before a request");
                    return Err(Fault::Internal);
                }
            }
        }
        let is_object = |params: &Object| {
            params
                .get("arguments")
                .is_none_or(|all| all.is_object() || all.is_null())
        };
        match &incoming.params {
            Some(params) if takes_arguments(&incoming.method) && !is_object(params) => {
                Err(Fault::InvalidParams("`arguments` must be an object".into()))
            }
            _ => Ok(None),
        }
    }

    /// Tells each layer that a request has ended. One that breaks harms no other.
    pub(crate) fn after(&self, record: &CallRecord<'_>) {
        for layer in &*self.told {
            if catch_unwind(AssertUnwindSafe(|| layer.after(record))).is_err() {
                tracing::error!(request_id = record.request_id, "a layer failed after a request");
            }
        }
    }

    /// Whether no layer is asked before a request.
    pub(crate) fn only_watch(&self) -> bool {
        self.asked.is_empty()
    }
}

fn takes_arguments(method: &Method) -> bool {
    matches!(method, Method::ToolsCall | Method::PromptsGet)
}
