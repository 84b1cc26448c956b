//! How long parts of the work take, for those who look for where the time goes.

use std::time::Instant;

/// Tells at level debug how long something took, from its making to its end.
///
/// Above that level it costs one comparison.
///
/// ```
/// # fn read() {}
/// let _timed = mcpr_telemetry::Timed::of("reading the configuration");
/// read();
/// ```
#[derive(Debug)]
#[must_use = "it tells the time until it is dropped"]
pub struct Timed {
    what: &'static str,
    began: Option<Instant>,
}

impl Timed {
    /// Begins to take the time.
    pub fn of(what: &'static str) -> Self {
        let wanted = tracing::enabled!(tracing::Level::DEBUG);
        Self {
            what,
            began: wanted.then(Instant::now),
        }
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        if let Some(began) = self.began {
            let millis = began.elapsed().as_secs_f64() * 1000.0;
            tracing::debug!(
                elapsed = (millis * 1000.0).round() / 1000.0,
                "{} is done",
                self.what
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Capture;
    use crate::level::{Format, Level};

    #[test]
    fn log_05_functions_tell_their_time_at_debug_and_not_above() {
        let told = [Level::Debug, Level::Info].map(|level| {
            let capture = Capture::new(level, Format::Json);
            tracing::dispatcher::with_default(&capture.dispatch(), || drop(Timed::of("waiting")));
            capture.lines()
        });

        let line: serde_json::Value = serde_json::from_str(&told[0][0]).unwrap();
        assert_eq!(line["message"], "waiting is done");
        assert!(
            line["elapsed"].as_f64().is_some_and(|millis| millis < 1000.0),
            "{line}"
        );
        assert!(told[1].is_empty());
    }
}
