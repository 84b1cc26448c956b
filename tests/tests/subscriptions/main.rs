//! Resources that clients subscribe to: who hears of a change, and in which form, for every
//! pairing of a client with a server (AGG-11, B106).

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod counting;
mod ear;
mod gaps;
mod listens;
mod lives;
mod recipients;
mod refusals;
mod stands;
mod strangers;
#[path = "../front/wire.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod wire;

/// The resource that is touched last in a test: what must not be heard would have come before it.
const LAST: &str = "memo:///last";
