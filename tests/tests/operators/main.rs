//! What operators follow while everything runs: what happens, and what comes of a call.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod backup;
mod calls;
mod common;
mod daily;
mod doors;
mod ending;
mod events;
mod guarded;
mod leaving;
mod lost;
mod metrics;
mod restarts;
mod secrets;
mod secured;
