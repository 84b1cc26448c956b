//! Values that are read when somebody asks.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// One value that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    gauge: Gauge,
    labels: Vec<(&'static str, String)>,
    value: f64,
}

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gauge {
    /// Open sessions.
    Sessions,
    /// Whether a server takes requests.
    Up,
    /// Backends of a server by their state.
    Replicas,
    /// Requests that a server works on.
    InFlight,
    /// Requests that wait for a server.
    QueueDepth,
    /// Starts of a server's backends after the first of each; they only ever grow.
    Restarts,
    /// Lines of the log that found no room, or could not be written; they only ever grow.
    LogShed,
    /// Calls that are missing in the history; they only ever grow.
    HistoryShed,
}

/// What is read by this function.
pub(super) struct Readings(pub(super) Box<dyn Fn() -> Vec<Reading> + Send + Sync>);

impl Gauge {
    /// In the order in which they are told.
    const ALL: [Self; 8] = [
        Self::Sessions,
        Self::Up,
        Self::Replicas,
        Self::InFlight,
        Self::QueueDepth,
        Self::Restarts,
        Self::LogShed,
        Self::HistoryShed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Sessions => "mcpr_sessions",
            Self::Up => "mcpr_upstream_up",
            Self::Replicas => "mcpr_upstream_replicas",
            Self::InFlight => "mcpr_inflight",
            Self::QueueDepth => "mcpr_queue_depth",
            Self::Restarts => "mcpr_child_restarts",
            Self::LogShed => "mcpr_log_lines_shed",
            Self::HistoryShed => "mcpr_history_calls_shed",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions that are open.",
            Self::Up => "Whether a server takes requests.",
            Self::Replicas => "Backends of a server by their state.",
            Self::InFlight => "Requests that a server works on.",
            Self::QueueDepth => "Requests that wait for a server.",
            Self::LogShed => "Lines of the log that found no room or could not be written.",
            Self::HistoryShed => "Calls that are missing in the history.",
            Self::Restarts => "How often backends of a server were started after their first start.",
        }
    }

    fn kind(self) -> MetricType {
        match self {
            Self::Restarts | Self::LogShed | Self::HistoryShed => MetricType::Counter,
            _ => MetricType::Gauge,
        }
    }
}

impl Reading {
    /// A value with its labels.
    pub fn new(gauge: Gauge, labels: &[(&'static str, &str)], value: f64) -> Self {
        let labels = labels.iter().map(|(label, text)| (*label, (*text).to_owned()));
        Self {
            gauge,
            labels: labels.collect(),
            value,
        }
    }
}

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let readings = (self.0)();
        for gauge in Gauge::ALL {
            let mut of_gauge = readings
                .iter()
                .filter(|reading| reading.gauge == gauge)
                .peekable();
            if of_gauge.peek().is_none() {
                continue;
            }
            let mut family = encoder.encode_descriptor(gauge.name(), gauge.help(), None, gauge.kind())?;
            for reading in of_gauge {
                let metric = family.encode_family(&reading.labels)?;
                match gauge.kind() {
                    MetricType::Counter => ConstCounter::new(reading.value).encode(metric)?,
                    _ => ConstGauge::new(reading.value).encode(metric)?,
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readings(..)")
    }
}
