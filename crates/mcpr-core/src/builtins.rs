//! The built-in tools: how a client finds, builds and equips toolsets (SET-03).
//!
//! Each is an operation of the admin API, carried out for whoever calls it and for nobody else.

use std::sync::{Arc, OnceLock};

use http::StatusCode;
use mcpr_admin::{
    ActiveToolset, BuildToolset, DeleteToolset, DiscoverTools, EquipToolset, ErrorCode, Failure,
    ListToolsets, Operation, UnequipToolset,
};
use mcpr_auth::Scope;
use mcpr_protocol::{Method, Object, RawJson};
use mcpr_registry::BUILT_IN_TOOLS;
use mcpr_telemetry::Status;
use serde_json::{Value, json};

use crate::client::Context;
use crate::dispatch::{Incoming, allowed, own_result};
use crate::fault::Fault;
use crate::flight::Done;
use crate::gateway::Gateway;
use crate::record::Ending;
use crate::toolsets::{Asker, ToolsetError};

/// What operators and records call the server that has the built-in tools.
pub(crate) const SERVER: &str = "mcpr";

/// The definitions, as clients of both eras get them.
const DEFINITIONS: &str = include_str!("builtins/definitions.json");

/// The longest text of a tool error: a model has no use for a long name that is told back to it.
const LONGEST_ERROR: usize = 16 * 1024;

/// The definitions of all built-in tools, one behind the other, as they stand in a list.
pub(crate) fn listed() -> &'static [u8] {
    static LISTED: OnceLock<Vec<u8>> = OnceLock::new();
    LISTED.get_or_init(|| {
        let list = compact(DEFINITIONS);
        list[1..list.len() - 1].to_vec()
    })
}

/// A JSON text without the blanks between its tokens.
fn compact(text: &str) -> Vec<u8> {
    let mut compact = Vec::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        if in_string || !byte.is_ascii_whitespace() {
            compact.push(byte);
        }
        in_string ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
    }
    compact
}

impl Gateway {
    /// The built-in tool that a request calls, if it calls one.
    pub(crate) fn builtin(&self, method: &Method, params: Option<&Object>) -> Option<&'static str> {
        if *method != Method::ToolsCall || !self.plan().options.builtins {
            return None;
        }
        let name = params?.get("name")?;
        // Every call comes by here: the text is only decoded where it is not written plainly.
        if memchr::memchr(b'\\', name.as_bytes()).is_some() {
            let name = name.to_text()?;
            return BUILT_IN_TOOLS.into_iter().find(|tool| *tool == name);
        }
        let plain = name.as_str().strip_prefix('"')?.strip_suffix('"')?;
        BUILT_IN_TOOLS.into_iter().find(|tool| *tool == plain)
    }

    /// Calls a built-in tool.
    pub(crate) async fn call_builtin(
        self: &Arc<Self>,
        context: &Context,
        incoming: &Incoming,
        tool: &'static str,
    ) -> Done {
        let outcome = match self.check_builtin(context, incoming) {
            Ok(arguments) => {
                let (gateway, asker) = (self.clone(), Asker::client(context));
                let work = async move { gateway.perform_builtin(&asker, tool, &arguments).await };
                let died = Err(ToolsetError::Fault(Fault::Internal));
                self.to_the_end(work).await.unwrap_or(died)
            }
            Err(fault) => return self.refuse_of(context, incoming, Some((SERVER, tool)), &fault),
        };
        let (result, status) = match outcome {
            Ok(output) => (answer(&output), Status::Ok),
            Err(error) => match error.for_client() {
                Ok(failure) => (tool_error(&failure), Status::ToolError),
                Err(fault) => return self.refuse_of(context, incoming, Some((SERVER, tool)), &fault),
            },
        };
        let sight = self.sight(context);
        let result = own_result(&result, context, &incoming.method, &sight);
        self.done_builtin(context, incoming, tool, status, result)
    }

    fn check_builtin(&self, context: &Context, incoming: &Incoming) -> Result<RawJson, Fault> {
        allowed(context, Scope::Call)?;
        if self.is_closing() {
            return Err(Fault::Stopping);
        }
        let arguments = incoming
            .params
            .as_ref()
            .and_then(|params| params.get("arguments"));
        let arguments = arguments.filter(|arguments| !arguments.is_null());
        let arguments = arguments.unwrap_or_else(|| RawJson::from_static("{}"));
        match Object::read(&arguments) {
            Ok(_) => Ok(arguments),
            Err(error) if arguments.is_object() => Err(Fault::InvalidParams(format!("`arguments`: {error}"))),
            Err(_) => Err(Fault::InvalidParams("`arguments` must be an object".into())),
        }
    }

    async fn perform_builtin(
        self: &Arc<Self>,
        asker: &Asker,
        tool: &str,
        arguments: &RawJson,
    ) -> Result<RawJson, ToolsetError> {
        check_members(tool, arguments)?;
        match tool {
            "discover-all-tools" => {
                let asked = read::<DiscoverTools>(arguments)?;
                shown(&self.discover(asker, &asked)?)
            }
            "build-toolset" => shown(&self.build(asker, read::<BuildToolset>(arguments)?).await?),
            "list-toolsets" => {
                read::<ListToolsets>(arguments)?;
                shown(&self.list_toolsets(asker))
            }
            "equip-toolset" => shown(&self.equip(asker, read::<EquipToolset>(arguments)?).await?),
            "unequip-toolset" => shown(&self.unequip(asker, read::<UnequipToolset>(arguments)?).await?),
            "get-active-toolset" => {
                read::<ActiveToolset>(arguments)?;
                shown(&self.active(asker).await?)
            }
            _ => shown(&self.delete(asker, read::<DeleteToolset>(arguments)?).await?),
        }
    }

    fn done_builtin(
        &self,
        context: &Context,
        incoming: &Incoming,
        tool: &'static str,
        status: Status,
        result: mcpr_protocol::Rope,
    ) -> Done {
        let ending = Ending::of(status, StatusCode::OK, None);
        self.note_of(context, incoming, Some((SERVER, tool)), ending);
        Done {
            text: mcpr_protocol::Response::text(Some(&incoming.id), Ok(result)),
            status: StatusCode::OK,
        }
    }
}

