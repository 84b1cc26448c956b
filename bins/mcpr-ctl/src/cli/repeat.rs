//! What can be said about looking again.

use std::time::Duration;

use clap::Args;

/// Whether something is shown once, or again and again.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Repeat {
    /// Look again every few seconds, 2 without a number, until Ctrl-C
    #[arg(short, long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", value_parser = interval)]
    watch: Option<Duration>,
}

/// A gateway is not asked more often.
const SHORTEST: Duration = Duration::from_millis(100);

impl Repeat {
    /// How long to wait in between; nothing if once is enough.
    pub(crate) fn every(self) -> Option<Duration> {
        self.watch
    }
}

/// Seconds, or a time with a unit.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    let seconds = || {
        text.parse()
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    };
    let interval = mcpr_config::duration(text).or_else(seconds);
    let interval = interval.ok_or("write it like 2, 0.5 or 500ms")?;
    match interval >= SHORTEST {
        true => Ok(interval),
        false => Err("the shortest is 0.1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_seconds_or_has_a_unit() {
        let millis = |text| interval(text).map(|interval| interval.as_millis());

        assert_eq!(
            ["2", "0.5", "500ms", "1m"].map(|text| millis(text).unwrap()),
            [2000, 500, 500, 60_000]
        );
        assert!(
            ["", "0", "0.05", "-1", "NaN", "inf", "soon"]
                .iter()
                .all(|text| millis(text).is_err())
        );
    }
}
