//! `tools call`: what the server says meanwhile goes to standard error, the result to standard output.

use std::time::Duration;

use mcpr_admin::{CallStep, CallTool, ExitCode};
use mcpr_protocol::RawJson;
use tokio::time::{Instant, interval_at};

use super::talk::Talk;
use crate::connect::Gateway;
use crate::interrupt::unless_interrupted;
use crate::out::Out;
use crate::out::content::ToolResult;
use crate::out::indent::indent;
use crate::out::look::Look;
use crate::out::text::printable;
use crate::problem::Problem;
use crate::suggest;

/// How often the time that has passed is shown anew.
const PULSE: Duration = Duration::from_secs(1);

/// Calls a tool and shows its result: for people, or with `raw` as it is.
pub(in crate::commands) async fn call(
    gateway: &Gateway,
    out: &Out,
    call: &CallTool,
    raw: bool,
) -> Result<ExitCode, Problem> {
    let name = &call.name;
    let result = match unless_interrupted(result_of(gateway, out, call)).await {
        Some(Ok(result)) => result,
        Some(Err(problem)) => return Err(suggest::tool(gateway, name, problem).await),
        None => {
            out.note(&format!("`{name}` was given up"));
            return Ok(ExitCode::Interrupted);
        }
    };
    let read: Option<ToolResult> = result.read().ok();
    let is_error = read.as_ref().is_some_and(|read| read.is_error);
    match raw {
        true => out.json(&result)?,
        false => out.report(&result, |result, look| shown(result, read.as_ref(), look))?,
    }
    if is_error {
        out.note(&format!("`{name}` says that it failed"));
    }
    Ok(if is_error { ExitCode::Failed } else { ExitCode::Ok })
}

/// Waits for the result, and passes on what is said until then.
async fn result_of(gateway: &Gateway, out: &Out, call: &CallTool) -> Result<RawJson, Problem> {
    let mut talk = Talk::about(&call.name, out);
    let mut pulse = interval_at(Instant::now() + PULSE, PULSE);
    let mut steps = gateway.stream(call).await?;
    loop {
        let step = tokio::select! {
            step = steps.next() => step?,
            _ = pulse.tick() => {
                talk.draw();
                continue;
            }
        };
        match step {
            Some(CallStep::Notification(notice)) => talk.hear(&notice),
            Some(CallStep::Result(result)) => return Ok(result),
            Some(CallStep::Error(failure)) => return Err(failure.into()),
            None => return Err(broke_off()),
        }
    }
}

fn broke_off() -> Problem {
    let problem = Problem::failed("the gateway ended before the result was there");
    problem.hint("whether the tool did its work is not known; look at `mcpr-ctl status`")
}

/// The texts of the result; as it is, if it has another shape than a result should have.
fn shown(raw: &RawJson, result: Option<&ToolResult>, look: &Look) -> String {
    let page = result.map_or_else(|| indent(raw) + "\n", ToolResult::page);
    if look.width.is_some() {
        printable(&page)
    } else {
        page
    }
}
