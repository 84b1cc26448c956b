//! Past calls, made again.

use mcpr_admin::{CallReport, CallTool, ExitCode, ShowCall};
use mcpr_protocol::RawJson;
use mcpr_telemetry::redact::MARK;

use crate::commands::tools;
use crate::connect::Gateway;
use crate::out::Out;
use crate::problem::Problem;

/// The server whose tools have no other name than their own.
const BUILT_IN: &str = "mcpr";

/// Calls a tool again with the arguments that it had.
pub(super) async fn replay(gateway: &Gateway, out: &Out, id: &str, raw: bool) -> Result<ExitCode, Problem> {
    let past = gateway.ask(&ShowCall { id: id.to_owned() }).await?;
    let call = again(&past)?;
    out.note(&format!(
        "calls `{}` again, as {} did at {}",
        call.name, past.principal, past.at
    ));
    tools::call(gateway, out, &call, raw).await
}

/// The call that repeats a past one.
fn again(past: &CallReport) -> Result<CallTool, Problem> {
    let (Some(server), Some(tool)) = (&past.server, &past.tool) else {
        let text = format!(
            "`{}` is a {}; only calls of tools can be repeated",
            past.id, past.method
        );
        return Err(Problem::failed(text).hint("see `mcpr-ctl resources read` and `mcpr-ctl prompts get`"));
    };
    let arguments = whole(past)?.clone();
    let name = match server.as_str() {
        BUILT_IN => tool.clone(),
        server => format!("{server}.{tool}"),
    };
    Ok(CallTool {
        name,
        arguments: Some(arguments),
    })
}

/// The arguments, if all of them were kept.
fn whole(past: &CallReport) -> Result<&RawJson, Problem> {
    let missing = match &past.arguments {
        Some(arguments) if !arguments.is_object() => "were cut",
        Some(arguments) if arguments.as_str().contains(MARK) => "were kept without what looks like a secret",
        Some(arguments) => return Ok(arguments),
        None => "were not kept",
    };
    let problem = Problem::failed(format!(
        "the arguments of `{}` {missing}, so it cannot be repeated",
        past.id
    ));
    Err(problem.hint(
        "with history.arguments = \"full\" later calls can be; this one: mcpr-ctl tools call NAME --json-args …",
    ))
}
