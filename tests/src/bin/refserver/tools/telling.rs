//! Tools that tell something while they work, or to those who listen.

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use super::{Call, Halt, Run, TaskUse, Tool, Work, failure, nothing, told};
use crate::hub::Notice;
use crate::resources;

/// How long one step takes.
const STEP: Duration = Duration::from_millis(50);

/// How long a client that was hung up on has to wait for its answer: longer than a gateway waits until it begins
/// a stream for a call that may be slow (HTTP-06).
const AWAY: Duration = Duration::from_millis(2500);

const fn tool(name: &'static str, description: &'static str, work: fn(Call) -> Work) -> Tool {
    Tool {
        name,
        description,
        schema: nothing,
        task: TaskUse::Never,
        run: Run::Work(work),
    }
}

pub(super) const TOOLS: &[Tool] = &[
    tool("test_error_handling", "Always fails", |_| {
        Box::pin(async { Ok(failure("This tool intentionally returns an error for testing")) })
    }),
    tool(
        "test_tool_with_logging",
        "Writes to the log in three steps",
        |call| Box::pin(log(call)),
    ),
    tool("test_logging_tool", "Writes to the log in three steps", |call| {
        Box::pin(log(call))
    }),
    tool(
        "test_tool_with_progress",
        "Tells its progress in three steps",
        |call| Box::pin(progress(call)),
    ),
    tool(
        "test_reconnection",
        "Hangs up before it answers, and lets the client fetch the answer",
        |call| Box::pin(reconnection(call)),
    ),
    tool(
        "test_trigger_tool_change",
        "Tells that the tools have changed",
        |call| announce(call, Notice::Tools),
    ),
    tool(
        "test_trigger_prompt_change",
        "Tells that the prompts have changed",
        |call| announce(call, Notice::Prompts),
    ),
    tool(
        "test_trigger_resource_update",
        "Tells that the watched resource has changed",
        |call| announce(call, Notice::Updated(resources::WATCHED.to_owned())),
    ),
];

async fn log(call: Call) -> Result<Value, Halt> {
    call.client.info("Tool execution started");
    sleep(STEP).await;
    call.client.info("Tool processing data");
    sleep(STEP).await;
    call.client.info("Tool execution completed");
    Ok(told("The work is logged."))
}

async fn progress(call: Call) -> Result<Value, Halt> {
    call.client.progress(0, 100);
    sleep(STEP).await;
    call.client.progress(50, 100);
    sleep(STEP).await;
    call.client.progress(100, 100);
    Ok(told("The work is done."))
}

async fn reconnection(call: Call) -> Result<Value, Halt> {
    sleep(STEP).await;
    call.client.voice.hang_up();
    sleep(AWAY).await;
    Ok(told("You have come back."))
}

fn announce(call: Call, notice: Notice) -> Work {
    call.server.hub.announce(&notice);
    Box::pin(async { Ok(told("Those who listen know it.")) })
}
