//! The log of this process.

use std::sync::Arc;

use mcpr_config::{Finding, LogFile, Severity};
use mcpr_telemetry::{FileChoice, Options, Telemetry, Tracer, fatal, init};
use tracing::{error, info, warn};

use crate::problem::Problem;
use crate::settings::Settings;

/// Begins the log, and tells what the configuration gave reason to.
pub(crate) fn start(settings: &Settings, stdio_mode: bool) -> Result<Arc<Telemetry>, Problem> {
    let wanted = &settings.config.gateway.log;
    let telemetry = begin(Options {
        level: wanted.level,
        format: wanted.format,
        file: match &wanted.file {
            LogFile::Auto => FileChoice::Auto(settings.paths.logs.clone()),
            LogFile::Off => FileChoice::None,
            LogFile::At(path) => FileChoice::Path(path.clone()),
        },
        keep: wanted.keep,
        stdio_mode,
        ..Options::default()
    })?;
    settings.config.warnings.iter().for_each(tell);
    Ok(telemetry)
}

/// Begins the log with these choices.
pub(crate) fn begin(options: Options) -> Result<Arc<Telemetry>, Problem> {
    let telemetry = Arc::new(init(options)?);
    report_panics(&telemetry);
    Ok(telemetry)
}

/// Who is told of spans, as the variables of OpenTelemetry say; what they say wrong is no reason not to run.
#[cfg(feature = "otel")]
pub(crate) fn tracer() -> Tracer {
    Tracer::from_env().unwrap_or_else(|error| {
        warn!(error = &error as &dyn std::error::Error, "no spans are told");
        Tracer::off()
    })
}

/// Nobody is told of spans by this build; whoever expects them hears of it.
#[cfg(not(feature = "otel"))]
pub(crate) fn tracer() -> Tracer {
    if let Some(variable) = collector(|name| std::env::var_os(name)) {
        warn!("{variable} is set, but this build tells no spans: it lacks the feature `otel`");
    }
    Tracer::off()
}

/// The variable that names a collector of spans.
#[cfg(not(feature = "otel"))]
fn collector(look: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<&'static str> {
    let variables = [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ];
    let names_one = |variable: &&str| look(variable).is_some_and(|value| !value.is_empty());
    variables.into_iter().find(names_one)
}

fn tell(finding: &Finding) {
    let (reason, server) = (&finding.fault, finding.server.as_deref());
    match finding.severity {
        Severity::Note => info!(server, %reason, "configuration"),
        Severity::Warning => warn!(server, %reason, "configuration"),
        Severity::Error => error!(server, %reason, "configuration"),
    }
}

/// Panics become log lines, which are written before anything else can happen.
fn report_panics(telemetry: &Arc<Telemetry>) {
    let telemetry = Arc::downgrade(telemetry);
    std::panic::set_hook(Box::new(move |panic| {
        fatal!(error = %panic, "a fault in mcpr; please report it");
        if let Some(telemetry) = telemetry.upgrade() {
            telemetry.flush();
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "otel"))]
    #[test]
    fn log_07_a_build_without_spans_hears_of_either_collector() {
        for named in [
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        ] {
            let look = |value: &'static str| move |name: &str| (name == named).then(|| value.into());
            assert_eq!(collector(look("http://127.0.0.1:4318")), Some(named));
            assert_eq!(collector(look("")), None);
        }
    }

    #[test]
    fn log_04_a_panic_is_logged_without_the_secrets_it_quotes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let options = Options {
            file: FileChoice::Path(file.clone()),
            ..Options::default()
        };
        let telemetry = begin(options).unwrap();
        telemetry.secrets().add("s3cret-value");

        let fault = std::thread::spawn(|| panic!("no use for s3cret-value and Bearer t0ken-value")).join();

        let log = std::fs::read_to_string(file).unwrap();
        assert!(fault.is_err() && log.contains("a fault in mcpr"), "{log}");
        assert!(
            log.contains("[redacted]") && !log.contains("s3cret") && !log.contains("t0ken"),
            "{log}"
        );
    }
}
