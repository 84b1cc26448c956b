//! What a real client can be told to do.

use serde::Serialize;
use serde_json::{Value, json};

/// Something that a client does.
#[derive(Clone, Debug, Serialize)]
pub struct Operation(Value);

impl Operation {
    /// Lists tools.
    pub fn list_tools() -> Self {
        Self(json!({ "op": "list_tools" }))
    }

    /// Lists tools from a cursor on.
    pub fn list_tools_from(cursor: &str) -> Self {
        Self(json!({ "op": "list_tools", "cursor": cursor }))
    }

    /// Lists prompts.
    pub fn list_prompts() -> Self {
        Self(json!({ "op": "list_prompts" }))
    }

    /// Lists resources.
    pub fn list_resources() -> Self {
        Self(json!({ "op": "list_resources" }))
    }

    /// Lists resource templates.
    pub fn list_templates() -> Self {
        Self(json!({ "op": "list_templates" }))
    }

    /// Calls a tool.
    pub fn call_tool(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "call_tool", "name": name, "arguments": arguments }))
    }

    /// Calls a tool; the result is `{result, progress}`.
    pub fn call_with_progress(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "call_with_progress", "name": name, "arguments": arguments }))
    }

    /// Calls a tool, and cancels the call at its first progress; the result is an error.
    pub fn call_and_cancel(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "call_and_cancel", "name": name, "arguments": arguments }))
    }

    /// Completes an argument of a prompt or a resource template, given the other arguments.
    pub fn complete(reference: Value, argument: &str, value: &str, others: Value) -> Self {
        let argument = json!({ "name": argument, "value": value });
        Self(
            json!({ "op": "complete", "ref": reference, "argument": argument, "context": { "arguments": others } }),
        )
    }

    /// Gets a prompt.
    pub fn get_prompt(name: &str, arguments: Value) -> Self {
        Self(json!({ "op": "get_prompt", "name": name, "arguments": arguments }))
    }

    /// Subscribes to a resource, calls a tool that changes it, and ends the subscription; the result
    /// is `{heard}`, the URI that was told to have changed.
    pub fn hear(uri: &str, tool: &str, arguments: Value) -> Self {
        Self(json!({ "op": "hear", "uri": uri, "name": tool, "arguments": arguments }))
    }

    /// Reads a resource.
    pub fn read_resource(uri: &str) -> Self {
        Self(json!({ "op": "read_resource", "uri": uri }))
    }

    /// Calls a tool; the result is `{result, log}`: also what was logged for it at this level and above.
    pub fn call_with_log(name: &str, arguments: Value, level: &str) -> Self {
        Self(json!({ "op": "call_with_log", "name": name, "arguments": arguments, "level": level }))
    }

    /// Calls a tool once; the result may be a question. `retry` has the members with which a call is
    /// sent again, if it is one.
    pub fn call_once(name: &str, arguments: Value, retry: &Value) -> Self {
        let mut call = json!({ "op": "call_once", "name": name, "arguments": arguments });
        for (member, value) in retry.as_object().into_iter().flatten() {
            call[member] = value.clone();
        }
        Self(call)
    }

    /// Wants to hear when the list of tools changes.
    pub fn listen_to_tools() -> Self {
        Self(json!({ "op": "listen", "filter": { "toolsListChanged": true } }))
    }

    /// Waits until a tool is listed, or no longer is: looks again whenever it hears that the list changed.
    pub fn await_tool(name: &str, listed: bool) -> Self {
        Self(json!({ "op": "await_tool", "name": name, "listed": listed }))
    }

    /// Asks whether the other side is there.
    pub fn ping() -> Self {
        Self(json!({ "op": "ping" }))
    }

    /// Sets the least grave level that it wants to hear of.
    pub fn set_level(level: &str) -> Self {
        Self(json!({ "op": "set_level", "level": level }))
    }
}
