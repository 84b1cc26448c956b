//! How the gateway and its servers are doing.

use std::time::Duration;

use mcpr_admin::{ExitCode, Status, StatusReport};

use super::servers;
use crate::cli::Repeat;
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::facts::joined;
use crate::out::look::{Look, Paint};
use crate::out::phrase::{self, counted};
use crate::out::watch::{self, Shown};
use crate::problem::Problem;

/// `status`
pub(super) async fn show(
    gateway: &Gateway,
    out: &Out,
    repeat: Repeat,
    tell: bool,
) -> Result<ExitCode, Problem> {
    let ask = async || Ok(gateway.ask(&Status {}).await?);
    match watch::report(out, repeat, ask, page).await? {
        Shown::Once(status) if tell => Ok(health(&status)),
        shown => Ok(shown.code()),
    }
}

fn health(status: &StatusReport) -> ExitCode {
    match status.servers.iter().all(|server| server.is_fine()) {
        true => ExitCode::Ok,
        false => ExitCode::Partly,
    }
}

fn page(status: &StatusReport, look: &Look) -> String {
    let servers = match &status.servers[..] {
        [] => "no servers yet: add one to the configuration file\n".to_owned(),
        servers => servers::short(servers, look),
    };
    let pending = pending(status, look);
    format!(
        "{}\n{}{pending}\n{servers}",
        headline(status, look),
        places(status)
    )
}

/// What the configuration says and the gateway does not do yet.
fn pending(status: &StatusReport, look: &Look) -> String {
    joined(&status.needs_restart).map_or_else(String::new, |settings| {
        let what = format!("{settings}: counts after a restart of the gateway");
        format!("  {:<8}{}\n", "pending", look.paint(Paint::Uncertain, &what))
    })
}

fn headline(status: &StatusReport, look: &Look) -> String {
    let name = look.paint(Paint::Head, &format!("mcpr {}", status.version));
    let up = phrase::duration(Duration::from_secs(status.uptime_seconds));
    let sessions = counted(status.sessions, "session");
    let calls = counted(status.calls_total, "call");
    let errors = counted(status.errors_total, "error");
    format!(
        "{name} · up {up} · pid {} · {sessions} · {calls}, {errors}",
        status.pid
    )
}

/// Where it listens, what it has read and where it writes, one line each.
fn places(status: &StatusReport) -> String {
    let listen = status.listen.iter().map(|url| ("listen", url));
    let config = status.config_files.iter().map(|file| ("config", file));
    let log = status.log_file.iter().map(|file| ("log", file));
    listen
        .chain(config)
        .chain(log)
        .map(|(what, place)| format!("  {what:<8}{place}\n"))
        .collect()
}