/// Refuses what the schema of a tool does not name; operations know more, which is an operator's to say.
fn check_members(tool: &str, arguments: &RawJson) -> Result<(), ToolsetError> {
    let object = Object::read(arguments).map_err(|error| unfit(&error.to_string()))?;
    let takes = members_of(tool);
    let unknown = |(name, _): &(&str, RawJson)| !takes.iter().any(|known| known == name);
    let Some((name, _)) = object.members().find(unknown) else {
        return Ok(());
    };
    let known: Vec<String> = takes.iter().map(|name| format!("`{name}`")).collect();
    let known = match known.is_empty() {
        true => "nothing".to_owned(),
        false => known.join(", "),
    };
    Err(unfit(&format!("unknown field `{name}`; `{tool}` takes {known}")))
}

/// What the schema of a built-in tool names.
fn members_of(tool: &str) -> &'static [String] {
    static MEMBERS: OnceLock<Vec<(String, Vec<String>)>> = OnceLock::new();
    let all = MEMBERS.get_or_init(|| {
        let all: Vec<Value> = serde_json::from_str(DEFINITIONS).expect("the definitions are JSON");
        let told = |tool: &Value| {
            let members = tool["inputSchema"]["properties"].as_object();
            let names = members.into_iter().flatten().map(|(name, _)| name.clone());
            (
                tool["name"].as_str().unwrap_or_default().to_owned(),
                names.collect(),
            )
        };
        all.iter().map(told).collect()
    });
    let found = all.iter().find(|(name, _)| name == tool);
    found.map_or(&[], |(_, members)| members)
}

/// The arguments of a call as the operation that they are.
fn read<O: Operation>(arguments: &RawJson) -> Result<O, ToolsetError> {
    arguments.read().map_err(|error| unfit(&error.to_string()))
}

fn unfit(what: &str) -> ToolsetError {
    let text = format!("the arguments do not fit: {what}");
    Failure::new(ErrorCode::Invalid, text).into()
}

fn shown(output: &impl serde::Serialize) -> Result<RawJson, ToolsetError> {
    Ok(RawJson::render(output))
}

/// The result of a tool: its structure, and the same as text for clients that know no structure
/// (2025-06-18, tools: structured content).
fn answer(structure: &RawJson) -> RawJson {
    let text = RawJson::string(structure.as_str());
    RawJson::trusted(format!(
        r#"{{"content":[{{"type":"text","text":{}}}],"structuredContent":{}}}"#,
        text.as_str(),
        structure.as_str()
    ))
}

/// What the model can do better next time (2025-11-25, tools: error handling).
fn tool_error(failure: &Failure) -> RawJson {
    let hint = failure
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!("\n{hint}"));
    let text = format!("{}{hint}", failure.message);
    let text = Value::from(mcpr_telemetry::redact::cut(&text, LONGEST_ERROR));
    RawJson::render(&json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
}
