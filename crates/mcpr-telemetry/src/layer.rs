//! Brings `tracing` events into the journal.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::reload;

use crate::field;
use crate::journal::Journal;
use crate::level::{FATAL_TARGET, Level};
use crate::line::{Clip, Line};

/// The way to another level at run time.
pub(crate) type Filter = reload::Handle<Targets, Registry>;

/// Writes each event, with the fields of the spans it happened in.
struct JournalLayer(Arc<Journal>);

/// The fields of a span and of those around it; an inner one hides an outer one of its name.
#[derive(Clone, Default)]
struct SpanFields(Vec<(&'static str, String)>);

/// Writes the fields of an event into a line.
struct EventVisitor<'l, 'a>(&'l mut Line<'a>);

/// The subscriber that writes to the journal.
pub(crate) fn subscriber(journal: &Arc<Journal>) -> (impl Subscriber + Send + Sync + use<>, Filter) {
    let (filter, handle) = reload::Layer::new(filter(journal.level()));
    (
        Registry::default()
            .with(filter)
            .with(JournalLayer(Arc::clone(journal))),
        handle,
    )
}

/// What is let through at a level.
///
/// Other people's crates are heard from `warn` on: what they tell below that may be bytes of the
/// wire, and payloads are never logged, at no level.
pub(crate) fn filter(level: Level) -> Targets {
    let ours = match level {
        Level::Trace => LevelFilter::TRACE,
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Warn => LevelFilter::WARN,
        Level::Error => LevelFilter::ERROR,
        Level::Fatal => return Targets::new().with_target(FATAL_TARGET, LevelFilter::ERROR),
    };
    Targets::new()
        .with_default(ours.min(LevelFilter::WARN))
        .with_target("mcpr", ours)
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for JournalLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let outer = span
            .parent()
            .and_then(|parent| parent.extensions().get::<SpanFields>().cloned());
        let mut fields = outer.unwrap_or_default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<SpanFields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let outer = context.event_span(event);
        let outer = outer.and_then(|span| span.extensions().get::<SpanFields>().cloned());
        self.0.write(Level::of(metadata), |line| {
            line.target(metadata.target());
            event.record(&mut EventVisitor(line));
            outer.unwrap_or_default().fill(line, metadata);
            self.fill_source(line, metadata);
        });
    }
}

impl JournalLayer {
    /// The place in the source, for those who develop mcpr.
    fn fill_source(&self, line: &mut Line<'_>, metadata: &Metadata<'_>) {
        let wanted = cfg!(debug_assertions) && self.0.wants(Level::Debug);
        if let Some((file, number)) = metadata.file().zip(metadata.line()).filter(|_| wanted) {
            line.clip(field::SOURCE, &Clip::of(format_args!("{file}:{number}")));
        }
    }
}

impl SpanFields {
    fn set(&mut self, field: &Field, value: String) {
        self.0.retain(|(name, _)| *name != field.name());
        self.0.push((field.name(), value));
    }

    /// Writes those fields that the event does not have itself.
    fn fill(&self, line: &mut Line<'_>, event: &Metadata<'_>) {
        let outer = self
            .0
            .iter()
            .filter(|(name, _)| event.fields().field(name).is_none());
        outer.for_each(|(name, value)| line.text(key(name), value));
    }
}

impl Visit for SpanFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}

impl Visit for EventVisitor<'_, '_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.0.message(value),
            name => self.0.text(key(name), value),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.bare(key(field.name()), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.bare(key(field.name()), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.bare(key(field.name()), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.0.bare(key(field.name()), value);
        } else {
            self.record_debug(field, &value); // JSON has no number for it.
        }
    }

    fn record_error(&mut self, field: &Field, error: &(dyn Error + 'static)) {
        let chain = Chain(error);
        self.0.clip(key(field.name()), &Clip::of(format_args!("{chain}")));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0
            .clip(key(field.name()), &Clip::of(format_args!("{value:?}")));
    }
}

/// An error and its causes, one after the other.
struct Chain<'e>(&'e (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut causes = std::iter::successors(self.0.source(), |cause| (*cause).source());
        causes.try_for_each(|cause| write!(f, ": {cause}"))
    }
}

