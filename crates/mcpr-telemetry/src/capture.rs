//! A log that is read back, for tests.

use std::sync::Arc;

use parking_lot::Mutex;
use tracing::Dispatch;

use crate::call::CallLog;
use crate::clock::Clock;
use crate::journal::{Journal, Sink};
use crate::layer;
use crate::level::{Format, Level};
use crate::line::Voice;
use crate::redact::Secrets;

/// A log in memory: what it holds is what the files of a real one would.
///
/// ```
/// use mcpr_telemetry::{Capture, Format, Level};
///
/// let capture = Capture::new(Level::Info, Format::Pretty);
/// capture.secrets().add("hunter22");
/// tracing::dispatcher::with_default(&capture.dispatch(), || {
///     tracing::info!(target: "mcpr_docs", "the password is hunter22");
/// });
/// assert!(capture.lines()[0].ends_with("the password is [redacted]"));
/// ```
#[derive(Clone)]
pub struct Capture {
    journal: Arc<Journal>,
    text: Arc<Mutex<String>>,
}

impl Capture {
    /// An empty log.
    pub fn new(level: Level, format: Format) -> Self {
        Self::at(level, format, std::time::SystemTime::now)
    }

    /// An empty log whose clock stands still.
    #[cfg(test)]
    pub(crate) fn standing_still(level: Level, format: Format) -> Self {
        Self::at(level, format, crate::clock::fixed)
    }

    fn at(level: Level, format: Format, clock: Clock) -> Self {
        let text = Arc::<Mutex<String>>::default();
        let voice = Voice {
            format,
            clock,
            secrets: Secrets::default(),
        };
        let journal = Journal::new(voice, level, vec![Sink::Memory(Arc::clone(&text))]);
        Self {
            journal: Arc::new(journal),
            text,
        }
    }

    /// What is captured, for a subscriber with a handle.
    #[cfg(test)]
    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// The log of calls that is captured.
    pub fn calls(&self) -> CallLog {
        CallLog::of(Arc::clone(&self.journal))
    }

    /// A subscriber for [`tracing::dispatcher::with_default`].
    pub fn dispatch(&self) -> Dispatch {
        Dispatch::new(layer::subscriber(&self.journal).0)
    }

    /// What must not be told.
    pub fn secrets(&self) -> &Secrets {
        &self.journal.voice().secrets
    }

    /// The lines so far, without line ends.
    pub fn lines(&self) -> Vec<String> {
        self.text.lock().lines().map(str::to_owned).collect()
    }
}
