//! What a strict server of 2026-07-28 checks before it looks at a request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use crate::fault::Fault;
use crate::log::Head;
use crate::message::{MODERN, Params, Request, quoted};
use crate::spec::Raw;

/// The methods of the stateless era.
const METHODS: [&str; 12] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// What a tool says about the headers of its calls.
#[derive(Deserialize)]
struct ToolHeaders {
    name: String,
    #[serde(default, rename = "inputSchema")]
    input_schema: Value,
}

/// Checks the envelope, the existence of the method, and the mirrored headers, in the order of the spec.
pub(crate) fn check(request: &Request, head: Option<&Head>, tools: &[Raw]) -> Result<(), Fault> {
    let params = request
        .params
        .as_ref()
        .map_err(|why| Fault::invalid_params(why).with_status(400))?;
    let version = version(params)?;
    if let Some(head) = head {
        mirrors(head, "mcp-protocol-version", Some(&version))?;
    }
    if version != MODERN {
        return Err(unsupported(&version));
    }
    if !METHODS.contains(&request.method.as_str()) && request.method != "subscriptions/listen" {
        return Err(Fault::unknown_method(&request.method, true));
    }
    head.map_or(Ok(()), |head| mirrored(request, params, head, tools))
}

/// The version is not one that this server speaks.
pub(crate) fn unsupported(requested: &str) -> Fault {
    let data = format!(
        r#"{{"supported":["{MODERN}"],"requested":{}}}"#,
        quoted(requested)
    );
    Fault::new(-32022, "Unsupported protocol version")
        .with_data(&data)
        .with_status(400)
}

/// The request lacks the envelope that every stateless request carries.
pub(crate) fn missing() -> Fault {
    let key = "io.modelcontextprotocol/protocolVersion";
    Fault::invalid_params(&format!("_meta lacks {key}")).with_status(400)
}

fn version(params: &Params) -> Result<String, Fault> {
    let refused = |what: &str| Fault::invalid_params(&format!("_meta: {what}")).with_status(400);
    let version = params.meta.version.as_ref().ok_or_else(missing)?;
    let version: String =
        serde_json::from_str(version.get()).map_err(|_| refused("protocolVersion is not a string"))?;
    let capabilities = params.meta.capabilities.as_ref().map(|raw| raw.get());
    match capabilities {
        Some(text) if text.starts_with('{') => Ok(version),
        _ => Err(refused("clientCapabilities is missing or not an object")),
    }
}

fn mirrored(request: &Request, params: &Params, head: &Head, tools: &[Raw]) -> Result<(), Fault> {
    mirrors(head, "mcp-method", Some(&request.method))?;
    match request.method.as_str() {
        "tools/call" => {
            mirrors(head, "mcp-name", params.name.as_deref())?;
            mirrors_arguments(params, head, tools)
        }
        "prompts/get" => mirrors(head, "mcp-name", params.name.as_deref()),
        "resources/read" => mirrors(head, "mcp-name", params.uri.as_deref()),
        "tasks/get" | "tasks/update" | "tasks/cancel" => mirrors(head, "mcp-name", params.task_id.as_deref()),
        _ => Ok(()),
    }
}

/// The header must say what the body says, or be absent when the body says nothing.
fn mirrors(head: &Head, name: &str, body: Option<&str>) -> Result<(), Fault> {
    let header = head.header(name).map(|value| decoded(value.trim()));
    if header == body.map(|text| Some(text.to_owned())) {
        return Ok(());
    }
    let message = format!("header {name} does not mirror the body");
    Err(Fault::new(-32020, &message).with_status(400))
}

/// Undoes `=?base64?…?=`; `None` when that is malformed.
fn decoded(value: &str) -> Option<String> {
    let Some(inner) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.to_owned());
    };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok()
}

fn mirrors_arguments(params: &Params, head: &Head, tools: &[Raw]) -> Result<(), Fault> {
    let tools = tools
        .iter()
        .filter_map(|raw| serde_json::from_str::<ToolHeaders>(raw.get()).ok());
    let Some(tool) = { tools }.find(|tool| Some(&tool.name) == params.name.as_ref()) else {
        return Ok(());
    };
    let arguments: Value = serde_json::from_str(params.arguments_text()).unwrap_or_default();
    let mut wanted = Vec::new();
    annotated(&tool.input_schema, &arguments, &mut wanted);
    wanted.into_iter().try_for_each(|(name, value)| {
        mirrors(
            head,
            &format!("mcp-param-{}", name.to_lowercase()),
            value.as_deref(),
        )
    })
}

/// Collects the header names of a schema with the values that the arguments give them.
fn annotated(schema: &Value, arguments: &Value, wanted: &mut Vec<(String, Option<String>)>) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let argument = &arguments[key];
        if let Some(name) = property["x-mcp-header"].as_str() {
            wanted.push((name.to_owned(), scalar(argument)));
        }
        annotated(property, argument, wanted);
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
