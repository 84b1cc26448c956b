//! The end of the gateway.

use std::time::Duration;

use mcpr_admin::{ClientError, ExitCode, Status, Stop};
use tokio::time::{sleep, timeout};

use crate::cli::Global;
use crate::connect::Gateway;
use crate::out::Out;
use crate::problem::Problem;

/// Calls that are under way get some time to finish.
const USUAL_LIMIT: Duration = Duration::from_secs(30);

/// How often it is looked whether the gateway has ended.
const PERIOD: Duration = Duration::from_millis(50);

/// `stop`
pub(super) async fn stop(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let gateway = Gateway::locate(global)?;
    let stopping = gateway.ask(&Stop {}).await?;
    gone(&gateway, stopping.pid, global.timeout).await?;
    out.report(&stopping, |stopping, _| {
        format!("stopped mcpr (pid {})\n", stopping.pid)
    })?;
    Ok(ExitCode::Ok)
}

/// Waits until the gateway has ended, at most so long.
pub(super) async fn gone(gateway: &Gateway, pid: u32, limit: Option<Duration>) -> Result<(), Problem> {
    let limit = limit.unwrap_or(USUAL_LIMIT);
    timeout(limit, ended(gateway))
        .await
        .map_err(|_| still_there(pid, limit))
}

/// Waits until nobody answers any more: the control socket goes away last.
async fn ended(gateway: &Gateway) {
    loop {
        match gateway.ask(&Status {}).await {
            Err(ClientError::NotRunning { .. } | ClientError::Unreachable { .. }) => return,
            _ => sleep(PERIOD).await,
        }
    }
}

fn still_there(pid: u32, limit: Duration) -> Problem {
    let problem = Problem::late(format!("the gateway (pid {pid}) has not ended within {limit:?}"));
    problem.hint("calls may be under way; wait longer with --timeout, or end it with `kill -9`")
}
