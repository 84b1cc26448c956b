//! JSON-RPC messages as texts: reading what came, writing what goes.

use serde::Deserialize;

use crate::spec::Raw;

/// The revision of the stateless era.
pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions that are opened by `initialize`, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A message from the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification { method: String, params: Params },
    /// Answers a request of ours: the id, and the whole text.
    Answer { id: String, text: String },
}

/// A request from the client.
#[derive(Debug)]
pub(crate) struct Request {
    /// The id as JSON text.
    pub(crate) id: String,
    /// The method.
    pub(crate) method: String,
    /// The parameters, or why they cannot be read.
    pub(crate) params: Result<Params, String>,
}

/// The parameters that a fake server looks at.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Params {
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) arguments: Option<Raw>,
    pub(crate) argument: Option<Argument>,
    pub(crate) cursor: Option<String>,
    pub(crate) protocol_version: Option<String>,
    pub(crate) request_id: Option<Raw>,
    pub(crate) notifications: Option<Raw>,
    pub(crate) input_responses: Option<Raw>,
    pub(crate) request_state: Option<String>,
    pub(crate) task_id: Option<String>,
    pub(crate) task: Option<Raw>,
    #[serde(rename = "_meta")]
    pub(crate) meta: Meta,
}

/// The argument that a completion is about.
#[derive(Debug, Deserialize)]
pub(crate) struct Argument {
    pub(crate) value: String,
}

/// The keys of `_meta` that a fake server looks at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta {
    #[serde(rename = "progressToken")]
    pub(crate) progress_token: Option<Raw>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<Raw>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<Raw>,
}

/// The outermost object of a message.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Raw>,
    method: Option<String>,
    params: Option<Raw>,
}

impl Message {
    /// Reads one message.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let envelope: Envelope = serde_json::from_str(text)?;
        let id = envelope.id.map(|id| id.get().to_owned());
        let params = read(envelope.params);
        Ok(match (id, envelope.method) {
            (Some(id), Some(method)) => Self::Request(Request { id, method, params }),
            (None, Some(method)) => Self::Notification {
                method,
                params: params.unwrap_or_default(),
            },
            (id, None) => Self::Answer {
                id: id.unwrap_or_default(),
                text: text.to_owned(),
            },
        })
    }

    /// The keys by which a spec may name it.
    pub(crate) fn keys(&self) -> Vec<String> {
        match self {
            Self::Request(request) => request.keys(),
            Self::Notification { method, .. } => vec![method.clone()],
            Self::Answer { .. } => Vec::new(),
        }
    }

    /// The request, if it is one.
    pub(crate) fn request(&self) -> Option<&Request> {
        match self {
            Self::Request(request) => Some(request),
            _ => None,
        }
    }
}

impl Request {
    /// What the request is about: a tool, a prompt, or a URI.
    pub(crate) fn subject(&self) -> Option<&str> {
        let params = self.params.as_ref().ok()?;
        params.name.as_deref().or(params.uri.as_deref())
    }

    /// `METHOD:NAME` and `METHOD`.
    pub(crate) fn keys(&self) -> Vec<String> {
        let named = self.subject().map(|subject| format!("{}:{subject}", self.method));
        named.into_iter().chain([self.method.clone()]).collect()
    }

    /// Whether a spec's `key` names this request.
    pub(crate) fn is(&self, key: &str) -> bool {
        self.keys().iter().any(|own| own == key)
    }

    /// Whether it carries the envelope of the stateless era.
    pub(crate) fn claims_stateless(&self) -> bool {
        self.params
            .as_ref()
            .is_ok_and(|params| params.meta.version.is_some())
    }
}

impl Params {
    /// The arguments as JSON text, `{}` when there are none.
    pub(crate) fn arguments_text(&self) -> &str {
        self.arguments.as_ref().map_or("{}", |arguments| arguments.get())
    }
}

/// A successful answer.
pub(crate) fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A failed answer.
pub(crate) fn error(id: &str, error: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A request of ours; the id is a JSON text.
pub(crate) fn request(id: &str, method: &str, params: Option<&str>) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":{}{}}}"#,
        quoted(method),
        member("params", params)
    )
}

/// A notification of ours.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":{}{}}}"#,
        quoted(method),
        member("params", params)
    )
}

/// A tool result that holds one text.
pub(crate) fn text_content(text: &str) -> String {
    format!(r#""content":[{{"type":"text","text":{}}}]"#, quoted(text))
}

/// A string as JSON text.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `object` with one more member in front.
pub(crate) fn with_member(object: &str, member: &str) -> String {
    let rest = object.trim_start().trim_start_matches('{').trim_start();
    let comma = if rest.starts_with('}') { "" } else { "," };
    format!("{{{member}{comma}{rest}")
}

/// The same JSON text on one line; strings hold no raw line ends, so nothing is lost.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

fn member(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!(r#","{name}":{value}"#))
}

fn read(params: Option<Raw>) -> Result<Params, String> {
    params.map_or(Ok(Params::default()), |params| {
        serde_json::from_str(params.get()).map_err(|error| error.to_string())
    })
}
