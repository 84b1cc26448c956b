//! What people see of a call that is under way.

use mcpr_admin::Notice;
use mcpr_protocol::{RawJson, notification};
use serde::Deserialize;
use tokio::time::{Duration, Instant};

use crate::out::Out;
use crate::out::text::one_line;

/// From when on it is shown that a call takes its time.
const SLOW: Duration = Duration::from_secs(1);

/// What people see of a call that is under way: on a terminal one line that is redrawn with its
/// progress, and each log message on a line of its own. The line is gone when this is.
pub(super) struct Talk<'a> {
    name: &'a str,
    out: &'a Out,
    began: Instant,
    progress: Option<Progress>,
    drawn: bool,
}

/// The parameters of `notifications/progress`.
#[derive(Debug, Deserialize)]
struct Progress {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// The parameters of `notifications/message`.
#[derive(Debug, Deserialize)]
struct Log {
    level: String,
    logger: Option<String>,
    data: RawJson,
}

impl<'a> Talk<'a> {
    /// Nothing is said yet.
    pub(super) fn about(name: &'a str, out: &'a Out) -> Self {
        Self {
            name,
            out,
            began: Instant::now(),
            progress: None,
            drawn: false,
        }
    }

    /// Passes a notification on; one that cannot be read, or is of another kind, is left out.
    pub(super) fn hear(&mut self, notice: &Notice) {
        let Some(params) = &notice.params else { return };
        match &*notice.method {
            notification::PROGRESS => self.progress = params.read().ok().or(self.progress.take()),
            notification::MESSAGE => {
                if let Ok(log) = params.read::<Log>() {
                    self.clear();
                    self.out.note(&log.line());
                }
            }
            _ => return,
        }
        self.draw();
    }

    /// Shows how far it is, if there is anything to show.
    pub(super) fn draw(&mut self) {
        let waited = self.began.elapsed();
        if self.progress.is_some() || waited >= SLOW {
            self.out.redraw(&line(self.name, self.progress.as_ref(), waited));
            self.drawn = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.out.clear();
        }
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Name, amount, time and text: what does not fit into the line is cut off the text.
fn line(name: &str, progress: Option<&Progress>, waited: Duration) -> String {
    let time = (waited >= SLOW).then(|| format!("{}s", waited.as_secs()));
    let message = progress.and_then(|progress| progress.message.as_deref());
    let pieces = [
        Some(one_line(name)),
        progress.and_then(Progress::amount),
        time,
        message.map(one_line),
    ];
    let pieces: Vec<_> = pieces.into_iter().flatten().collect();
    pieces.join(" ").trim_end().to_owned()
}

impl Progress {
    /// How far it is, of the whole if that is known; next to nothing is not shown.
    fn amount(&self) -> Option<String> {
        match self.total.filter(|total| *total > 0.0) {
            Some(total) => Some(format!(
                "{:.0} %",
                (self.progress / total * 100.0).clamp(0.0, 100.0).floor()
            )),
            None if self.progress.abs() < 0.05 => None,
            None if self.progress.fract() == 0.0 => Some(format!("{:.0}", self.progress)),
            None => Some(format!("{:.1}", self.progress)),
        }
    }
}

impl Log {
    fn line(&self) -> String {
        let text = self.data.read::<String>();
        let text = text.unwrap_or_else(|_| self.data.as_str().to_owned());
        let logger = self
            .logger
            .as_ref()
            .map(|logger| format!(" {}", one_line(logger)));
        format!(
            "{}{}: {}",
            one_line(&self.level),
            logger.unwrap_or_default(),
            one_line(&text)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(params: &'static str, seconds: u64) -> String {
        let progress: Progress = RawJson::from_static(params).read().unwrap();
        line("git_clone", Some(&progress), Duration::from_secs(seconds))
    }

    #[test]
    fn ctl_01_the_line_of_a_call_shows_how_far_it_is() {
        for (params, seconds, line) in [
            (
                r#"{"progress":21,"total":50,"message":"cloning…"}"#,
                0,
                "git_clone 42 % cloning…",
            ),
            (
                r#"{"progress":0.999,"total":1,"message":""}"#,
                3,
                "git_clone 99 % 3s",
            ),
            (
                r#"{"progress":7,"total":0,"message":"a\u001b[31mb\nc"}"#,
                61,
                "git_clone 7 61s a[31mb c",
            ),
            (r#"{"progress":9,"total":3}"#, 0, "git_clone 100 %"),
            (r#"{"progress":1.25}"#, 0, "git_clone 1.2"),
            (
                r#"{"progress":0.000001,"message":"waiting for git, 30 s"}"#,
                30,
                "git_clone 30s waiting for git, 30 s",
            ),
        ] {
            assert_eq!(drawn(params, seconds), line);
        }
        assert_eq!(line("git_clone", None, SLOW), "git_clone 1s");
    }

    #[test]
    fn ctl_01_a_log_message_is_one_harmless_line() {
        for (params, line) in [
            (
                r#"{"level":"warning","logger":"disk","data":"almost\u001b[2J full\n"}"#,
                "warning disk: almost[2J full",
            ),
            (r#"{"level":"info","data":{"n":1E400}}"#, r#"info: {"n":1E400}"#),
        ] {
            let log: Log = RawJson::from_static(params).read().unwrap();
            assert_eq!(log.line(), line);
        }
    }
}
