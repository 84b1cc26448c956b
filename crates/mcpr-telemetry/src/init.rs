//! Sets logging up for a process: the one place that installs a global subscriber.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tracing::Subscriber;

use crate::call::CallLog;
use crate::control::LogControl;
use crate::journal::{Journal, Sink};
use crate::layer;
use crate::level::{Format, Level};
use crate::line::Voice;
use crate::options::Options;
use crate::queue::{CAP, Queue};
use crate::redact::Secrets;
use crate::run_file::{RunFile, RunFileError};
use crate::writer::Writer;

/// A destination that does not take its last lines in this time goes without them.
const FLUSH: Duration = Duration::from_secs(1);

/// The log of this process, for as long as it runs; dropping it flushes.
#[must_use = "dropping it flushes the log; keep it until the process ends"]
pub struct Telemetry {
    control: LogControl,
}

/// Why logging could not be set up.
///
/// A log file that cannot be written is not among the reasons: stderr then does alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// The process has a `tracing` subscriber already; only one can be global.
    #[error("another log subscriber is installed already; call `init` once, before anything else logs")]
    Installed,
    /// The system refused a thread.
    #[error("the log writer could not be started; the process may be at its limit of threads")]
    Thread(#[source] io::Error),
}

/// The parts of the outside world that `init` touches.
struct Outside {
    stderr: Box<dyn Write + Send>,
    terminal: bool,
    no_colour: bool,
    now: SystemTime,
}

/// Installs logging to stderr and to the chosen file; only binaries call this.
///
/// A file that cannot be written costs one warning, and stderr goes on alone. Stdout is never
/// written to.
///
/// # Errors
///
/// [`InitError::Installed`] when it was called before, [`InitError::Thread`] when the system
/// gives no thread.
pub fn init(options: Options) -> Result<Telemetry, InitError> {
    if tracing::dispatcher::has_been_set() {
        return Err(InitError::Installed);
    }
    let (telemetry, subscriber, warning) = set_up(options, Outside::real())?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| InitError::Installed)?;
    tell(warning);
    Ok(telemetry)
}

type SetUp<S> = (Telemetry, S, Option<RunFileError>);

fn set_up(
    options: Options,
    outside: Outside,
) -> Result<SetUp<impl Subscriber + Send + Sync + use<>>, InitError> {
    let format = options.format_on(outside.terminal);
    let voice = Voice {
        format,
        clock: SystemTime::now,
        secrets: options.secrets,
    };
    let colour = format == Format::Pretty && outside.terminal && !outside.no_colour;
    let (run, warning) = match RunFile::open(&options.file, options.keep, outside.now) {
        Ok(run) => (run, None),
        Err(error) => (None, Some(error)),
    };

    let stderr = start(outside.stderr, "stderr", &voice, None)?;
    let mut sinks = vec![Sink::Queue {
        queue: Arc::clone(&stderr),
        colour,
    }];
    let log_path = run.as_ref().map(|run| run.path.clone());
    if let Some(RunFile { file, .. }) = run {
        let queue = start(Box::new(file), "the disk", &voice, Some(stderr))?;
        sinks.push(Sink::Queue { queue, colour: false });
    }

    let journal = Arc::new(Journal::new(voice, options.level, sinks));
    let (subscriber, filter) = layer::subscriber(&journal);
    let control = LogControl::new(journal, filter, log_path);
    Ok((Telemetry { control }, subscriber, warning))
}

/// Says why there is no file, once, and what to do.
fn tell(warning: Option<RunFileError>) {
    if let Some(error) = warning {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(
            error,
            "logs go to stderr alone; make the folder writable or choose another file"
        );
    }
}

fn start(
    out: Box<dyn Write + Send>,
    name: &'static str,
    voice: &Voice,
    other: Option<Arc<Queue>>,
) -> Result<Arc<Queue>, InitError> {
    let queue = Arc::new(Queue::new(CAP));
    let writer = Writer {
        queue: Arc::clone(&queue),
        out,
        voice: voice.clone(),
        name,
        other,
    };
    writer.start().map_err(InitError::Thread)?;
    Ok(queue)
}

impl Telemetry {
    /// The level in force.
    pub fn level(&self) -> Level {
        self.control.level()
    }

    /// Changes the level from the next line on.
    pub fn set_level(&self, level: Level) {
        self.control.set_level(level);
    }

    /// What operators may see and change of it.
    pub fn control(&self) -> LogControl {
        self.control.clone()
    }

    /// Where to record requests.
    pub fn calls(&self) -> CallLog {
        self.control.calls()
    }

    /// What no line may contain; more can be added at any time.
    pub fn secrets(&self) -> &Secrets {
        &self.control.journal().voice().secrets
    }

    /// The log file of this run; `None` when there is only stderr.
    pub fn log_path(&self) -> Option<&Path> {
        self.control.path()
    }

    /// How many lines were shed since the start because a destination was too slow.
    pub fn shed(&self) -> u64 {
        self.control.shed()
    }

