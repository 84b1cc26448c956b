//! What the variables of OpenTelemetry say of how spans wait and go, within what can be had.
//!
//! The SDK takes them as they are: a queue is allocated for as many spans as they say, and a delay of nothing never rests.

use std::env;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::time::Duration;

use opentelemetry_sdk::trace::{BatchConfig, BatchConfigBuilder};
use tracing::warn;

const QUEUE: RangeInclusive<u64> = 1..=65_536;
/// No batch is larger, whatever the queue: with spans as long as they may be the exporter still takes it.
const BATCH_MAX: u64 = 8_192;
/// In milliseconds.
const DELAY: RangeInclusive<u64> = 100..=3_600_000;
/// In milliseconds.
const TIMEOUT: RangeInclusive<u64> = 100..=600_000;

/// How spans wait and go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Settings {
    /// How many spans wait at most.
    queue: u64,
    /// How many are sent at once.
    batch: u64,
    /// How long they wait, in milliseconds.
    delay: u64,
    /// How long the collector may take for a batch, in milliseconds.
    timeout: u64,
}

/// A value that is not taken as it is.
#[derive(PartialEq, Eq, Debug)]
struct Changed {
    variable: &'static str,
    said: String,
    taken: u64,
}

/// Reads numbers, and keeps in mind which were others.
struct Reader<L> {
    look: L,
    changed: Vec<Changed>,
}

/// Where the variables of this process send spans, if anywhere.
pub(super) fn address() -> Option<String> {
    address_in(|name| env::var(name).ok())
}

fn address_in(look: impl Fn(&str) -> Option<String>) -> Option<String> {
    let said = |name| look(name).filter(|value| !value.is_empty());
    let is_off = said("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || said("OTEL_TRACES_EXPORTER").is_some_and(|exporter| exporter == "none");
    let of_all = || {
        let base = said("OTEL_EXPORTER_OTLP_ENDPOINT")?;
        Some(format!("{}/v1/traces", base.strip_suffix('/').unwrap_or(&base)))
    };
    let address = || said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(of_all);
    (!is_off).then(address).flatten()
}

impl Settings {
    /// What the variables of this process say. What of it cannot be taken as it is, is told.
    pub(super) fn in_force() -> Self {
        let (settings, changed) = Self::read(|name| env::var(name).ok());
        changed.iter().for_each(Changed::tell);
        settings
    }

    /// What the variables say, as this finds them, and what of it cannot be taken as it is.
    fn read(look: impl Fn(&str) -> Option<String>) -> (Self, Vec<Changed>) {
        let mut reader = Reader {
            look,
            changed: Vec::new(),
        };
        let queue = reader.number(&["OTEL_BSP_MAX_QUEUE_SIZE"], 2_048, QUEUE);
        let settings = Self {
            queue,
            batch: reader.number(&["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"], 512, 1..=queue.min(BATCH_MAX)),
            delay: reader.number(&["OTEL_BSP_SCHEDULE_DELAY"], 5_000, DELAY),
            timeout: reader.number(
                &["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"],
                10_000,
                TIMEOUT,
            ),
        };
        (settings, reader.changed)
    }

    pub(super) fn batches(&self) -> BatchConfig {
        let count = |count| usize::try_from(count).unwrap_or(usize::MAX);
        BatchConfigBuilder::default()
            .with_max_queue_size(count(self.queue))
            .with_max_export_batch_size(count(self.batch))
            .with_scheduled_delay(Duration::from_millis(self.delay))
            .build()
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout)
    }
}

impl Changed {
    fn tell(&self) {
        let Self {
            variable,
            said,
            taken,
        } = self;
        warn!(
            variable,
            said, taken, "a variable of OpenTelemetry is taken to say something else"
        );
    }
}

