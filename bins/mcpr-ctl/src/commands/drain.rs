//! The end of the gateway, after the requests under way.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use mcpr_admin::{ClientError, Drain, Drained, ExitCode, Status};
use tokio::time::sleep;

use super::stop::gone;
use crate::cli::Global;
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::look::Look;
use crate::out::phrase::{counted, duration};
use crate::problem::Problem;

/// What the answer may take beside the wait.
const MARGIN: Duration = Duration::from_secs(30);

/// How often it is told how far it is.
const PERIOD: Duration = Duration::from_millis(500);

/// `drain`
pub(super) async fn drain(global: &Global, out: &Out, wait: Duration) -> Result<ExitCode, Problem> {
    let gateway = Gateway::locate(global)?;
    let outcome = told(&gateway, out, wait).await;
    out.clear();
    let drained = outcome?;
    gone(&gateway, drained.pid, global.timeout).await?;
    out.report(&drained, page)?;
    Ok(match drained.abandoned {
        0 => ExitCode::Ok,
        _ => ExitCode::Partly,
    })
}

/// Drains, and meanwhile tells how far it is.
async fn told(gateway: &Gateway, out: &Out, wait: Duration) -> Result<Drained, ClientError> {
    let drain = Drain {
        wait_ms: Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
    };
    tokio::select! {
        drained = gateway.ask_within(wait.saturating_add(MARGIN), &drain) => drained,
        never = progress(gateway, out) => match never {},
    }
}

async fn progress(gateway: &Gateway, out: &Out) -> Infallible {
    let since = Instant::now();
    loop {
        sleep(PERIOD).await;
        if let Ok(status) = gateway.ask(&Status {}).await {
            let busy = status.servers.iter().map(|server| server.in_flight).sum();
            let busy = counted(busy, "request");
            out.redraw(&format!(
                "draining: {busy} under way, {}",
                duration(since.elapsed())
            ));
        }
    }
}

fn page(drained: &Drained, _: &Look) -> String {
    let finished = counted(drained.finished, "request");
    let abandoned = match drained.abandoned {
        0 => String::new(),
        count => format!(", {} given up", counted(count, "request")),
    };
    format!(
        "drained mcpr (pid {}): {finished} finished{abandoned}\n",
        drained.pid
    )
}
