//! How the gateway and its servers are doing.

use std::sync::atomic::Ordering;

use mcpr_admin::{
    Execute, Failure, ListServers, ServerList, ServerReport, ServerState, Status, StatusReport, Stop,
    Stopping, Via,
};
use mcpr_auth::{Principal, Timestamp};
use mcpr_config::{ServerEntry, ServerState as Configured, Via as ConfiguredVia};
use mcpr_registry::{Kind, ServerState as Listed};
use mcpr_upstream::Phase;

use super::Operator;
use crate::gateway::Gateway;

impl Execute<Status, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: Status) -> Result<StatusReport, Failure> {
        let gateway = &self.gateway;
        let servers = servers(gateway).await;
        let started = gateway.started_at;
        let since_epoch = started
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        Ok(StatusReport {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            uptime_seconds: started.elapsed().unwrap_or_default().as_secs(),
            started_at: Timestamp::from_unix(i64::try_from(since_epoch).unwrap_or_default()).to_string(),
            listen: gateway.facts.listen.clone(),
            config_files: gateway
                .facts
                .config_files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            log_file: gateway
                .facts
                .log_file
                .as_ref()
                .map(|file| file.display().to_string()),
            sessions: gateway.sessions.len() as u64,
            calls_total: gateway.finished.load(Ordering::Relaxed),
            errors_total: gateway.failed.load(Ordering::Relaxed),
            servers,
        })
    }
}

impl Execute<ListServers, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: ListServers) -> Result<ServerList, Failure> {
        Ok(ServerList {
            servers: servers(&self.gateway).await,
        })
    }
}

impl Execute<Stop, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: Stop) -> Result<Stopping, Failure> {
        tracing::info!("an operator stops the gateway");
        self.gateway.stop.cancel();
        Ok(Stopping {
            pid: std::process::id(),
        })
    }
}

/// How often it is looked again while servers change faster than the lists follow.
const LOOKS: usize = 8;

/// How the servers are, once the lists say so too.
async fn servers(gateway: &Gateway) -> Vec<ServerReport> {
    let mut reports = Vec::new();
    for _ in 0..LOOKS {
        gateway.caught_up().await;
        reports = gateway
            .order
            .iter()
            .map(|name| report(gateway, &gateway.servers[name]))
            .collect();
        if gateway.is_caught_up() {
            break; // Nothing has changed between the lists and the look at the servers.
        }
    }
    reports
}

fn report(gateway: &Gateway, entry: &ServerEntry) -> ServerReport {
    let status = gateway.pool.get(&entry.name).map(|upstream| upstream.status());
    let replica = status.as_ref().and_then(|status| status.replica.as_ref());
    let offers = status.as_ref().and_then(|status| status.offers.as_ref());
    let count = |kind| offers.map(|offers| offers.items(kind).len() as u64);
    let (state, reason) = state(entry, status.as_ref());
    let state = as_listed(gateway, entry, state);
    ServerReport {
        name: entry.name.to_string(),
        state,
        via: entry.via.map(via),
        protocol: replica.map(|replica| replica.version.to_string()),
        tools: count(Kind::Tools),
        prompts: count(Kind::Prompts),
        resources: count(Kind::Resources)
            .zip(count(Kind::Templates))
            .map(|(resources, templates)| resources + templates),
        in_flight: replica.map_or(0, |replica| replica.in_flight() as u64),
        reason: reason.map(|reason| gateway.secrets.scrub(&reason).into_owned()),
        retry_in_ms: status
            .as_ref()
            .and_then(mcpr_upstream::Status::retry_in)
            .map(|wait| wait.as_millis() as u64),
        pid: replica.and_then(|replica| replica.pid),
        starts: status.map_or(0, |status| status.starts),
    }
}

fn state(entry: &ServerEntry, status: Option<&mcpr_upstream::Status>) -> (ServerState, Option<String>) {
    match &entry.state {
        Configured::Misconfigured(fault) => return (ServerState::Misconfigured, Some(fault.reason())),
        Configured::Disabled => return (ServerState::Disabled, None),
        Configured::Enabled(_) => {}
    }
    let Some(status) = status else {
        return (ServerState::Down, None);
    };
    let state = match &status.phase {
        Phase::Idle => ServerState::Idle,
        Phase::Starting if status.offers.is_some() => ServerState::Stale,
        Phase::Starting => ServerState::Starting,
        Phase::Ready => ServerState::Ok,
        Phase::Down { .. } | Phase::Stopped => ServerState::Down,
        Phase::AuthRequired { .. } => ServerState::AuthRequired,
    };
    (state, status.reason().map(str::to_owned))
}

/// A server that has just become ready counts as ready when the lists say so too.
fn as_listed(gateway: &Gateway, entry: &ServerEntry, state: ServerState) -> ServerState {
    match (state, gateway.snapshot().states.get(&entry.name)) {
        (ServerState::Ok, Some(Listed::Starting)) => ServerState::Starting,
        (ServerState::Ok, Some(Listed::Stale)) => ServerState::Stale,
        _ => state,
    }
}

fn via(via: ConfiguredVia) -> Via {
    match via {
        ConfiguredVia::Stdio => Via::Stdio,
        ConfiguredVia::Http => Via::Http,
        ConfiguredVia::Sse => Via::Sse,
    }
}