impl<L: Fn(&str) -> Option<String>> Reader<L> {
    /// The first of these variables that says something, as a number within the range.
    fn number(&mut self, names: &[&'static str], usual: u64, range: RangeInclusive<u64>) -> u64 {
        let within = |number: u64| number.clamp(*range.start(), *range.end());
        let mut said = names.iter().filter_map(|name| Some((*name, (self.look)(name)?)));
        let Some((variable, said)) = said.find(|(_, said)| !said.trim().is_empty()) else {
            return within(usual);
        };
        let taken = within(match said.trim().parse() {
            Ok(number) => number,
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => u64::MAX,
            Err(_) => usual,
        });
        if said.trim().parse() != Ok(taken) {
            self.changed.push(Changed {
                variable,
                said,
                taken,
            });
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_in(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, said)| (*said).to_owned())
        }
    }

    /// What is read of these variables: queue, batch, delay and timeout, and who was changed to what.
    fn read(variables: &[(&str, &str)]) -> ([u64; 4], Vec<(&'static str, u64)>) {
        let (settings, changed) = Settings::read(look_in(variables));
        let changed = changed.iter().map(|changed| (changed.variable, changed.taken));
        let Settings {
            queue,
            batch,
            delay,
            timeout,
        } = settings;
        ([queue, batch, delay, timeout], changed.collect())
    }

    const QUEUE: &str = "OTEL_BSP_MAX_QUEUE_SIZE";
    const BATCH: &str = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE";
    const DELAY: &str = "OTEL_BSP_SCHEDULE_DELAY";
    const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
    const TRACES_TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT";

    #[test]
    fn log_07_the_address_is_that_of_traces_or_below_that_of_all() {
        const ALL: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/");
        const TRACES: (&str, &str) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces/x");
        let address = |variables: &[(&str, &str)]| address_in(look_in(variables));
        assert_eq!(address(&[ALL]).as_deref(), Some("http://all:4318/v1/traces"));
        assert_eq!(address(&[ALL, TRACES]).as_deref(), Some("http://traces/x"));
        assert_eq!(address(&[ALL, (TRACES.0, "")]), address(&[ALL]));
        for off in [("OTEL_SDK_DISABLED", "True"), ("OTEL_TRACES_EXPORTER", "none")] {
            assert_eq!(address(&[ALL, off]), None);
        }
        assert_eq!(address(&[]), None);
    }

    #[test]
    fn sec_05_what_the_variables_say_counts_where_it_can_be_had() {
        assert_eq!(read(&[]), ([2_048, 512, 5_000, 10_000], vec![]));
        let said = [
            (QUEUE, "10000"),
            (BATCH, " 4096 "),
            (DELAY, "100"),
            (TRACES_TIMEOUT, "2000"),
            (TIMEOUT, "x"),
        ];
        assert_eq!(read(&said), ([10_000, 4_096, 100, 2_000], vec![]));
        // A small queue makes small batches: nobody has said anything else.
        assert_eq!(
            read(&[(QUEUE, "100"), (TIMEOUT, "")]),
            ([100, 100, 5_000, 10_000], vec![])
        );
    }

    #[test]
    fn sec_05_what_cannot_be_had_is_changed_and_told() {
        let most = u64::MAX.to_string();
        for huge in [most.as_str(), "999999999999999999999999999999"] {
            let said = [(QUEUE, huge), (BATCH, huge), (DELAY, huge), (TIMEOUT, huge)];
            let taken = [65_536, 8_192, 3_600_000, 600_000];
            let changed = [QUEUE, BATCH, DELAY, TIMEOUT].into_iter().zip(taken);
            assert_eq!(read(&said), (taken, changed.collect()));
        }
        let nothing = [(QUEUE, "0"), (BATCH, "0"), (DELAY, "0"), (TRACES_TIMEOUT, "0")];
        let changed = vec![(QUEUE, 1), (BATCH, 1), (DELAY, 100), (TRACES_TIMEOUT, 100)];
        assert_eq!(read(&nothing), ([1, 1, 100, 100], changed));
        let odd = [(QUEUE, "many"), (DELAY, "-1"), (BATCH, "1e3")];
        let changed = vec![(QUEUE, 2_048), (BATCH, 512), (DELAY, 5_000)];
        assert_eq!(read(&odd), ([2_048, 512, 5_000, 10_000], changed));
    }
}
