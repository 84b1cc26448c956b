//! How the process tells what it does: log set-up, one file per run, call records, redaction.
//!
//! Two roads lead to the log. Ordinary `tracing` events pass through a subscriber that only the
//! binaries install ([`init`]). The one record per MCP request is written by a [`CallLog`], which
//! leaves the `tracing` machinery out because it runs for every request.
//!
//! Both roads end in the same place: a line is formatted in a buffer of the calling thread,
//! scrubbed of [`redact::Secrets`], and appended to a bounded queue per destination. A thread per
//! destination does the writing, so that neither a slow disk nor an unread stderr can hold a call
//! or the other destination. Lines that find the queue full are shed, counted and reported.
//!
//! Invariants: **nothing here writes to stdout** and **no value reaches a line unscrubbed**.

mod call;
mod capture;
mod clock;
mod control;
mod escape;
pub mod field;
mod init;
mod journal;
mod layer;
mod level;
mod line;
mod memory;
mod metrics;
mod options;
mod queue;
pub mod redact;
mod run_file;
mod spans;
mod timed;
mod writer;

pub use call::{CallLog, CallRecord, HttpFacts, Payload, Status, Steps};
pub use capture::Capture;
pub use clock::rfc3339;
pub use control::LogControl;
pub use escape::{commands, printable};
pub use init::{InitError, Telemetry, init};
pub use level::{FATAL_TARGET, Format, Level, UnknownFormat, UnknownLevel};
pub use memory::Memory;
pub use metrics::{Gauge, Metrics, Reading};
pub use options::{FileChoice, Options};
pub use redact::Secrets;
pub use run_file::last_run;
#[cfg(feature = "otel")]
pub use spans::OtlpError;
pub use spans::{Hop, Parent, Span, Trace, Tracer};
pub use timed::Timed;

#[doc(hidden)]
pub use tracing as __tracing;
