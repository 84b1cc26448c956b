//! Keeps servers alive, introduced and listed.

mod spec;

pub use spec::{Backoff, HttpSpec, ProtocolChoice, Queue, Reach, SecretText, SseChoice, StdioSpec, Timeouts, UpstreamSpec};
