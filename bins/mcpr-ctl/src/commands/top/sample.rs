//! What the gateway and its servers have done in an interval.

use std::time::Instant;

use mcpr_admin::{ServerState, Status, StatusReport};
use serde::Serialize;

use super::memory::Memory;
use crate::connect::Gateway;
use crate::problem::Problem;

/// What scripts see of an interval.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sample {
    pub(super) version: String,
    pub(super) pid: u32,
    pub(super) uptime_seconds: u64,
    pub(super) sessions: u64,
    pub(super) in_flight: u64,
    pub(super) calls_total: u64,
    /// Absent where there is no earlier look to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls_per_second: Option<f64>,
    pub(super) errors_total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) errors_per_second: Option<f64>,
    /// Of the gateway itself; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory_bytes: Option<u64>,
    pub(super) servers: Vec<ServerSample>,
}

/// A server in an interval.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerSample {
    pub(super) name: String,
    #[serde(serialize_with = "word")]
    pub(super) state: ServerState,
    pub(super) in_flight: u64,
    pub(super) starts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<u32>,
    /// Of all its processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// Looks at a gateway again and again.
#[derive(Debug)]
pub(super) struct Sampler<'a> {
    gateway: &'a Gateway,
    before: Option<Look>,
}

/// In less seconds than this nothing can be said about what happens in one.
const TOO_SHORT: f64 = 0.05;

/// The counts at one time.
#[derive(Clone, Debug)]
struct Look {
    at: Instant,
    run: String,
    calls: u64,
    errors: u64,
}

impl<'a> Sampler<'a> {
    /// Has not looked yet.
    pub(super) fn new(gateway: &'a Gateway) -> Self {
        Self {
            gateway,
            before: None,
        }
    }

    /// Looks, and compares with the time before.
    pub(super) async fn sample(&mut self) -> Result<Sample, Problem> {
        let status = self.gateway.ask(&Status {}).await?;
        let now = Look::of(&status, Instant::now());
        // Numbers of processes of another machine mean nothing here.
        let memory = if self.gateway.is_local() {
            Memory::now()
        } else {
            Memory::default()
        };
        let before = self.before.replace(now.clone());
        Ok(Sample::of(
            status,
            before.and_then(|before| now.rates(&before)),
            &memory,
        ))
    }
}

impl Look {
    fn of(status: &StatusReport, at: Instant) -> Self {
        Self {
            at,
            run: format!("{} {}", status.pid, status.started_at),
            calls: status.calls_total,
            errors: status.errors_total,
        }
    }

    /// Calls and errors per second since then, in the same run.
    fn rates(&self, before: &Self) -> Option<(f64, f64)> {
        let seconds = self.at.duration_since(before.at).as_secs_f64();
        let rate =
            |now: u64, then: u64| (now.saturating_sub(then) as f64 / seconds * 1000.0).round() / 1000.0;
        let known = self.run == before.run && seconds >= TOO_SHORT;
        known.then(|| (rate(self.calls, before.calls), rate(self.errors, before.errors)))
    }
}

impl Sample {
    fn of(status: StatusReport, rates: Option<(f64, f64)>, memory: &Memory) -> Self {
        Self {
            in_flight: status.servers.iter().map(|server| server.in_flight).sum(),
            memory_bytes: memory.of_process(status.pid),
            calls_per_second: rates.map(|(calls, _)| calls),
            errors_per_second: rates.map(|(_, errors)| errors),
            version: status.version,
            pid: status.pid,
            uptime_seconds: status.uptime_seconds,
            sessions: status.sessions,
            calls_total: status.calls_total,
            errors_total: status.errors_total,
            servers: status
                .servers
                .into_iter()
                .map(|server| ServerSample {
                    memory_bytes: server.pid.and_then(|pid| memory.of_tree(pid)),
                    name: server.name,
                    state: server.state,
                    in_flight: server.in_flight,
                    starts: server.starts,
                    pid: server.pid,
                    reason: server.reason,
                })
                .collect(),
        }
    }
}

fn word<S: serde::Serializer>(state: &ServerState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.as_str())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ctl_01_rates_are_those_of_the_interval_and_of_one_run() {
        let start = Instant::now();
        let look = |run: &str, after: u64, calls, errors| Look {
            at: start + Duration::from_millis(after),
            run: run.to_owned(),
            calls,
            errors,
        };
        let first = look("a", 0, 100, 1);

        assert_eq!(look("a", 2000, 125, 1).rates(&first), Some((12.5, 0.0)));
        assert_eq!(look("a", 3000, 101, 2).rates(&first), Some((0.333, 0.333)));
        assert_eq!(look("a", 0, 125, 1).rates(&first), None);
        assert_eq!(look("b", 1000, 125, 1).rates(&first), None);
    }
}
