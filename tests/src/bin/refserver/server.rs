//! The server behind all transports and both eras.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::client::{Client, Era, Halt};
use crate::fault::Fault;
use crate::hub::Hub;
use crate::message::Request;
use crate::question::Question;
use crate::seal::Seal;
use crate::tasks::Tasks;
use crate::{completion, prompts, resources, tools};

/// What all conversations share.
#[derive(Default)]
pub(crate) struct Server {
    pub(crate) hub: Arc<Hub>,
    pub(crate) seal: Seal,
    pub(crate) tasks: Tasks,
}

/// The methods that both eras have.
pub(crate) const COMMON: [&str; 8] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

impl Server {
    /// Answers a request of a method that both eras have.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: &Request,
        client: Arc<Client>,
    ) -> Result<Value, Fault> {
        match request.method.as_str() {
            "tools/list" => whole(request, tools::list()),
            "tools/call" => tools::call(self, request, client).await,
            "resources/list" => whole(request, resources::list()),
            "resources/templates/list" => whole(request, resources::templates()),
            "resources/read" => resources::read(request.text("uri")?, client.era),
            "prompts/list" => whole(request, prompts::list()),
            "prompts/get" => prompts::get(self, request, client).await,
            "completion/complete" => completion::complete(request),
            method => Err(Fault::method_not_found(method)),
        }
    }

    /// The answers that a client brings with a request: those of now and those in its sealed state.
    pub(crate) fn brought(&self, request: &Request) -> Result<Map<String, Value>, Fault> {
        let mut answers = match request.params.get("requestState") {
            None => Map::new(),
            Some(state) => self
                .opened(request, state)
                .ok_or_else(|| Fault::invalid_params("`requestState` was not made for this request"))?,
        };
        match request.params.get("inputResponses") {
            None => {}
            Some(Value::Object(given)) if given.values().all(Value::is_object) => {
                answers.extend(given.clone());
            }
            Some(_) => return Err(Fault::invalid_params("`inputResponses` must hold objects")),
        }
        Ok(answers)
    }

    fn opened(&self, request: &Request, state: &Value) -> Option<Map<String, Value>> {
        self.seal.open(&purpose(request), state.as_str()?)
    }

    /// What the client is told when its request has to wait for its answers, or fails.
    pub(crate) fn halted(&self, request: &Request, client: &Client, halt: Halt) -> Result<Value, Fault> {
        let questions = match halt {
            Halt::Fault(fault) => return Err(fault),
            Halt::Input(questions) => questions,
        };
        let entry = |question: &Question| (question.key.to_owned(), question.entry());
        let requests: Map<_, _> = questions.iter().map(entry).collect();
        let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
        let gathered = client.gathered();
        if !gathered.is_empty() || questions.iter().any(|question| question.sealed) {
            result["requestState"] = json!(self.seal.close(&purpose(request), &gathered));
        }
        Ok(result)
    }
}

/// What a state is sealed for: the method, the name, and the arguments.
fn purpose(request: &Request) -> String {
    let member = |key: &str| request.params.get(key).unwrap_or(&Value::Null);
    json!([request.method, member("name"), member("arguments")]).to_string()
}

/// A list in one page: no cursor is ever given, so none can be right.
fn whole(request: &Request, list: Value) -> Result<Value, Fault> {
    match request.params.get("cursor") {
        None => Ok(list),
        Some(_) => Err(Fault::invalid_params("no such cursor")),
    }
}

/// Who this is.
pub(crate) fn info() -> Value {
    json!({ "name": "refserver", "title": "Reference server", "version": env!("CARGO_PKG_VERSION") })
}

/// What this can do in both eras.
pub(crate) fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "subscribe": true },
        "completions": {},
        "logging": {},
    })
}

/// Makes a result what the stateless era wants.
pub(crate) fn dressed(method: &str, mut result: Value) -> Value {
    let about = json!({ "io.modelcontextprotocol/serverInfo": info() });
    let Some(members) = result.as_object_mut() else {
        return result;
    };
    members.entry("resultType").or_insert_with(|| json!("complete"));
    members.entry("_meta").or_insert(about);
    if let Some((ttl, scope)) = caching(method).filter(|_| members["resultType"] == "complete") {
        members.insert("ttlMs".to_owned(), json!(ttl));
        members.insert("cacheScope".to_owned(), json!(scope));
    }
    result
}

/// How long a result stays fresh, and for whom.
fn caching(method: &str) -> Option<(u32, &'static str)> {
    match method {
        "resources/read" => Some((0, "private")),
        "server/discover" | "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            Some((60_000, "public"))
        }
        _ => None,
    }
}

impl Era {
    /// The error for a resource that does not exist.
    pub(crate) fn no_resource(self, uri: &str) -> Fault {
        match self {
            Self::Session => Fault::no_resource(uri),
            Self::Stateless => Fault::invalid_resource(uri),
        }
    }
}
