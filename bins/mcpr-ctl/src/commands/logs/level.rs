//! What the running gateway logs.

use mcpr_admin::{ExitCode, LogReport, SetLogLevel, ShowLog};
use mcpr_telemetry::Level;

use crate::connect::Gateway;
use crate::out::Out;
use crate::out::facts::facts;
use crate::out::look::Look;
use crate::out::phrase::counted;
use crate::problem::Problem;

/// `logs level`
pub(super) async fn level(gateway: &Gateway, out: &Out, level: Option<Level>) -> Result<ExitCode, Problem> {
    let report = match level {
        Some(level) => {
            let level = level.to_string();
            gateway.ask(&SetLogLevel { level }).await?
        }
        None => gateway.ask(&ShowLog {}).await?,
    };
    out.report(&report, page)?;
    Ok(ExitCode::Ok)
}

fn page(report: &LogReport, _: &Look) -> String {
    let some = |count: u64, what| (count > 0).then(|| counted(count, what));
    let changed = report.level != report.configured;
    facts([
        ("level", Some(report.level.clone())),
        ("configured", changed.then(|| report.configured.clone())),
        ("file", report.file.clone()),
        ("left out, too slow", some(report.shed, "line")),
        ("lost, not writable", some(report.lost, "line")),
        ("missing in the history", some(report.history_shed, "call")),
    ])
}
