//! What people are told when a gateway starts.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use mcpr_admin::{ListServers, ServerReport, ServerState};
use mcpr_telemetry::printable;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::host::Host;
use crate::manager::{Manager, Notice};
use crate::out;
use crate::settings::Settings;

/// How soon it is looked first how servers are doing. Each pause is longer than the one before: the
/// last servers may take an hour.
const LOOK: Duration = Duration::from_millis(50);

/// The longest pause, and the usual one for the service manager, for as long as the gateway runs.
const GLANCE: Duration = Duration::from_secs(1);

/// The first lines: what runs where.
pub(crate) fn head(url: &str, settings: &Settings, log: Option<&Path>) -> String {
    let mut text = format!("mcpr {}  listening on {url}", env!("CARGO_PKG_VERSION"));
    for file in &settings.config.files {
        let _ = write!(text, "\n  config  {}", file.display());
    }
    if settings.config.files.is_empty() {
        let usual = settings.paths.config.display();
        let _ = write!(
            text,
            "\n  config  none: write {usual}, or name a file with --config"
        );
    }
    if let Some(log) = log {
        let _ = write!(text, "\n  log     {}", log.display());
    }
    text
}

/// Tells of each server once it is known how it is doing, and in the end how much there is.
pub(crate) async fn servers(host: &Host) {
    let began = Instant::now();
    let mut told = HashSet::new();
    let mut pause = LOOK;
    loop {
        let Ok(list) = host.gateway.operate(ListServers {}).await else {
            return;
        };
        let width = list
            .servers
            .iter()
            .map(|server| server.name.chars().count())
            .max()
            .unwrap_or(0);
        for server in list.servers.iter().filter(|server| is_settled(server)) {
            if told.insert(server.name.clone()) {
                out::tell(line(server, width, began.elapsed())).await;
            }
        }
        if list.servers.iter().all(|server| told.contains(&server.name)) {
            return out::tell(total(&list.servers)).await;
        }
        sleep(pause).await;
        pause = pause.mul_f32(1.1).min(GLANCE);
    }
}

/// Tells the service manager in a line how servers are doing.
pub(crate) async fn tell(host: &Host, manager: &Manager) {
    if !manager.listens() {
        return;
    }
    let mut looks = interval(GLANCE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let Ok(list) = host.gateway.operate(ListServers {}).await else {
            return;
        };
        manager.tell(Notice::Status(&total(&list.servers)));
    }
}

fn is_settled(server: &ServerReport) -> bool {
    !matches!(server.state, ServerState::Starting | ServerState::Stale)
}

fn line(server: &ServerReport, width: usize, after: Duration) -> String {
    let reason = server.reason.as_deref().unwrap_or("no reason is known");
    let (word, what) = match server.state {
        ServerState::Ok | ServerState::Degraded => (
            "ready",
            format!("{}  {:.1}s", offered(server), after.as_secs_f64()),
        ),
        ServerState::Idle => ("idle", "starts at its first use".to_owned()),
        ServerState::Disabled => ("off", "disabled in the configuration".to_owned()),
        ServerState::Misconfigured => ("config", reason.to_owned()),
        ServerState::AuthRequired => ("failed", format!("wants credentials: {reason}")),
        ServerState::Starting | ServerState::Stale | ServerState::Down => ("failed", reason.to_owned()),
    };
    printable(&format!("  {word:<6}  {:<width$}  {what}", server.name))
}

fn offered(server: &ServerReport) -> String {
    let counts = [
        (server.tools, "tool"),
        (server.prompts, "prompt"),
        (server.resources, "resource"),
    ];
    let counts = counts
        .into_iter()
        .filter_map(|(count, what)| counted(count?, what));
    let listed = counts.collect::<Vec<_>>().join(", ");
    if listed.is_empty() {
        "nothing to offer".to_owned()
    } else {
        listed
    }
}

fn counted(count: u64, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    }
}

fn total(servers: &[ServerReport]) -> String {
    let Some(all) = counted(servers.len() as u64, "server") else {
        return "no servers".to_owned();
    };
    let tools = servers.iter().filter_map(|server| server.tools).sum();
    let tools = counted(tools, "tool").unwrap_or_else(|| "no tools".to_owned());
    let ready = servers
        .iter()
        .filter(|server| server.state == ServerState::Ok)
        .count();
    format!("{tools}, {ready} of {all} ready; `mcpr-ctl status` shows more")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, state: ServerState, reason: Option<&str>) -> ServerReport {
        ServerReport {
            name: name.into(),
            state,
            via: None,
            protocol: None,
            tools: Some(12),
            prompts: Some(1),
            resources: Some(0),
            in_flight: 0,
            reason: reason.map(Into::into),
            retry_in_ms: None,
            pid: None,
            starts: 1,
            pins: None,
            backends: Vec::new(),
        }
    }

    #[test]
    fn every_server_is_told_of_in_one_line() {
        let servers = [
            server("git", ServerState::Ok, None),
            server("postgres", ServerState::Idle, None),
            server("slack", ServerState::AuthRequired, Some("HTTP 401")),
            server("jira", ServerState::Misconfigured, Some("JIRA_TOKEN is not set")),
            server("dead", ServerState::Down, Some("it ended with status 1")),
            server("old", ServerState::Disabled, None),
            server("odd", ServerState::Down, Some("\u{1b}]0;owned\u{7}")),
        ];
        let lines = servers
            .iter()
            .map(|server| line(server, 8, Duration::from_millis(420)));
        let text = lines.chain([total(&servers)]).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(text);
    }
}
