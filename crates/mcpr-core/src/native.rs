//! Tools of the embedding program itself (SRV-05): they stand in the lists under the server `native`, and a call of one
//! runs its handler in this process.

mod transport;
#[cfg(feature = "schemars")]
mod typed;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcpr_config::{Backends, Place, ServerEntry, ServerState, ToolFilter};
use mcpr_protocol::{Object, RawJson};
use mcpr_registry::{PinPolicy, ServerName, ServerNaming};
use mcpr_upstream::{ProtocolChoice, Reach, UpstreamSpec};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(crate) use self::transport::NativeDial;

/// The server that native tools stand under.
pub(crate) const SERVER: &str = "native";

type Handler = dyn Fn(RawJson) -> BoxFuture<'static, Outcome> + Send + Sync;

/// A tool of the embedding program.
///
/// ```
/// use mcpr_core::{Outcome, Tool};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "who": { "type": "string" } } });
/// let greet = Tool::new("greet", "Says hello", schema, |arguments| async move {
///     Outcome::text(format!("hello {}", arguments.as_str()))
/// });
/// assert_eq!(greet.read_only().name(), "greet");
/// ```
#[derive(Clone)]
pub struct Tool {
    name: String,
    definition: Map<String, Value>,
    handler: Arc<Handler>,
}

/// What a handler gives back.
#[derive(Clone, Debug)]
pub struct Outcome(Value);

/// The native tools of a gateway.
#[derive(Clone, Default)]
pub(crate) struct Tools(Arc<[Tool]>);

impl Tool {
    /// A tool with the JSON Schema of its arguments, which is an object, and a handler that is given the
    /// arguments as the caller wrote them (`{}` where there are none).
    pub fn new<F, W>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: F,
    ) -> Self
    where
        F: Fn(RawJson) -> W + Send + Sync + 'static,
        W: Future<Output = Outcome> + Send + 'static,
    {
        let name = name.into();
        let mut definition = Map::new();
        definition.insert("name".into(), name.clone().into());
        definition.insert("description".into(), description.into().into());
        definition.insert("inputSchema".into(), input_schema);
        Self {
            name,
            definition,
            handler: Arc::new(move |arguments| Box::pin(handler(arguments))),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says that it changes nothing (`readOnlyHint`).
    pub fn read_only(self) -> Self {
        self.hint("readOnlyHint")
    }

    /// Says that calling it again changes nothing more (`idempotentHint`).
    pub fn idempotent(self) -> Self {
        self.hint("idempotentHint")
    }

    /// Sets a member of its entry in lists, such as `title`, `icons`, `outputSchema` or `_meta`.
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.definition.insert(member.to_owned(), value.into());
        self
    }

    fn hint(mut self, hint: &str) -> Self {
        let annotations = self.definition.entry("annotations").or_insert_with(|| json!({}));
        annotations[hint] = true.into();
        self
    }
}

impl Outcome {
    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    /// A structure, and the same as text for clients that know no structure.
    pub fn structured(structure: &impl Serialize) -> Self {
        let structure = serde_json::to_value(structure).unwrap_or_default();
        let text = structure.to_string();
        Self(json!({ "content": [{ "type": "text", "text": text }], "structuredContent": structure }))
    }

    /// A failure that the model can do something about: a result with `isError`.
    pub fn failed(why: impl fmt::Display) -> Self {
        let text = why.to_string();
        Self(json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
    }

    /// A whole `CallToolResult`.
    pub fn result(result: Value) -> Self {
        Self(result)
    }

    /// The result in the words of the stateless era, which the bridge translates for others.
    fn render(self) -> RawJson {
        let Value::Object(mut result) = self.0 else {
            return Self::failed("the tool gave a result that is no object").render();
        };
        result.entry("resultType").or_insert_with(|| "complete".into());
        RawJson::render(&result)
    }
}

impl Tools {
    pub(crate) fn new(tools: Vec<Tool>) -> Self {
        Self(tools.into())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries of `tools/list`.
    fn listed(&self) -> Vec<&Map<String, Value>> {
        self.0.iter().map(|tool| &tool.definition).collect()
    }

    /// Runs the tool of that name; `None` if there is none.
    fn call(&self, name: &str, params: &Object) -> Option<BoxFuture<'static, Outcome>> {
        let tool = self.0.iter().find(|tool| tool.name == name)?;
        let arguments = params.get("arguments").filter(|arguments| !arguments.is_null());
        let arguments = arguments.unwrap_or_else(|| RawJson::from_static("{}"));
        Some((tool.handler)(arguments))
    }

    /// The server that they stand under, as if a file had it.
    pub(crate) fn entry(&self) -> Option<ServerEntry> {
        let name: ServerName = SERVER.parse().ok()?;
        let spec = UpstreamSpec {
            protocol: ProtocolChoice::Stateless,
            ..UpstreamSpec::new(Reach::Native)
        };
        (!self.is_empty()).then(|| ServerEntry {
            name,
            place: Place {
                file: PathBuf::from("the embedding program"),
                line: 1,
                column: 1,
            },
            naming: ServerNaming::default(),
            state: ServerState::Enabled(Box::new(spec)),
            via: None,
            shown: "tools of the embedding program".into(),
            secrets: Vec::new(),
            wants: Vec::new(),
            tools: ToolFilter::default(),
            pins: PinPolicy::Off,
            backends: Backends::default(),
            members: Vec::new(),
        })
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
