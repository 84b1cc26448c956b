//! What the gateways of this process log.

use std::sync::OnceLock;

use mcpr_telemetry::{Capture, Format, Level};

/// The lines that were logged since the first call; call it before the gateway starts.
///
/// All tests of a process share them, so look for names that only one test uses.
///
/// # Panics
///
/// When something else takes the log of the process.
pub fn logged() -> Vec<String> {
    static LOG: OnceLock<Capture> = OnceLock::new();
    let capture = LOG.get_or_init(|| {
        let capture = Capture::new(Level::Debug, Format::Pretty);
        tracing::dispatcher::set_global_default(capture.dispatch()).expect("nobody else takes the log");
        capture
    });
    capture.lines()
}
