//! What is read of the gateway when somebody asks for its metrics: the states of servers and their backends.

use std::sync::{Arc, Weak};

use mcpr_telemetry::{Gauge, Reading};
use mcpr_upstream::{Phase, Server, Upstream};

use crate::gateway::Gateway;

/// The words for the states of a backend.
const STATES: [&str; 5] = ["ready", "starting", "idle", "down", "auth-required"];

/// Has the metrics tell of a gateway, for as long as it is there.
pub(crate) fn tell_of(gateway: &Arc<Gateway>) {
    let metrics = &gateway.metrics;
    let gateway = Arc::downgrade(gateway);
    metrics.collect(move || read(&gateway));
}

fn read(gateway: &Weak<Gateway>) -> Vec<Reading> {
    let Some(gateway) = gateway.upgrade() else {
        return Vec::new();
    };
    let mut readings = vec![
        Reading::new(Gauge::Sessions, &[], gateway.sessions.len() as f64),
        Reading::new(Gauge::HistoryShed, &[], gateway.history.shed() as f64),
    ];
    if let Some(log) = &gateway.log {
        let shed = log.shed() + log.lost();
        readings.push(Reading::new(Gauge::LogShed, &[], shed as f64));
    }
    for server in gateway.pool.all() {
        readings.extend(of_server(&gateway, &server));
    }
    readings
}

fn of_server(gateway: &Gateway, server: &Server) -> Vec<Reading> {
    let name = server.name.as_str();
    let of = |gauge, value: usize| Reading::new(gauge, &[("server", name)], value as f64);
    let seen = gateway.router().backends(&server.name);
    let mut readings = vec![
        of(Gauge::Up, usize::from(server.replica().is_some())),
        of(
            Gauge::InFlight,
            seen.iter().map(|backend| backend.in_flight).sum(),
        ),
        of(Gauge::QueueDepth, gateway.router().waiting(&server.name)),
        of(Gauge::Restarts, server.backends.iter().map(restarts).sum()),
    ];
    for state in STATES {
        let count = server
            .backends
            .iter()
            .filter(|backend| word(backend) == state)
            .count();
        let labels = [("server", name), ("state", state)];
        readings.push(Reading::new(Gauge::Replicas, &labels, count as f64));
    }
    readings
}

/// How often a backend was started after its first start.
fn restarts(backend: &Arc<Upstream>) -> usize {
    let starts = backend.look(|status| status.starts);
    usize::try_from(starts.saturating_sub(1)).unwrap_or(usize::MAX)
}

fn word(backend: &Upstream) -> &'static str {
    backend.look(|status| match status.phase {
        Phase::Ready => "ready",
        Phase::Starting => "starting",
        Phase::Idle => "idle",
        Phase::Down { .. } | Phase::Stopped => "down",
        Phase::AuthRequired { .. } => "auth-required",
    })
}