    /// Waits until what was logged has been written, a second at most.
    ///
    /// `false` when a destination did not take it in that time.
    pub fn flush(&self) -> bool {
        self.control.journal().flush(Instant::now() + FLUSH)
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.flush();
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry")
            .field("level", &self.level())
            .field("log_path", &self.log_path())
            .finish_non_exhaustive()
    }
}

impl Outside {
    fn real() -> Self {
        Self {
            stderr: stderr(),
            terminal: io::stderr().is_terminal(),
            // See no-color.org: set and not empty.
            no_colour: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
            now: SystemTime::now(),
        }
    }
}

/// Stderr without the lock of the standard library: a writer that stalls must not hold a panic message.
fn stderr() -> Box<dyn Write + Send> {
    #[cfg(unix)]
    if let Ok(own) = std::os::fd::AsFd::as_fd(&io::stderr()).try_clone_to_owned() {
        return Box::new(std::fs::File::from(own));
    }
    Box::new(io::stderr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::FileChoice;
    use parking_lot::Mutex;
    use std::fs;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Runs a story with the given options; tells what came to stderr and to the file.
    fn run(options: Options, terminal: bool, no_colour: bool, story: impl FnOnce(&Telemetry)) -> [String; 2] {
        let screen = Screen::default();
        let stderr = Box::new(screen.clone());
        let outside = Outside {
            stderr,
            terminal,
            no_colour,
            now: crate::clock::fixed(),
        };
        let (telemetry, subscriber, warning) = set_up(options, outside).unwrap();
        tracing::subscriber::with_default(subscriber, || {
            tell(warning);
            story(&telemetry);
        });
        assert!(telemetry.flush());
        let file = telemetry.log_path().map(|path| fs::read_to_string(path).unwrap());
        [
            String::from_utf8(screen.0.lock().clone()).unwrap(),
            file.unwrap_or_default(),
        ]
    }

    fn in_folder(folder: &Path) -> Options {
        Options {
            file: FileChoice::Auto(folder.to_owned()),
            ..Options::default()
        }
    }

    #[test]
    fn log_02_stderr_and_file_hold_the_same_lines() {
        let home = tempfile::tempdir().unwrap();

        let [stderr, file] = run(in_folder(home.path()), false, false, |_| tracing::info!("ready"));

        assert!(stderr.contains("\"message\":\"ready\""));
        assert_eq!(stderr, file);
    }

    #[test]
    fn b55_colour_is_for_terminals_that_want_it_and_never_for_the_file() {
        let home = tempfile::tempdir().unwrap();
        let run = |terminal, no_colour| {
            let stdio = Options {
                stdio_mode: true,
                ..in_folder(home.path())
            };
            run(stdio, terminal, no_colour, |_| tracing::info!("ready")).map(|text| text.contains('\u{1b}'))
        };
        assert_eq!(run(true, false), [true, false]);
        assert_eq!(run(true, true), [false, false]);
        assert_eq!(run(false, false), [false, false]);
    }

    #[test]
    fn log_02_without_a_file_stderr_goes_on_alone_with_one_warning() {
        let home = tempfile::tempdir().unwrap();
        let taken = home.path().join("logs");
        fs::write(&taken, "a file, not a folder").unwrap();

        let [stderr, file] = run(in_folder(&taken), true, true, |telemetry| {
            assert_eq!(telemetry.log_path(), None);
            tracing::info!("ready");
        });

        let stderr: Vec<_> = stderr.lines().map(|line| &line[25..]).collect();
        let advice = "logs go to stderr alone; make the folder writable or choose another file";
        assert!(
            stderr[0].starts_with(&format!(" WARN mcpr_telemetry::init: {advice} error=")),
            "{stderr:?}"
        );
        assert!(stderr[0].contains(&*taken.to_string_lossy()));
        assert_eq!(
            (stderr[1], file.as_str()),
            (" INFO mcpr_telemetry::init::tests: ready", "")
        );
    }

    #[test]
    fn log_01_a_new_level_holds_for_events_and_calls() {
        let [stderr, _] = run(Options::default(), false, false, |telemetry| {
            telemetry.set_level(Level::Warn);
            tracing::info!("hidden");
            telemetry.set_level(Level::Debug);
            tracing::debug!("shown");
            assert_eq!(telemetry.level(), Level::Debug);
        });
        assert_eq!(stderr.lines().count(), 1);
        assert!(stderr.contains("shown"));
    }

    #[test]
    fn b26_a_secret_that_becomes_known_later_is_kept_out() {
        let home = tempfile::tempdir().unwrap();
        let [stderr, file] = run(in_folder(home.path()), false, false, |telemetry| {
            telemetry.secrets().add("Bearer S3CRET1");
            tracing::error!(error = "S3CRET1 was refused", "cannot connect");
        });
        assert!(!(stderr + &file).contains("S3CRET1"));
    }
}
