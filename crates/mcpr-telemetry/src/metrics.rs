//! What is counted, for Prometheus and whoever reads OpenMetrics (LOG-07).
//!
//! Names and buckets of the durations are those of the semantic conventions for MCP. A tool is a label only where the
//! catalog has it, and the number of series has an end, so that no caller can make them grow.

mod reading;

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use parking_lot::{Mutex, RwLock};
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::exemplar::HistogramWithExemplars;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram;
use prometheus_client::registry::{Metric, Registry, Unit};

use self::reading::Readings;
pub use self::reading::{Gauge, Reading};
use crate::{CallRecord, Status};

/// The upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// More series of durations than this are counted without their tool.
const MOST_SERIES: usize = 10_000;

/// The codes that JSON-RPC and MCP keep for themselves; a server may make up others without end.
const RESERVED: std::ops::RangeInclusive<i64> = -32_768..=-32_000;

/// Durations, each bucket with the request that it counted last.
type Histogram = HistogramWithExemplars<Exemplar>;

/// Durations of what has no number of its own.
type Durations<L> = Family<L, histogram::Histogram, fn() -> histogram::Histogram>;

/// Series by the hash of their labels.
type Series = HashMap<u64, Vec<(Operation, Counts)>, RandomState>;

/// Which request a bucket counted last: the way from a figure to a line of the log, a row of the history, a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Exemplar {
    request_id: u64,
    trace_id: Option<u128>,
}

/// Where a request counts.
#[derive(Clone)]
struct Counts {
    /// The whole of it.
    whole: Histogram,
    /// What its server took of that.
    server: histogram::Histogram,
}