/// The key of a field; those that every line has are not written twice.
fn key(name: &'static str) -> &'static str {
    match name {
        "timestamp" => "timestamp_",
        "level" => "level_",
        "target" => "target_",
        "cut" => "cut_",
        name => name.strip_prefix("r#").unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Capture;
    use crate::level::Format;
    use tracing::{debug, debug_span, error, info, trace, warn};

    fn told(level: Level, format: Format, story: impl FnOnce()) -> Vec<String> {
        let capture = Capture::standing_still(level, format);
        capture.secrets().add("S3CRET1");
        tracing::dispatcher::with_default(&capture.dispatch(), story);
        capture.lines()
    }

    fn one_of_each() {
        trace!("trace");
        debug!("debug");
        info!("info");
        warn!("warn");
        error!("error");
        crate::fatal!("fatal");
    }

    #[test]
    fn log_01_each_level_tells_itself_and_what_is_graver() {
        let told = Level::ALL.map(|level| told(level, Format::Json, one_of_each).len());
        assert_eq!(told, [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn log_01_the_level_can_be_changed_at_run_time() {
        let capture = Capture::new(Level::Fatal, Format::Json);
        let (subscriber, handle) = subscriber(capture.journal());
        tracing::subscriber::with_default(subscriber, || {
            one_of_each();
            handle.reload(filter(Level::Trace)).unwrap();
            one_of_each();
        });
        assert_eq!(capture.lines().len(), 1 + 6);
    }

    #[test]
    fn log_04_other_crates_are_heard_from_warn_on() {
        let lines = told(Level::Trace, Format::Pretty, || {
            tracing::trace!(target: "hyper::proto", "read 512 bytes");
            tracing::info!(target: "hyper::proto", "connected");
            tracing::warn!(target: "hyper::proto", "odd");
        });
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn log_01_an_event_is_one_line_with_its_fields() {
        let story = || {
            let cause = io_error();
            info!(
                server = "git",
                attempt = 2,
                share = 0.5,
                ready = false,
                nan = f64::NAN,
                level = "odd",
                error = &cause as &dyn Error,
                token = ?Some("S3CRET1"),
                "server {} restarted",
                "git"
            );
        };
        insta::assert_snapshot!(told(Level::Info, Format::Json, story).concat(), @r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"info","target":"mcpr_telemetry::layer::tests","message":"server git restarted","server":"git","attempt":2,"share":0.5,"ready":false,"nan":"NaN","level_":"odd","error":"the server could not be started: no such file","token":"Some(\"[redacted]\")"}"#);
        insta::assert_snapshot!(told(Level::Info, Format::Pretty, story).concat(), @r#"2025-01-15T10:30:45.123Z  INFO mcpr_telemetry::layer::tests: server git restarted server=git attempt=2 share=0.5 ready=false nan=NaN level_=odd error="the server could not be started: no such file" token="Some(\"[redacted]\")""#);
    }

    #[test]
    fn log_01_an_event_has_the_fields_of_the_spans_around_it() {
        let lines = told(Level::Debug, Format::Pretty, || {
            let outer = debug_span!(
                "upstream",
                server = "git",
                replica = 1,
                state = tracing::field::Empty
            );
            let _outer = outer.entered();
            let inner = debug_span!("call", replica = 2, tool = "S3CRET1").entered();
            debug!(tool = "status", "called");
            drop(inner);
            _outer.record("state", "ready");
            debug!("done");
        });
        let without_source = lines.iter().map(|line| line.split(" source=").next().unwrap());
        insta::assert_snapshot!(without_source.collect::<Vec<_>>().join("\n"), @r#"
        2025-01-15T10:30:45.123Z DEBUG mcpr_telemetry::layer::tests: called tool=status server=git replica=2
        2025-01-15T10:30:45.123Z DEBUG mcpr_telemetry::layer::tests: done server=git replica=1 state=ready
        "#);
    }

    #[test]
    fn log_05_development_builds_tell_the_source_at_debug() {
        let source = |level| {
            let line = told(level, Format::Json, || warn!("odd")).concat();
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            line["source"].as_str().map(str::to_owned)
        };
        assert_eq!(source(Level::Info), None);
        let source = source(Level::Debug).unwrap();
        assert!(source.contains("layer.rs:"), "{source}");
    }

    #[test]
    fn log_04_a_debug_print_that_logs_disturbs_nothing() {
        struct Chatty;
        impl fmt::Debug for Chatty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                info!("aside");
                f.write_str("chatty")
            }
        }
        let lines = told(Level::Info, Format::Pretty, || info!(who = ?Chatty, "told"));
        assert!(
            lines.iter().any(|line| line.ends_with(": told who=chatty")),
            "{lines:?}"
        );
    }

    fn io_error() -> impl Error {
        #[derive(Debug, thiserror::Error)]
        #[error("the server could not be started")]
        struct StartError(#[source] std::io::Error);
        StartError(std::io::Error::other("no such file"))
    }
}
