//! What a stateless client wants to hear of.

use std::collections::HashSet;
use std::sync::Arc;

use mcpr_protocol::{Object, RawJson};
use mcpr_registry::Kind;
use serde_json::{Map, Value, json};

use crate::fault::Fault;

/// The filter of a `subscriptions/listen`.
#[derive(Clone, Default)]
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Single resources, each once, as the client wrote them.
    pub(crate) uris: Vec<Arc<str>>,
}

impl Filter {
    /// Reads the filter in the parameters of a request; what it does not know asks for nothing.
    ///
    /// # Errors
    ///
    /// When the resources are no list of texts, or more than `most`.
    pub(crate) fn read(params: Option<&Object>, most: usize) -> Result<Self, Fault> {
        let Some(filter) = params.and_then(|params| params.object("notifications")) else {
            return Ok(Self::default());
        };
        let flag = |name| filter.get(name).is_some_and(|value| value.as_str() == "true");
        Ok(Self {
            tools: flag("toolsListChanged"),
            prompts: flag("promptsListChanged"),
            resources: flag("resourcesListChanged"),
            uris: uris(filter.get("resourceSubscriptions"), most)?,
        })
    }

    /// Whether changes of a list are asked for.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => self.tools,
            Kind::Prompts => self.prompts,
            Kind::Resources | Kind::Templates => self.resources,
        }
    }

    /// The accepted subset, which leaves out what was not asked for.
    pub(crate) fn accepted(&self) -> Value {
        let flags = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        let flags = flags.into_iter().filter(|(_, wanted)| *wanted);
        let mut accepted: Map<String, Value> = flags
            .map(|(name, _)| (name.to_owned(), Value::Bool(true)))
            .collect();
        if !self.uris.is_empty() {
            let uris: Vec<&str> = self.uris.iter().map(|uri| &**uri).collect();
            accepted.insert("resourceSubscriptions".to_owned(), json!(uris));
        }
        Value::Object(accepted)
    }
}

fn uris(listed: Option<RawJson>, most: usize) -> Result<Vec<Arc<str>>, Fault> {
    let Some(listed) = listed.filter(|listed| !listed.is_null()) else {
        return Ok(Vec::new());
    };
    let wrong = || Fault::InvalidParams("`resourceSubscriptions` must be a list of URIs".into());
    let texts = listed.elements().ok_or_else(wrong)?;
    let mut seen = HashSet::new();
    let mut uris: Vec<Arc<str>> = Vec::new();
    for text in texts {
        let uri: Arc<str> = text.to_text().ok_or_else(wrong)?.into();
        if seen.insert(uri.clone()) {
            uris.push(uri);
        }
    }
    if uris.len() > most {
        return Err(Fault::Subscriptions(most));
    }
    Ok(uris)
}
