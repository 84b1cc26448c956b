//! The headers that repeat what the body says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::fault::Fault;
use crate::http::Head;
use crate::message::Request;
use crate::tools;

/// Checks all of them but the revision's.
pub(crate) fn check(head: &Head, request: &Request) -> Result<(), Fault> {
    mirror(head, "mcp-method", &request.method)?;
    if let Some(key) = named_by(&request.method) {
        mirror(head, "mcp-name", request.text(key)?)?;
    }
    if request.method == "tools/call" {
        check_parameters(head, request)?;
    }
    Ok(())
}

/// Refuses a request whose header does not say `body`.
pub(crate) fn mirror(head: &Head, header: &str, body: &str) -> Result<(), Fault> {
    let mismatch = |what: &str| Fault::header_mismatch(&format!("{header} {what}"));
    let text = head.text(header).ok_or_else(|| mismatch("is missing"))?;
    match decoded(text) {
        None => Err(mismatch("is not proper Base64")),
        Some(text) if text == body => Ok(()),
        Some(_) => Err(mismatch("differs from the body")),
    }
}

/// The member of `params` that the header with the name repeats.
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

fn check_parameters(head: &Head, request: &Request) -> Result<(), Fault> {
    let schema = request
        .text("name")
        .ok()
        .and_then(tools::schema)
        .unwrap_or_default();
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let Some(suffix) = property["x-mcp-header"].as_str() else {
            continue;
        };
        let argument = request.params.get("arguments").and_then(|all| all.get(name));
        check_parameter(head, &format!("mcp-param-{}", suffix.to_lowercase()), argument)?;
    }
    Ok(())
}

fn check_parameter(head: &Head, header: &str, argument: Option<&Value>) -> Result<(), Fault> {
    match argument.filter(|argument| !argument.is_null()) {
        Some(Value::String(text)) => mirror(head, header, text),
        Some(argument) => mirror(head, header, &argument.to_string()),
        None if head.text(header).is_some() => {
            Err(Fault::header_mismatch(&format!("{header} has no argument")))
        }
        None => Ok(()),
    }
}

/// The text of a header; nothing if it says that it is Base64 and is not.
fn decoded(text: &str) -> Option<String> {
    let encoded = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        None => Some(text.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}
