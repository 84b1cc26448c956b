//! What a gateway tells of itself and of its calls (LOG-01 to LOG-07): log, history, metrics and spans.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

#[cfg(feature = "otel")]
mod collector;
mod crash;
mod kept_out;
mod levels;
mod payloads;
mod sinks;
#[cfg(feature = "otel")]
mod spans;
mod story;
mod timings;
