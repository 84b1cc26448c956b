//! How the gateway and its servers are doing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcpr_admin::{
    BackendReport, ErrorCode, Execute, Failure, ListServers, ServerList, ServerReport, ServerState, Status,
    StatusReport, Stop, Stopping, Via,
};
use mcpr_auth::{Principal, Timestamp};
use mcpr_config::{ServerEntry, Via as ConfiguredVia};
use mcpr_registry::{Kind, ServerState as Listed};
use mcpr_router::BackendSeen;
use mcpr_upstream::{BackendSpec, Phase, Server, Upstream};

use super::{Operator, pins};
use crate::events::Seen;
use crate::gateway::Gateway;
use crate::plan::{Plan, Standing};

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
                .plan()
                .files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            log_file: gateway
                .facts
                .log_file
                .as_ref()
                .map(|file| file.display().to_string()),
            needs_restart: gateway.started_with.needs_restart(&gateway.plan().options),
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
        self.gateway.leave();
        let gateway = self.gateway.clone();
        // Whoever runs the gateway may do it too; a stop is a stop.
        self.gateway.tasks.spawn(async move {
            gateway.finish(gateway.grace()).await;
        });
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
        let plan = gateway.plan();
        reports = plan
            .entries()
            .map(|entry| report(gateway, &plan, entry))
            .collect();
        if gateway.is_caught_up() {
            break; // Nothing has changed between the lists and the look at the servers.
        }
    }
    reports
}

impl Operator {
    /// How one server is, once the lists say so too.
    pub(super) async fn server(&self, name: &str) -> Result<ServerReport, Failure> {
        let servers = servers(&self.gateway).await;
        let found = servers.into_iter().find(|server| server.name == name);
        found.ok_or_else(|| Failure::new(ErrorCode::NotFound, format!("there is no server `{name}`")))
    }
}

fn report(gateway: &Gateway, plan: &Plan, entry: &ServerEntry) -> ServerReport {
    let server = gateway.pool.get(&entry.name);
    let status = server.as_ref().map(|server| server.status());
    let replica = status.as_ref().and_then(|status| status.replica.as_ref());
    let offers = status.as_ref().and_then(|status| status.offers.as_ref());
    let count = |kind| offers.map(|offers| offers.items(kind).len() as u64);
    let (state, reason) = how_it_is(gateway, plan, entry, status.as_ref());
    let only = server
        .as_ref()
        .is_none_or(|server| server.only_backend().is_some());
    let backends = server.as_ref().filter(|_| !only);
    let backends = backends.map_or_else(Vec::new, |server| backends_of(gateway, server));
    ServerReport {
        name: entry.name.to_string(),
        state: degraded(state, &backends),
        via: entry.via.map(via),
        protocol: replica.map(|replica| replica.version.to_string()),
        tools: count(Kind::Tools),
        prompts: count(Kind::Prompts),
        resources: count(Kind::Resources)
            .zip(count(Kind::Templates))
            .map(|(resources, templates)| resources + templates),
        in_flight: match only {
            true => replica.map_or(0, |replica| replica.in_flight() as u64),
            false => backends.iter().map(|backend| backend.in_flight).sum(),
        },
        reason,
        retry_in_ms: status
            .as_ref()
            .and_then(mcpr_upstream::Status::retry_in)
            .map(millis),
        pid: replica.filter(|_| only).and_then(|replica| replica.pid),
        starts: status.map_or(0, |status| status.starts),
        pins: gateway
            .snapshot()
            .judged(&entry.name)
            .and_then(|judged| pins::counts(judged)),
        backends,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How the backends of a server are.
fn backends_of(gateway: &Gateway, server: &Server) -> Vec<BackendReport> {
    let specs = server.backends.iter().zip(&server.spec.backends);
    let seen = gateway.router().backends(&server.name);
    specs
        .zip(seen)
        .map(|((upstream, spec), seen)| backend(gateway, upstream, spec, seen))
        .collect()
}

fn backend(gateway: &Gateway, upstream: &Upstream, spec: &BackendSpec, seen: BackendSeen) -> BackendReport {
    let status = upstream.status();
    let replica = status.replica.as_ref();
    let reason = status
        .reason()
        .map(|reason| gateway.secrets.scrub(reason).into_owned());
    BackendReport {
        backend: upstream.label.to_string(),
        state: as_phase(&status),
        protocol: replica.map(|replica| replica.version.to_string()),
        in_flight: seen.in_flight as u64,
        reason,
        retry_in_ms: status.retry_in().map(millis),
        shunned_for_ms: seen.shunned_for.map(millis),
        pid: replica.and_then(|replica| replica.pid),
        starts: status.starts,
        tags: spec.tags.clone(),
    }
}

/// A server that works, but not with all that it has.
fn degraded(state: ServerState, backends: &[BackendReport]) -> ServerState {
    let well = |backend: &BackendReport| backend.state.is_fine() && backend.shunned_for_ms.is_none();
    match state {
        ServerState::Ok if !backends.iter().all(well) => ServerState::Degraded,
        state => state,
    }
}

/// How every server is at this moment.
pub(crate) fn how_servers_are(gateway: &Gateway) -> Vec<Seen> {
    let plan = gateway.plan();
    let seen = |entry: &Arc<ServerEntry>| {
        let status = gateway.pool.get(&entry.name).map(|upstream| upstream.status());
        let (state, reason) = how_it_is(gateway, &plan, entry, status.as_ref());
        (entry.name.clone(), state, reason)
    };
    plan.entries().map(seen).collect()
}

/// How a server is, and why.
fn how_it_is(
    gateway: &Gateway,
    plan: &Plan,
    entry: &ServerEntry,
    status: Option<&mcpr_upstream::Status>,
) -> (ServerState, Option<String>) {
    let (state, reason) = state(plan.standing(entry), status);
    let reason = reason.map(|reason| gateway.secrets.scrub(&reason).into_owned());
    (as_listed(gateway, entry, state), reason)
}

fn state(standing: Standing<'_>, status: Option<&mcpr_upstream::Status>) -> (ServerState, Option<String>) {
    match standing {
        Standing::Misconfigured(fault) => return (ServerState::Misconfigured, Some(fault.reason())),
        Standing::OffInFile => return (ServerState::Disabled, None),
        Standing::SwitchedOff => {
            return (ServerState::Disabled, Some("turned off by an operator".into()));
        }
        Standing::On(_) => {}
    }
    let Some(status) = status else {
        return (ServerState::Down, None);
    };
    (as_phase(status), status.reason().map(str::to_owned))
}

fn as_phase(status: &mcpr_upstream::Status) -> ServerState {
    match &status.phase {
        Phase::Idle => ServerState::Idle,
        Phase::Starting if status.offers.is_some() => ServerState::Stale,
        Phase::Starting => ServerState::Starting,
        Phase::Ready if status.doubt.is_some() => ServerState::Degraded,
        Phase::Ready => ServerState::Ok,
        Phase::Down { .. } | Phase::Stopped => ServerState::Down,
        Phase::AuthRequired { .. } => ServerState::AuthRequired,
    }
}

/// A server that has just become ready counts as ready when the lists say so too.
fn as_listed(gateway: &Gateway, entry: &ServerEntry, state: ServerState) -> ServerState {
    match (state, gateway.snapshot().states.get(&entry.name)) {
        (ServerState::Ok | ServerState::Degraded, Some(Listed::Starting)) => ServerState::Starting,
        (ServerState::Ok | ServerState::Degraded, Some(Listed::Stale)) => ServerState::Stale,
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