/// The metrics of one gateway. Clones count together.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Mutex<Registry>,
    durations: Family<Operation, Histogram>,
    hops: Durations<ServerOperation>,
    /// The histogram of each series that was seen, by the hash of its labels.
    series: RwLock<Series>,
    /// Makes these hashes.
    hashes: RandomState,
    waits: Durations<OfServer>,
    sessions: Durations<OfSession>,
    connections: Durations<OfConnection>,
    retries: Family<OfServer, Counter>,
    auth_failures: Counter,
    turned_down: Family<OfReason, Counter>,
    list_changes: Counter,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct Operation {
    mcp_method_name: String,
    mcpr_server: String,
    gen_ai_tool_name: String,
    error_type: String,
    network_transport: &'static str,
    mcp_protocol_version: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ServerOperation {
    mcp_method_name: String,
    mcpr_server: String,
    gen_ai_tool_name: String,
    error_type: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfConnection {
    mcpr_server: String,
    mcp_protocol_version: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfSession {
    network_transport: &'static str,
    mcp_protocol_version: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfServer {
    server: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfReason {
    reason: &'static str,
}

impl Metrics {
    /// Metrics that have counted nothing yet.
    pub fn new() -> Self {
        let inner = Inner {
            registry: Mutex::new(Registry::default()),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS.into_iter())),
            series: RwLock::default(),
            hashes: RandomState::default(),
            waits: Durations::new_with_constructor(plain),
            sessions: Durations::new_with_constructor(plain),
            hops: Durations::new_with_constructor(plain),
            connections: Durations::new_with_constructor(plain),
            retries: Family::default(),
            auth_failures: Counter::default(),
            turned_down: Family::default(),
            list_changes: Counter::default(),
        };
        {
            let mut registry = inner.registry.lock();
            let requests = "How long requests of clients took";
            durations(
                &mut registry,
                "mcp_server_operation_duration",
                requests,
                &inner.durations,
            );
            let hops = "How long servers took for requests, from the last sending on";
            durations(&mut registry, "mcp_client_operation_duration", hops, &inner.hops);
            let sessions = "How long sessions of clients over HTTP lasted that have ended";
            durations(
                &mut registry,
                "mcp_server_session_duration",
                sessions,
                &inner.sessions,
            );
            let connections = "How long connections to servers lasted that have ended";
            durations(
                &mut registry,
                "mcp_client_session_duration",
                connections,
                &inner.connections,
            );
            let waits = "How long requests waited in line for a server that was at its limit";
            durations(&mut registry, "mcpr_queue_wait", waits, &inner.waits);
            let retries = "Requests that were sent again, to another backend or the same";
            registry.register("mcpr_retries", retries, inner.retries.clone());
            let failures = "Requests whose token was missing, wrong or out of date";
            registry.register("mcpr_auth_failures", failures, inner.auth_failures.clone());
            let refused = "Requests that were refused because there were too many, or before it was clear what they ask for";
            registry.register("mcpr_refused", refused, inner.turned_down.clone());
            let changes = "Notices to clients that a list has changed";
            registry.register("mcpr_list_changed", changes, inner.list_changes.clone());
        }
        Self(Arc::new(inner))
    }

    /// Adds what is read when somebody asks, such as the states of servers.
    pub fn collect(&self, read: impl Fn() -> Vec<Reading> + Send + Sync + 'static) {
        let readings = Readings(Box::new(read));
        self.0.registry.lock().register_collector(Box::new(readings));
    }

    /// Counts a request that has ended. Its method must be one that is known, or the same text for all others.
    pub fn count(&self, record: &CallRecord<'_>) {
        let exemplar = Exemplar {
            request_id: record.request_id,
            trace_id: record.trace.and_then(|trace| trace.sampled_id()),
        };
        let seconds = record.duration.as_secs_f64();
        let counts = self.0.series_of(record);
        // Whoever reads the metrics notes the time.
        counts.whole.observe(seconds, Some(exemplar), None);
        if let Some(steps) = record.steps {
            counts.server.observe(steps.server.as_secs_f64());
        }
    }

    /// Counts a request that has stood in line for a server, and has a place there now.
    pub fn waited(&self, server: &str, wait: Duration) {
        let server = server.to_owned();
        let waits = self.0.waits.get_or_create(&OfServer { server });
        waits.observe(wait.as_secs_f64());
    }

    /// Counts a session over HTTP that has ended, by the revision that its client speaks.
    pub fn session_ended(&self, version: &'static str, lasted: Duration) {
        let of = OfSession {
            network_transport: "tcp",
            mcp_protocol_version: version,
        };
        self.0.sessions.get_or_create(&of).observe(lasted.as_secs_f64());
    }

    /// Counts a connection to a server that has ended, by the version that was spoken on it.
    pub fn parted(&self, server: &str, version: &'static str, lasted: Duration) {
        let of = OfConnection {
            mcpr_server: server.to_owned(),
            mcp_protocol_version: version,
        };
        self.0
            .connections
            .get_or_create(&of)
            .observe(lasted.as_secs_f64());
    }

    /// Counts a request that is sent again.
    pub fn retried(&self, server: &str) {
        let server = server.to_owned();
        self.0.retries.get_or_create(&OfServer { server }).inc();
    }

    /// Counts a request that was not let in.
    pub fn refused(&self) {
        self.0.auth_failures.inc();
    }

    /// Counts a request that was refused, by a word of a short list.
    pub fn turned_down(&self, reason: &'static str) {
        self.0.turned_down.get_or_create(&OfReason { reason }).inc();
    }

    /// Counts notices that lists have changed.
    pub fn lists_changed(&self, notices: usize) {
        self.0.list_changes.inc_by(notices as u64);
    }

    /// All of it as text (OpenMetrics 1.0).
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing into a text cannot fail.
        let _ = encode(&mut text, &self.0.registry.lock());
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Inner {
    /// Where a record counts; found without making anything where it was seen before.
    fn series_of(&self, record: &CallRecord<'_>) -> Counts {
        let key = hash(&self.hashes, record);
        let known = |series: &Series| {
            let candidates = series.get(&key)?.iter();
            let mut fitting = candidates.filter(|(operation, _)| operation.is_of(record));
            fitting.next().map(|(_, counts)| counts.clone())
        };
        if let Some(counts) = known(&self.series.read()) {
            return counts;
        }
        let mut series = self.series.write();
        if let Some(counts) = known(&series) {
            return counts;
        }
        let operation = match series.len() < MOST_SERIES {
            true => Operation::of(record),
            false => return self.counts_of(&Operation::without_tool(record)),
        };
        let counts = self.counts_of(&operation);
        let of_key = series.entry(key).or_default();
        of_key.push((operation, counts.clone()));
        counts
    }

    fn counts_of(&self, operation: &Operation) -> Counts {
        let whole = self.durations.get_or_create(operation).clone();
        // What never gets to a server has no series of one.
        let server = match operation.mcpr_server.is_empty() {
            true => plain(),
            false => self.hops.get_or_create(&operation.at_server()).clone(),
        };
        Counts { whole, server }
    }
}

impl EncodeLabelSet for Exemplar {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let request = ("request_id", self.request_id.to_string());
        let trace = self.trace_id.map(|id| ("trace_id", format!("{id:032x}")));
        let labels: Vec<_> = std::iter::once(request).chain(trace).collect();
        labels.encode(encoder)
    }
}

impl Operation {
    fn of(record: &CallRecord<'_>) -> Self {
        Self {
            mcp_method_name: record.method.to_owned(),
            mcpr_server: record.server.unwrap_or_default().to_owned(),
            gen_ai_tool_name: record.tool.unwrap_or_default().to_owned(),
            error_type: error_type(record.status),
            network_transport: transport(record),
            mcp_protocol_version: record.version.to_owned(),
        }
    }

    fn at_server(&self) -> ServerOperation {
        ServerOperation {
            mcp_method_name: self.mcp_method_name.clone(),
            mcpr_server: self.mcpr_server.clone(),
            gen_ai_tool_name: self.gen_ai_tool_name.clone(),
            error_type: self.error_type.clone(),
        }
    }

    fn without_tool(record: &CallRecord<'_>) -> Self {
        Self {
            gen_ai_tool_name: String::new(),
            ..Self::of(record)
        }
    }

    fn is_of(&self, record: &CallRecord<'_>) -> bool {
        self.mcp_method_name == record.method
            && self.mcpr_server == record.server.unwrap_or_default()
            && self.gen_ai_tool_name == record.tool.unwrap_or_default()
            && self.network_transport == transport(record)
            && self.mcp_protocol_version == record.version
            && match record.status {
                Status::Ok => self.error_type.is_empty(),
                status => self.error_type == error_type(status),
            }
    }
}

/// Has a histogram of seconds be told.
fn durations<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: &M) {
    registry.register_with_unit(name, help, Unit::Seconds, metric.clone());
}

fn plain() -> histogram::Histogram {
    histogram::Histogram::new(BUCKETS)
}

fn hash(hashes: &RandomState, record: &CallRecord<'_>) -> u64 {
    let mut hasher = hashes.build_hasher();
    (record.method, record.server, record.tool).hash(&mut hasher);
    (transport(record), record.version).hash(&mut hasher);
    match record.status {
        Status::Ok => 0,
        Status::ToolError => 1,
        Status::Cancelled => 2,
        Status::Error(code) if RESERVED.contains(&code) => code,
        Status::Error(_) => 3, // One label for all of them.
    }
    .hash(&mut hasher);
    hasher.finish()
}

/// The label `error.type`; empty for none.
fn error_type(status: Status) -> String {
    match status {
        Status::Ok => String::new(),
        Status::ToolError => "tool_error".to_owned(),
        Status::Cancelled => "cancelled".to_owned(),
        Status::Error(code) if RESERVED.contains(&code) => code.to_string(),
        Status::Error(_) => "_OTHER".to_owned(),
    }
}

fn transport(record: &CallRecord<'_>) -> &'static str {
    if record.http.is_some() { "tcp" } else { "pipe" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Steps;

    fn record(tool: &str, status: Status) -> CallRecord<'_> {
        CallRecord {
            request_id: 1,
            correlation_id: "1",
            server: Some("git"),
            tool: Some(tool),
            method: "tools/call",
            version: "2025-11-25",
            duration: Duration::from_millis(15),
            status,
            principal: None,
            client: None,
            project: None,
            http: None,
            error: None,
            said: None,
            params: None,
            steps: None,
            trace: None,
        }
    }

    #[test]
    fn log_07_durations_are_told_in_the_words_of_the_conventions() {
        let metrics = Metrics::new();
        metrics.count(&record("status", Status::Ok));
        metrics.count(&record("status", Status::Ok));
        metrics.count(&record("status", Status::Error(-32603)));
        metrics.count(&record("push", Status::ToolError));
        metrics.retried("git");
        metrics.refused();
        metrics.turned_down("busy");
        metrics.waited("git", Duration::from_millis(250));
        metrics.session_ended("2025-11-25", Duration::from_secs(90));
        metrics.parted("git", "2025-06-18", Duration::from_secs(45));
        let steps = Steps {
            wait: Duration::from_millis(1),
            server: Duration::from_millis(12),
        };
        metrics.count(&CallRecord {
            steps: Some(steps),
            ..record("status", Status::Ok)
        });

        let told = metrics.render();

        let mut lines: Vec<_> = told.lines().filter(|line| !line.contains("_bucket")).collect();
        lines.sort_unstable();
        insta::assert_snapshot!(lines.join("\n"));
        let of_status = |line: &&str| {
            line.starts_with("mcp_server_operation_duration_seconds_bucket")
                && line.contains(r#""status""#)
                && line.contains(r#"error_type="""#)
        };
        let counts: Vec<_> = told
            .lines()
            .filter(of_status)
            .filter_map(|line| line.split(" # ").next()?.rsplit_once(' '))
            .collect();
        let (below, within) = (counts[0], counts[1]);
        assert!(below.0.contains(r#"le="0.01""#) && below.1 == "0", "{below:?}");
        assert!(within.0.contains(r#"le="0.02""#) && within.1 == "3", "{within:?}");
        assert!(told.ends_with("# EOF\n"));
    }

    #[test]
    fn log_07_errors_that_a_server_makes_up_are_one_series() {
        let metrics = Metrics::new();
        (0..2 * MOST_SERIES as i64).for_each(|code| metrics.count(&record("status", Status::Error(code))));
        metrics.count(&record("other", Status::Ok));

        let told = metrics.render();

        assert_eq!(
            told.matches("mcp_server_operation_duration_seconds_count{")
                .count(),
            2,
            "{told}"
        );
        assert!(told.contains(r#""other""#), "{told}");
    }

    #[test]
    fn log_07_a_bucket_names_the_request_that_it_counted_last() {
        let metrics = Metrics::new();
        metrics.count(&record("status", Status::Ok));
        metrics.count(&CallRecord {
            request_id: 42,
            ..record("status", Status::Ok)
        });

        let told = metrics.render();

        let named: Vec<_> = told.lines().filter_map(|line| line.split_once(" # ")).collect();
        assert_eq!(named.len(), 1, "{told}");
        assert_eq!(named[0].1, r#"{request_id="42"} 0.015"#);
    }

    #[test]
    fn log_07_the_number_of_series_has_an_end() {
        let metrics = Metrics::new();
        for number in 0..MOST_SERIES + 50 {
            metrics.count(&record(&format!("t{number}"), Status::Ok));
        }

        let told = metrics.render();

        let series = told
            .lines()
            .filter(|line| line.starts_with("mcp_server_operation_duration_seconds_count"));
        assert_eq!(series.clone().count(), MOST_SERIES + 1);
        let mut rest = series.filter(|line| line.contains(r#"gen_ai_tool_name="""#));
        assert!(rest.next_back().is_some_and(|line| line.ends_with(" 50")));
    }
}
