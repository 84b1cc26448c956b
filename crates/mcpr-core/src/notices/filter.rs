//! What a stateless client wants to hear of.

use std::collections::HashSet;
use std::sync::Arc;

use mcpr_protocol::{Abilities, Ability, Object, key};
use mcpr_registry::Kind;
use mcpr_upstream::{Feed, PerFeed};
use serde_json::{Map, Value, json};

use crate::fault::Fault;

/// The filter of a `subscriptions/listen`.
#[derive(Clone, Default)]
pub(crate) struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Single resources and tasks, each once, as the client wrote them.
    pub(crate) names: PerFeed<Vec<Arc<str>>>,
}

impl Filter {
    /// Reads the filter in the parameters of a request; what it does not know asks for nothing.
    ///
    /// # Errors
    ///
    /// When the resources or the tasks are no list of texts, or are more than `most`; when tasks are
    /// asked for by a client that does not declare that it knows them.
    pub(crate) fn read(params: Option<&Object>, abilities: Abilities, most: usize) -> Result<Self, Fault> {
        let Some(filter) = params.and_then(|params| params.object("notifications")) else {
            return Ok(Self::default());
        };
        let flag = |name| filter.get(name).is_some_and(|value| value.as_str() == "true");
        let [uris, tasks] = Feed::ALL.map(|feed| named(&filter, feed.filter()));
        let (uris, tasks) = (uris?, tasks?);
        if !tasks.is_empty() && !abilities.has(Ability::Tasks) {
            return Err(Fault::MissingCapability(key::TASKS_EXTENSION));
        }
        if uris.len() + tasks.len() > most {
            return Err(Fault::Subscriptions(most));
        }
        Ok(Self {
            tools: flag("toolsListChanged"),
            prompts: flag("promptsListChanged"),
            resources: flag("resourcesListChanged"),
            names: [uris, tasks].into(),
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
        for feed in Feed::ALL {
            let names: Vec<&str> = self.names.of(feed).iter().map(|name| &**name).collect();
            if !names.is_empty() {
                accepted.insert(feed.filter().to_owned(), json!(names));
            }
        }
        Value::Object(accepted)
    }
}

/// What a member of a filter names.
fn named(filter: &Object, member: &str) -> Result<Vec<Arc<str>>, Fault> {
    let Some(listed) = filter.get(member).filter(|listed| !listed.is_null()) else {
        return Ok(Vec::new());
    };
    let wrong = || Fault::InvalidParams(format!("`{member}` must be a list of strings"));
    let texts = listed.elements().ok_or_else(wrong)?;
    let mut seen = HashSet::new();
    let mut names: Vec<Arc<str>> = Vec::new();
    for text in texts {
        let name: Arc<str> = text.to_text().ok_or_else(wrong)?.into();
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    Ok(names)
}
